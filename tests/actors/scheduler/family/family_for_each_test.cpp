// Items of a list at the Scheduler: what their tasks are made of, in which order they begin, and what the step with the list makes of them.

#include "tests/actors/scheduler/family/family_world.hpp"

namespace fairlead::testing {
namespace {

class family_for_each_test : public family_fixture {
 protected:
  family_for_each_test() {
    deploy(undone(workflow_of({kept("load"), notify(2), told()}, "mailing")));
    auto shipment = undone(workflow_of({undoable("pack")}, "shipment"));
    shipment.set_output_json(R"("${ .steps.pack }")");
    deploy(shipment);
  }

  static v1::StepDefinition each(v1::StepDefinition of, std::uint32_t at_once, bool collects = false) {
    auto& list = *of.mutable_for_each();
    list.set_list_json(R"("${ .steps.load }")");
    list.set_at_once(at_once);
    list.set_collect(collects);
    return of;
  }
  static v1::StepDefinition notify(std::uint32_t at_once, bool collects = false) {
    auto out = each(undoable("notify", {"load"}), at_once, collects);
    out.set_with_json(R"({"to":"${ .item.to }","n":"${ .index }","first":"${ .steps.load[0].to }"})");
    out.mutable_undo()->set_with_json(R"({"to":"${ .item.to }","id":"${ .steps.notify.id }","shop":"${ .input.n }"})");
    return out;
  }
  static v1::StepDefinition told() {
    auto out = kept("tell", {"notify"});
    out.set_with_json(R"("${ .steps.notify }")");
    return out;
  }

  /// `mailing` up to its list, which has so many items.
  void load(std::size_t items, const std::string& workflow = "mailing", const std::string& id = "t1") {
    ASSERT_TRUE(submit(submission(id, R"({"n":1})", workflow)).created());
    std::string list = "[";
    for (std::size_t i = 1; i <= items; ++i) list += (i == 1 ? "" : ",") + std::string{R"({"to":"c)"} + std::to_string(i) + R"("})";
    done(id, "load", list + "]");
  }
  static std::string item(std::size_t number, int round = 1, const std::string& step = "notify") {
    return "t1/" + step + "~" + std::to_string(round) + "." + std::to_string(number);
  }
  /// The worker's answer to the oldest request.
  void evaluated(const std::string& result) {
    v1::EvaluateReply reply;
    reply.set_ticket(out.asked.front().ticket());
    reply.add_results(result);
    out.asked.pop_front();
    out.at_worker.erase(reply.ticket());
    node->shell.evaluated(reply);
    node->settle();
  }
  std::string given(const std::string& id, const std::string& step) const { return perform_of(id, step).input(); }
  std::string output_of(const std::string& step) {
    const auto task = *stored("t1");
    for (const auto& one : task.steps())
      if (one.path() == step) return one.output().json();
    return "no step";
  }
};

TEST_F(family_for_each_test, the_first_items_begin_in_the_commit_of_their_step) {
  submit(submission("t1", R"({"n":1})", "mailing"));
  node->shell.outcomes(from("n1/svc", {success(perform_of("t1", "load"), R"([{"to":"a"},{"to":"b"},{"to":"c"}])")}));
  node->shell.flush();
  ASSERT_EQ(node->waiting.size(), 1u) << "one batch";
  ASSERT_TRUE(node->commit_one());
  EXPECT_EQ(state_of(item(1)), "RUNNING");
  EXPECT_EQ(state_of(item(2)), "RUNNING");
  EXPECT_EQ(state_of(item(3)), "no task") << "two at once";
  node->settle();
  EXPECT_EQ(given(item(1), "notify"), R"({"to":"a","n":0,"first":"a"})");
  EXPECT_EQ(given(item(2), "notify"), R"({"to":"b","n":1,"first":"a"})");
  const auto task = *stored(item(2));
  EXPECT_EQ(task.workflow(), "mailing");
  EXPECT_EQ(task.workflow_hash(), stored("t1")->workflow_hash());
  EXPECT_EQ(task.parent().id(), "t1");
  EXPECT_EQ(task.parent().item(), 2u);
  EXPECT_EQ(task.parent().call_of(), 2u) << "index of `notify` plus one";
  EXPECT_EQ(task.item().json(), R"({"to":"b"})");
  ASSERT_EQ(task.steps_size(), 1);
  EXPECT_EQ(task.steps(0).path(), "notify");
}

TEST_F(family_for_each_test, the_next_item_begins_with_the_end_of_one_and_outputs_are_in_the_order_of_the_list) {
  load(3);
  done(item(2), "notify", R"("B")");
  EXPECT_EQ(state_of(item(3)), "RUNNING");
  done(item(3), "notify", R"("C")");
  EXPECT_EQ(step_of("t1", "notify"), "RUNNING");
  done(item(1), "notify", R"("A")");
  EXPECT_EQ(step_of("t1", "notify"), "COMPLETED");
  EXPECT_EQ(output_of("notify"), R"(["A","B","C"])");
  EXPECT_EQ(given("t1", "tell"), R"(["A","B","C"])");
  done("t1", "tell");
  EXPECT_EQ(state_of("t1"), "COMPLETED");
}

TEST_F(family_for_each_test, an_empty_list_completes_its_step) {
  load(0);
  EXPECT_EQ(output_of("notify"), "[]");
  EXPECT_EQ(given("t1", "tell"), "[]");
}

TEST_F(family_for_each_test, what_is_no_list_parks_the_task_and_an_operator_gives_one) {
  auto simple = notify(2);
  simple.set_with_json(R"("${ .item.to }")");
  deploy(undone(workflow_of({kept("load"), simple, told()}, "mailing")));
  submit(submission("t1", R"({"n":1})", "mailing"));
  done("t1", "load", R"({"to":"a"})");
  EXPECT_EQ(state_of("t1"), "RUNNING PARKED");
  EXPECT_NE(stored("t1")->parked_reason().find("not a list"), std::string::npos) << stored("t1")->parked_reason();
  expect_done(operate(v1::OPERATOR_VERB_RETRY, "t1", "notify", false, R"([{"to":"z"}])"));
  EXPECT_EQ(state_of("t1"), "RUNNING");
  EXPECT_EQ(given(item(1), "notify"), R"("z")");
}

TEST_F(family_for_each_test, after_a_failure_nothing_begins_and_what_was_done_is_undone_by_its_own_item) {
  load(4);
  failed(item(1), "notify");
  EXPECT_EQ(state_of(item(1)), "FAILED");
  EXPECT_EQ(state_of(item(3)), "no task");
  EXPECT_EQ(step_of("t1", "notify").substr(0, 7), "RUNNING") << "the second is in progress";
  done(item(2), "notify", R"({"id":"m2"})");
  EXPECT_EQ(state_of(item(3)), "no task");
  EXPECT_EQ(state_of("t1"), "UNDOING");
  EXPECT_NE(message_of("t1", "notify").find("item 1: task t1/notify~1.1 has failed"), std::string::npos) << message_of("t1", "notify");
  ASSERT_EQ(handed(item(2), "notify", v1::DIRECTION_UNDO), 1u);
  EXPECT_EQ(given(item(2), "notify"), R"({"to":"c2","id":"m2","shop":1})");
  EXPECT_EQ(handed(item(1), "notify", v1::DIRECTION_UNDO), 0u) << "it has done nothing";
  done(item(2), "notify");
  EXPECT_EQ(state_of(item(2)), "UNDONE");
  EXPECT_EQ(state_of("t1"), "UNDONE");
}

TEST_F(family_for_each_test, the_undo_of_an_item_reads_of_a_dropped_step_what_any_undo_of_its_task_reads) {
  auto either = kept("either", {"load", "other"});
  either.set_join(1);
  auto of_item = each(undoable("notify", {"either"}), 1);
  of_item.mutable_undo()->set_with_json(R"({"other":"${ .steps.other }"})");
  auto next = undoable("next", {"either"});
  next.mutable_undo()->set_with_json(R"({"other":"${ .steps.other }"})");
  deploy(undone(workflow_of({kept("load"), kept("other"), either, of_item, next, undoable("last", {"notify", "next"})}, "mailing")));
  submit(submission("t1", R"({"n":1})", "mailing"));
  done("t1", "load", R"([{"to":"a"}])");
  done("t1", "other", "7");
  done("t1", "either");
  done(item(1), "notify");
  done("t1", "next");
  failed("t1", "last");
  EXPECT_EQ(given("t1", "next"), R"({"other":null})");
  EXPECT_EQ(given(item(1), "notify"), R"({"other":null})");
}

TEST_F(family_for_each_test, a_task_is_parked_again_whose_parked_item_cannot_be_undone_when_it_is_cancelled) {
  auto careful = notify(1);
  careful.set_in_doubt(v1::IN_DOUBT_PARK);
  deploy(undone(workflow_of({kept("load"), careful, told()}, "mailing")));
  load(2);
  answer(failure(perform_of(item(1), "notify"), v1::FAULT_KIND_IN_DOUBT));
  EXPECT_EQ(state_of(item(1)), "RUNNING PARKED");
  EXPECT_EQ(state_of("t1"), "RUNNING PARKED");
  expect_done(operate(v1::OPERATOR_VERB_CANCEL, "t1"));
  EXPECT_EQ(state_of(item(1)), "UNDOING PARKED") << "its undo reads what it gave, and that is not known";
  EXPECT_EQ(state_of("t1"), "UNDOING PARKED");
}

TEST_F(family_for_each_test, no_other_item_is_undone_in_a_task_that_is_terminated) {
  deploy(undone(workflow_of({kept("load"), notify(1), told()}, "mailing")));
  load(2);
  done(item(1), "notify", R"({"id":"m1"})");
  done(item(2), "notify", R"({"id":"m2"})");
  failed("t1", "tell");
  failed(item(2), "notify");
  EXPECT_EQ(state_of(item(2)), "UNDOING PARKED");
  EXPECT_EQ(state_of("t1"), "UNDOING PARKED");
  expect_done(operate(v1::OPERATOR_VERB_TERMINATE, "t1"));
  EXPECT_EQ(state_of(item(2)), "FAILED");
  EXPECT_EQ(state_of(item(1)), "COMPLETED");
  EXPECT_EQ(state_of("t1"), "FAILED") << "it waits for nothing";
}

TEST_F(family_for_each_test, an_item_whose_input_was_requested_before_another_one_failed_does_not_begin) {
  auto computed = notify(3);
  computed.set_with_json(R"({"n":"${ .index + 1 }"})");
  deploy(undone(workflow_of({kept("load"), computed, told()}, "mailing")));
  load(3);
  evaluated("1");
  evaluated("2");
  ASSERT_EQ(state_of(item(2)), "RUNNING");
  failed(item(1), "notify");
  evaluated("3");
  EXPECT_EQ(state_of(item(3)), "no task");
  done(item(2), "notify", R"({"id":"m2"})");
  done(item(2), "notify");
  EXPECT_EQ(state_of("t1"), "UNDONE");
}

TEST_F(family_for_each_test, collected_failures_are_in_the_output) {
  deploy(undone(workflow_of({kept("load"), notify(1, true), told()}, "mailing")));
  load(3);
  done(item(1), "notify", "7");
  failed(item(2), "notify");
  done(item(3), "notify", "null");
  const auto fault = stored(item(2))->steps(0).fault();
  EXPECT_EQ(output_of("notify"), R"([{"status":"completed","output":7,"error":null},{"status":"failed","output":null,"error":{"code":")" +
                                     fault.code() + R"(","message":")" + fault.message() +
                                     R"("}},{"status":"completed","output":null,"error":null}])");
}

TEST_F(family_for_each_test, the_workflow_that_is_deployed_meanwhile_changes_nothing) {
  load(3);
  auto other = notify(2);
  other.set_with_json(R"("other")");
  deploy(undone(workflow_of({kept("load"), other, told()}, "mailing")));
  done(item(1), "notify");
  EXPECT_EQ(given(item(3), "notify"), R"({"to":"c3","n":2,"first":"c1"})");
}

TEST_F(family_for_each_test, items_with_a_sub_workflow) {
  auto ship = each(child("ship", "shipment", {"load"}, R"("${ .item.to }")"), 2);
  ship.set_timeout_ms(60'000);
  deploy(undone(workflow_of({kept("load"), ship}, "shop")));
  load(3, "shop");
  EXPECT_EQ(stored(item(1, 1, "ship"))->workflow(), "shipment");
  EXPECT_EQ(stored(item(1, 1, "ship"))->deadline_unix_ms(), time.now_ms + 60'000);
  EXPECT_EQ(stored(item(2, 1, "ship"))->input().json(), R"("c2")");
  for (const auto number : {2, 3, 1}) done(item(static_cast<std::size_t>(number), 1, "ship"), "pack", std::to_string(number));
  EXPECT_EQ(output_of("ship"), "[1,2,3]");
  EXPECT_EQ(state_of("t1"), "COMPLETED");
}

TEST_F(family_for_each_test, a_new_process_goes_on_where_the_last_one_was) {
  load(3);
  done(item(1), "notify", R"("A")");
  for (const auto number : {2, 3}) {
    restart();
    sweep();
    add_agent(agent("n1/svc"));
    EXPECT_EQ(state_of(item(static_cast<std::size_t>(number))), "RUNNING");
    done(item(static_cast<std::size_t>(number)), "notify", std::to_string(number));
  }
  EXPECT_EQ(output_of("notify"), R"(["A",2,3])");
}

TEST_F(family_for_each_test, after_a_park_the_failed_items_begin_again_by_other_tasks) {
  auto parks = workflow_of({kept("load"), notify(2), told()}, "mailing");
  parks.set_on_failure(v1::ON_FAILURE_PARK);
  deploy(parks);
  load(3);
  failed(item(1), "notify");
  done(item(2), "notify", R"("B")");
  EXPECT_EQ(state_of("t1"), "RUNNING PARKED");
  expect_done(operate(v1::OPERATOR_VERB_RETRY, "t1", "notify"));
  EXPECT_EQ(state_of(item(1, 2)), "RUNNING");
  EXPECT_EQ(state_of(item(3)), "RUNNING") << "it begins for the first time";
  EXPECT_EQ(state_of(item(2, 2)), "no task") << "completed items stay";
  done(item(1, 2), "notify", R"("A")");
  done(item(3), "notify", R"("C")");
  EXPECT_EQ(output_of("notify"), R"(["A","B","C"])");
}

TEST_F(family_for_each_test, a_cancel_goes_down_and_no_other_item_begins) {
  load(4);
  done(item(1), "notify", R"({"id":"m1"})");
  ASSERT_EQ(state_of(item(3)), "RUNNING");
  expect_done(operate(v1::OPERATOR_VERB_CANCEL, "t1"));
  EXPECT_EQ(state_of(item(2)), "UNDOING");
  EXPECT_EQ(state_of(item(3)), "UNDOING");
  failed(item(2), "notify");
  failed(item(3), "notify");
  EXPECT_EQ(state_of(item(4)), "no task");
  ASSERT_EQ(handed(item(1), "notify", v1::DIRECTION_UNDO), 1u);
  done(item(1), "notify");
  EXPECT_EQ(state_of("t1"), "UNDONE");
}

TEST_F(family_for_each_test, outputs_are_gathered_over_several_decisions) {
  deploy(undone(workflow_of({kept("load"), notify(1'000), told()}, "mailing")));
  load(450);
  finish_everything();
  const auto task = *stored("t1");
  ASSERT_EQ(task.state(), v1::TASK_STATE_COMPLETED);
  std::string expected = "[";
  for (int i = 0; i < 450; ++i) expected += std::string{i == 0 ? "" : ","} + R"({"v":1})";
  EXPECT_EQ(output_of("notify"), expected + "]");
}

TEST_F(family_for_each_test, a_long_list_goes_on_with_each_commit) {
  deploy(undone(workflow_of({kept("load"), notify(1'000), told()}, "mailing")));
  submit(submission("t1", R"({"n":1})", "mailing"));
  const auto list = R"([{"to":"1"},{"to":"2"},{"to":"3"},{"to":"4"},{"to":"5"},{"to":"6"},{"to":"7"},{"to":"8"},{"to":"9"}])";
  node->shell.outcomes(from("n1/svc", {success(perform_of("t1", "load"), list)}));
  node->shell.flush();
  ASSERT_TRUE(node->commit_one());
  EXPECT_EQ(state_of(item(4)), "RUNNING");
  EXPECT_EQ(state_of(item(5)), "no task") << "other tasks have their turn first";
  node->shell.flush();
  ASSERT_TRUE(node->commit_one());
  EXPECT_EQ(state_of(item(8)), "RUNNING");
  EXPECT_EQ(state_of(item(9)), "no task");
  node->settle();
  EXPECT_EQ(state_of(item(9)), "RUNNING");
}

TEST_F(family_for_each_test, where_commits_take_long_more_items_begin_in_each) {
  deploy(undone(workflow_of({kept("load"), notify(1'000), told()}, "mailing")));
  submit(submission("t1", R"({"n":1})", "mailing"));
  std::string list = "[";
  for (int i = 1; i <= 60; ++i) list += (i == 1 ? "" : ",") + std::string{R"({"to":"c"})"};
  node->shell.outcomes(from("n1/svc", {success(perform_of("t1", "load"), list + "]")}));
  node->shell.flush();
  time.now_ms += 12;
  ASSERT_TRUE(node->commit_one());
  EXPECT_EQ(state_of(item(4)), "RUNNING");
  EXPECT_EQ(state_of(item(5)), "no task");
  node->shell.flush();
  ASSERT_TRUE(node->commit_one());
  EXPECT_EQ(state_of(item(28)), "RUNNING") << "24 more: two for each millisecond of the commit before";
  EXPECT_EQ(state_of(item(29)), "no task");
}

TEST_F(family_for_each_test, an_item_that_waits_for_an_operator_holds_the_task_up) {
  load(3);
  auto in_doubt = failure(perform_of(item(1), "notify"), v1::FAULT_KIND_IN_DOUBT);
  answer(in_doubt);
  EXPECT_EQ(state_of(item(1)), "RUNNING PARKED");
  EXPECT_EQ(state_of("t1"), "RUNNING PARKED");
  done(item(2), "notify");
  EXPECT_EQ(state_of(item(3)), "no task") << "nothing begins meanwhile";
  expect_done(operate(v1::OPERATOR_VERB_SETTLE_COMPLETED, item(1), "notify"));
  EXPECT_EQ(state_of(item(1)), "COMPLETED");
  EXPECT_EQ(state_of("t1"), "RUNNING");
  EXPECT_EQ(state_of(item(3)), "RUNNING");
}

TEST_F(family_for_each_test, an_item_that_ends_already_is_asked_once) {
  load(2);
  expect_done(operate(v1::OPERATOR_VERB_TERMINATE, item(1)));
  expect_done(operate(v1::OPERATOR_VERB_CANCEL, "t1"));
  EXPECT_EQ(state_of("t1"), "UNDOING");
  failed(item(1), "notify");
  failed(item(2), "notify");
  EXPECT_EQ(state_of(item(1)), "FAILED");
  EXPECT_EQ(state_of(item(2)), "UNDONE");
  EXPECT_EQ(state_of("t1"), "UNDONE");
}

TEST_F(family_for_each_test, a_task_that_is_terminated_while_its_items_are_undone_ends) {
  load(3);
  for (const auto number : {1, 2, 3}) done(item(static_cast<std::size_t>(number)), "notify", R"({"id":"m"})");
  done("t1", "tell");
  expect_done(operate(v1::OPERATOR_VERB_UNDO, "t1"));
  ASSERT_EQ(handed(item(3), "notify", v1::DIRECTION_UNDO), 1u);
  expect_done(operate(v1::OPERATOR_VERB_TERMINATE, "t1", {}, true));
  EXPECT_EQ(state_of("t1"), "FAILED");
  EXPECT_EQ(state_of(item(1)), "COMPLETED") << "its undo had not begun";
}

TEST_F(family_for_each_test, items_whose_step_waits_to_be_tried_again_are_undone) {
  auto parks = workflow_of({kept("load"), notify(2), told()}, "mailing");
  parks.set_on_failure(v1::ON_FAILURE_PARK);
  deploy(parks);
  load(2);
  failed(item(1), "notify");
  done(item(2), "notify", R"({"id":"m2"})");
  expect_done(operate(v1::OPERATOR_VERB_PAUSE, "t1"));
  expect_done(operate(v1::OPERATOR_VERB_RETRY, "t1", "notify"));
  ASSERT_EQ(step_of("t1", "notify").substr(0, 7), "PENDING");
  expect_done(operate(v1::OPERATOR_VERB_CANCEL, "t1"));
  EXPECT_EQ(handed(item(2), "notify", v1::DIRECTION_UNDO), 1u);
  done(item(2), "notify");
  EXPECT_EQ(state_of("t1"), "UNDONE");
}

TEST_F(family_for_each_test, an_item_that_has_failed_is_undone_though_it_was_to_begin_again) {
  auto computed = notify(2);
  computed.set_with_json(R"({"n":"${ .index + 1 }"})");
  computed.mutable_undo()->set_with_json(R"({"to":"${ .item.to }"})");
  computed.mutable_undo()->set_also_if_failed(true);
  auto parks = workflow_of({kept("load"), computed, told()}, "mailing");
  parks.set_on_failure(v1::ON_FAILURE_PARK);
  deploy(parks);
  load(2);
  evaluated("1");
  evaluated("2");
  failed(item(1), "notify");
  done(item(2), "notify");
  ASSERT_EQ(state_of("t1"), "RUNNING PARKED");
  expect_done(operate(v1::OPERATOR_VERB_RETRY, "t1", "notify"));
  ASSERT_EQ(step_of("t1", "notify"), "RUNNING") << "the worker computes what the item is given";
  ASSERT_EQ(state_of(item(1, 2)), "no task");
  expect_done(operate(v1::OPERATOR_VERB_CANCEL, "t1"));
  EXPECT_EQ(state_of(item(1)), "UNDOING");
  EXPECT_EQ(state_of(item(2)), "UNDOING");
  ASSERT_EQ(handed(item(1), "notify", v1::DIRECTION_UNDO), 1u);
  ASSERT_EQ(handed(item(2), "notify", v1::DIRECTION_UNDO), 1u);
  done(item(1), "notify");
  done(item(2), "notify");
  EXPECT_EQ(state_of("t1"), "UNDONE");
  EXPECT_EQ(state_of(item(1, 2)), "no task");
}

TEST_F(family_for_each_test, outputs_that_are_too_large_together_are_not_all_read) {
  deploy(undone(workflow_of({kept("load"), notify(9), told()}, "mailing")));
  load(3);
  const auto half = R"({"id":")" + std::string(600'000, 'x') + R"("})";
  for (const auto number : {1, 2, 3}) done(item(static_cast<std::size_t>(number)), "notify", half);
  EXPECT_EQ(state_of("t1"), "UNDOING");
  EXPECT_NE(message_of("t1", "notify").find("the outputs of its items have more than 1048576 bytes together"), std::string::npos)
      << message_of("t1", "notify");
}

}  // namespace
}  // namespace fairlead::testing
