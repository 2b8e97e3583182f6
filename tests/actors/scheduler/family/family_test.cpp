// Children at the Scheduler: what they are made of, what is decided with them in one commit, and why one does not begin.

#include "store/rows/counters.hpp"
#include "tests/actors/scheduler/family/family_world.hpp"

namespace fairlead::testing {
namespace {

using family_test = family_fixture;

TEST_F(family_test, a_child_begins_in_the_commit_of_its_parents_step) {
  submit(submission("t1"));
  node->shell.outcomes(from("n1/svc", {success(perform_of("t1", "pay"))}));
  node->shell.flush();
  ASSERT_EQ(node->waiting.size(), 1u) << "one batch";
  ASSERT_EQ(state_of("t1/ship~1"), "no task");
  ASSERT_TRUE(node->commit_one());
  EXPECT_EQ(step_of("t1", "ship"), "RUNNING");
  EXPECT_EQ(state_of("t1/ship~1"), "RUNNING");
  EXPECT_EQ(handed("t1/ship~1", "pack"), 1u);
  node->settle();
  const auto parent = *stored("t1"), task = *stored("t1/ship~1");
  EXPECT_EQ(parent.steps(1).child().id(), "t1/ship~1");
  EXPECT_EQ(parent.steps(1).attempt(), 1u);
  EXPECT_EQ(task.workflow(), "shipment");
  EXPECT_EQ(task.parent().id(), "t1");
  EXPECT_EQ(task.parent().number(), parent.number());
  EXPECT_EQ(task.parent().step(), 1u);
  EXPECT_EQ(task.parent().depth(), 1u);
  EXPECT_EQ(task.input().json(), R"({"n":1})") << "without `with` the whole input";
  EXPECT_FALSE(task.has_reply());
}

TEST_F(family_test, a_first_step_with_a_workflow_begins_with_its_task) {
  deploy(undone(workflow_of({child("ship", "shipment")}, "short")));
  offer({submission("t1", "{}", "short")});
  node->shell.flush();
  ASSERT_EQ(node->waiting.size(), 1u);
  ASSERT_TRUE(node->commit_one());
  EXPECT_EQ(state_of("t1/ship~1"), "RUNNING");
}

TEST_F(family_test, the_end_of_a_child_is_its_parents_in_the_same_commit) {
  deploy(undone(workflow_of({child("ship", "middle")}, "outer")));
  auto middle = undone(workflow_of({child("ship", "shipment")}, "middle"));
  middle.set_output_json(R"("${ .steps.ship }")");
  deploy(middle);
  auto shipment = undone(workflow_of({undoable("pack")}, "shipment"));
  shipment.set_output_json(R"({"parcel":"${ .steps.pack.id }"})");
  deploy(shipment);
  submit(submission("t1", "{}", "outer"));
  node->shell.outcomes(from("n1/svc", {success(perform_of("t1/ship~1/ship~1", "pack"), R"({"id":"P1"})")}));
  node->shell.flush();
  ASSERT_EQ(node->waiting.size(), 1u) << "three levels end in one batch";
  ASSERT_TRUE(node->commit_one());
  for (const auto* id : {"t1/ship~1/ship~1", "t1/ship~1", "t1"}) EXPECT_EQ(state_of(id), "COMPLETED") << id;
  EXPECT_EQ(stored("t1")->steps(0).output().json(), R"({"parcel":"P1"})");
  EXPECT_EQ(stored("t1/ship~1/ship~1")->parent().depth(), 2u);
}

TEST_F(family_test, a_large_output_reaches_the_parent) {
  auto shipment = undone(workflow_of({undoable("pack")}, "shipment"));
  shipment.set_output_json(R"("${ .steps.pack }")");
  deploy(shipment);
  shipping();
  const auto large = "\"" + std::string(300'000, 'x') + "\"";
  done("t1/ship~1", "pack", large);
  const auto task = *stored("t1");
  ASSERT_EQ(task.steps(1).state(), v1::STEP_STATE_COMPLETED);
  EXPECT_EQ(task.steps(1).output().size(), large.size());
  EXPECT_NE(task.steps(1).output().slot(), 0u);
}

TEST_F(family_test, a_child_inherits_priority_labels_and_who_submitted) {
  auto item = submission("t1");
  item.set_priority(7);
  auto& label = *item.add_labels();
  label.set_key("shop");
  label.set_value("north");
  item.set_submitted_by("till");
  submit(item);
  done("t1", "pay");
  const auto task = *stored("t1/ship~1");
  EXPECT_EQ(task.priority(), 7);
  ASSERT_EQ(task.labels_size(), 1);
  EXPECT_EQ(task.labels(0).value(), "north");
  EXPECT_EQ(task.submitted_by(), stored("t1")->submitted_by());
}

TEST_F(family_test, its_version_is_the_one_that_is_current_when_the_step_begins) {
  submit(submission("t1"));
  deploy(undone(workflow_of({undoable("wrap")}, "shipment")));
  done("t1", "pay");
  EXPECT_EQ(handed("t1/ship~1", "wrap"), 1u);
  deploy(undone(workflow_of({undoable("fold")}, "shipment")));
  done("t1/ship~1", "wrap");
  EXPECT_EQ(state_of("t1/ship~1"), "COMPLETED") << "pinned";
}

TEST_F(family_test, the_timeout_of_the_step_is_the_deadline_of_the_child) {
  auto slow = undoable("pack");
  slow.set_timeout_ms(600'000);
  deploy(undone(workflow_of({slow}, "shipment")));
  auto timed = child("ship", "shipment");
  timed.set_timeout_ms(60'000);
  deploy(undone(workflow_of({timed}, "short")));
  submit(submission("t1", "{}", "short"));
  EXPECT_EQ(stored("t1/ship~1")->deadline_unix_ms(), time.now_ms + 60'000);
  time.now_ms += 60'000;
  due("t1/ship~1");
  EXPECT_EQ(state_of("t1/ship~1"), "UNDOING");
  failed("t1/ship~1", "pack");
  EXPECT_EQ(state_of("t1/ship~1"), "UNDONE");
  EXPECT_EQ(step_of("t1", "ship"), "FAILED child_undone");
  EXPECT_EQ(state_of("t1"), "UNDONE");
}

TEST_F(family_test, children_do_not_wait_for_room) {
  scheduler_limits limits;
  limits.running_tasks = 1;
  restart(limits);
  sweep();
  add_agent(agent("n1/svc"));
  submit(submission("t1"));
  submit(submission("t2"));
  EXPECT_EQ(state_of("t2"), "PENDING");
  done("t1", "pay");
  EXPECT_EQ(state_of("t1/ship~1"), "RUNNING");
  EXPECT_EQ(state_of("t2"), "PENDING");
  done("t1/ship~1", "pack");
  done("t1", "tell");
  EXPECT_EQ(state_of("t1"), "COMPLETED");
  EXPECT_EQ(state_of("t2"), "RUNNING");
  EXPECT_EQ(status().counts().running(), 1u);
}

TEST_F(family_test, without_a_workflow_of_the_name_the_step_fails) {
  deploy(undone(workflow_of({undoable("pay"), child("ship", "nowhere", {"pay"})}, "lost")));
  submit(submission("t1", "{}", "lost"));
  done("t1", "pay");
  EXPECT_EQ(step_of("t1", "ship"), "FAILED no_workflow");
  EXPECT_NE(message_of("t1", "ship").find("nowhere"), std::string::npos) << message_of("t1", "ship");
  EXPECT_EQ(state_of("t1"), "UNDOING");
  EXPECT_FALSE(stored_task("t1/ship~1").has_value());
  done("t1", "pay");
  EXPECT_EQ(state_of("t1"), "UNDONE");
}

TEST_F(family_test, once_the_workflow_is_there_a_retry_begins_the_child) {
  auto patient = child("ship", "nowhere");
  patient.set_on_failure(v1::ON_FAILURE_PARK);
  deploy(workflow_of({patient}, "lost"));
  submit(submission("t1", "{}", "lost"));
  EXPECT_EQ(state_of("t1"), "RUNNING PARKED");
  deploy(undone(workflow_of({undoable("pack")}, "nowhere")));
  expect_done(operate(v1::OPERATOR_VERB_RETRY, "t1", "ship"));
  EXPECT_EQ(state_of("t1/ship~1"), "RUNNING");
  done("t1/ship~1", "pack");
  EXPECT_EQ(state_of("t1"), "COMPLETED");
}

TEST_F(family_test, an_input_that_does_not_fit_fails_the_step) {
  auto checked = undone(workflow_of({undoable("pack")}, "shipment"));
  checked.set_input_schema_json(R"({"type":"object","required":["to"]})");
  deploy(checked);
  submit(submission("t1"));
  done("t1", "pay");
  EXPECT_EQ(step_of("t1", "ship"), "FAILED input");
  EXPECT_NE(message_of("t1", "ship").find("/to: is missing"), std::string::npos) << message_of("t1", "ship");
  EXPECT_FALSE(stored_task("t1/ship~1").has_value());
}

TEST_F(family_test, a_workflow_that_begins_itself_ends_at_the_eighth_level) {
  deploy(undone(workflow_of({child("again", "round")}, "round")));
  submit(submission("t1", "{}", "round"));
  std::string id = "t1";
  for (int level = 1; level <= 8; ++level) {
    id += "/again~1";
    ASSERT_TRUE(stored_task(id).has_value()) << "level " << level;
    EXPECT_EQ(stored(id)->parent().depth(), static_cast<std::uint32_t>(level));
  }
  EXPECT_EQ(step_of(id, "again"), "FAILED too_deep");
  EXPECT_FALSE(stored_task(id + "/again~1").has_value());
  EXPECT_EQ(state_of(id), "UNDONE");
  EXPECT_EQ(state_of("t1"), "UNDONE") << "the failure goes up through all of them";
  EXPECT_EQ(step_of("t1", "again"), "FAILED child_undone");
}

TEST_F(family_test, an_id_of_480_bytes_is_the_longest) {
  const auto deep = [&](std::size_t bytes) {
    // The name of a step has at most 64 bytes; an id that people choose has at most 200.
    const std::string at = "/" + std::string(60, 's') + "~1";
    auto id = std::string(bytes - at.size() * 5, 'i');
    const auto name = std::string(60, 's');
    deploy(undone(workflow_of({child(name, "deep")}, "deep")));
    EXPECT_TRUE(submit(submission(id, "{}", "deep")).created()) << id.size();
    for (int i = 0; i < 5; ++i) id += at;
    return id;
  };
  const auto fits = deep(480);
  ASSERT_EQ(fits.size(), 480u);
  ASSERT_TRUE(stored_task(fits).has_value());
  EXPECT_EQ(step_of(fits, std::string(60, 's')), "FAILED too_deep") << "the one below it would be longer";
  const auto too_long = deep(481);
  EXPECT_FALSE(stored_task(too_long).has_value());
}

TEST_F(family_test, people_cannot_choose_the_id_of_a_child) {
  EXPECT_EQ(submit(submission("t1/ship~1", "{}", "shipment")).error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
}

TEST_F(family_test, a_restart_takes_up_parents_and_children) {
  shipping();
  restart();
  sweep();
  add_agent(agent("n1/svc"));
  done("t1/ship~1", "pack");
  EXPECT_EQ(state_of("t1/ship~1"), "COMPLETED");
  EXPECT_EQ(step_of("t1", "ship"), "COMPLETED");
  restart();
  sweep();
  add_agent(agent("n1/svc"));
  done("t1", "tell");
  EXPECT_EQ(state_of("t1"), "COMPLETED");
  EXPECT_EQ(handed("t1/ship~1", "pack", v1::DIRECTION_UNDO), 0u);
}

TEST_F(family_test, a_crash_before_the_commit_leaves_neither) {
  submit(submission("t1"));
  const auto pay = perform_of("t1", "pay");
  node->shell.outcomes(from("n1/svc", {success(pay)}));
  node->shell.flush();
  ASSERT_EQ(node->waiting.size(), 1u);
  restart();  // what waited is lost
  sweep();
  add_agent(agent("n1/svc"));
  EXPECT_FALSE(stored_task("t1/ship~1").has_value());
  EXPECT_EQ(step_of("t1", "ship"), "PENDING");
  answer(success(pay));
  EXPECT_EQ(state_of("t1/ship~1"), "RUNNING");
}

TEST_F(family_test, many_children_begin_in_several_decisions) {
  std::vector<v1::StepDefinition> all;
  for (int i = 0; i < 100; ++i) all.push_back(child("c" + std::to_string(i), "shipment"));
  deploy(undone(workflow_of(all, "wide")));
  submit(submission("t1", "{}", "wide"));
  for (int round = 0; round < 10 && !stored_task("t1/c99~1"); ++round) {
    time.now_ms += 1'000;
    due("t1");
  }
  finish_everything();
  EXPECT_EQ(state_of("t1"), "COMPLETED");
}

TEST_F(family_test, a_child_of_a_restored_parent_may_have_begun_before) {
  submit(submission("t1"));
  const auto pay = perform_of("t1", "pay");
  // The parent as the restore writes it.
  node.reset();
  const auto before = store::index_state_of(*stored_task("t1"));
  auto record = *stored_task("t1");
  record.set_restored_from_unix_ms(start_ms - 5'000);
  store::batch rows;
  store::put_task(rows, before, record);
  const auto progress = store.read()->get_progress();
  rows.sequence = progress.sequence + 1;
  rows.epoch = progress.epoch;
  auto counters = progress.shard;
  store::seal_counters(rows, counters);
  ASSERT_TRUE(store.commit({rows}).ok());
  store.sync();
  restart();
  sweep();
  add_agent(agent("n1/svc"));
  answer(success(pay));
  const auto task = *stored("t1/ship~1");
  EXPECT_EQ(task.restored_from_unix_ms(), start_ms - 5'000);
  ASSERT_EQ(handed("t1/ship~1", "pack"), 1u);
  EXPECT_TRUE(task.steps(0).doubtful()) << "it may have been performed in the lost time";
  // Its failure leaves doubt, so its undo is called.
  failed("t1/ship~1", "pack");
  EXPECT_EQ(handed("t1/ship~1", "pack", v1::DIRECTION_UNDO), 1u);
}

TEST_F(family_test, a_child_that_was_not_begun_because_its_parent_was_to_fail_begins_when_that_is_taken_back) {
  auto race = workflow_of({kept("c"), child("a", "nowhere"), child("b", "shipment")}, "lost");
  race.set_on_failure(v1::ON_FAILURE_FAIL);
  deploy(race);
  submit(submission("t1", "{}", "lost"));
  ASSERT_TRUE(stored_task("t1")->failing()) << "c is out";
  EXPECT_FALSE(stored_task("t1/b~1").has_value());
  deploy(undone(workflow_of({undoable("pack")}, "nowhere")));
  expect_done(operate(v1::OPERATOR_VERB_RETRY, "t1"));
  EXPECT_FALSE(stored_task("t1")->failing());
  EXPECT_EQ(state_of("t1/a~1"), "RUNNING");
  EXPECT_EQ(state_of("t1/b~1"), "RUNNING");
}

}  // namespace
}  // namespace fairlead::testing
