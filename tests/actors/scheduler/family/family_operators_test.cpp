// What operators do to parents and to children, and what goes from one to the other.

#include "store/content_hash.hpp"
#include "tests/actors/scheduler/family/family_world.hpp"

namespace fairlead::testing {
namespace {

using family_operators_test = family_fixture;

TEST_F(family_operators_test, the_undo_of_a_parent_opens_its_child_again) {
  completed();
  expect_done(operate(v1::OPERATOR_VERB_UNDO, "t1"));
  EXPECT_EQ(state_of("t1/ship~1"), "COMPLETED") << "tell comes first";
  done("t1", "tell");
  EXPECT_EQ(step_of("t1", "ship"), "UNDOING");
  EXPECT_EQ(state_of("t1/ship~1"), "UNDOING");
  restart();
  sweep();
  add_agent(agent("n1/svc"));
  done("t1/ship~1", "pack");
  EXPECT_EQ(state_of("t1/ship~1"), "UNDONE");
  EXPECT_EQ(step_of("t1", "ship"), "UNDONE");
  EXPECT_EQ(handed("t1", "pay", v1::DIRECTION_UNDO), 1u);
  done("t1", "pay");
  EXPECT_EQ(state_of("t1"), "UNDONE");
}

TEST_F(family_operators_test, a_child_past_its_pivot_refuses_and_an_operator_leaves_it) {
  auto pivot = kept("pack");
  pivot.set_pivot(true);
  deploy(undone(workflow_of({pivot}, "shipment")));
  completed();
  expect_done(operate(v1::OPERATOR_VERB_UNDO, "t1"));
  done("t1", "tell");
  EXPECT_EQ(step_of("t1", "ship"), "UNDOING child_pivot");
  EXPECT_EQ(state_of("t1/ship~1"), "COMPLETED");
  EXPECT_EQ(state_of("t1"), "UNDOING PARKED");
  ASSERT_EQ(unresolved(v1::ALERT_KIND_TASK_PARKED).size(), 1u);
  EXPECT_EQ(unresolved(v1::ALERT_KIND_TASK_PARKED)[0].task_id(), "t1");
  expect_done(operate(v1::OPERATOR_VERB_SKIP, "t1", "ship"));
  EXPECT_TRUE(unresolved(v1::ALERT_KIND_TASK_PARKED).empty());
  done("t1", "pay");
  EXPECT_EQ(state_of("t1"), "UNDONE");
}

TEST_F(family_operators_test, what_an_undone_parent_has_left_of_its_child_is_undone_alone) {
  auto ship = child("ship", "shipment", {"pay"});
  ship.mutable_undo()->set_none(true);
  deploy(undone(workflow_of({undoable("pay"), ship, undoable("tell", {"ship"})}, "order")));
  completed();
  expect_refused(operate(v1::OPERATOR_VERB_UNDO, "t1/ship~1"), "is a part of task t1");
  expect_done(operate(v1::OPERATOR_VERB_UNDO, "t1"));
  done("t1", "tell");
  done("t1", "pay");
  EXPECT_EQ(state_of("t1"), "UNDONE");
  EXPECT_EQ(state_of("t1/ship~1"), "COMPLETED");
  expect_done(operate(v1::OPERATOR_VERB_UNDO, "t1/ship~1"));
  EXPECT_EQ(state_of("t1/ship~1"), "UNDOING");
  expect_done(operate(v1::OPERATOR_VERB_TERMINATE, "t1/ship~1", {}, true));
  EXPECT_EQ(state_of("t1/ship~1"), "FAILED");
  EXPECT_EQ(step_of("t1", "ship"), "COMPLETED");
  EXPECT_EQ(state_of("t1"), "UNDONE");
}

TEST_F(family_operators_test, a_child_without_an_undo_refuses) {
  deploy(workflow_of({::fairlead::testing::step("pack")}, "shipment"));
  completed();
  expect_done(operate(v1::OPERATOR_VERB_UNDO, "t1"));
  done("t1", "tell");
  EXPECT_EQ(step_of("t1", "ship"), "UNDOING child_pivot");
  EXPECT_NE(message_of("t1", "ship").find("pack"), std::string::npos) << message_of("t1", "ship");
}

TEST_F(family_operators_test, cancel_goes_down_through_all_levels) {
  deploy(undone(workflow_of({child("order", "order")}, "outer")));
  submit(submission("t1", "{}", "outer"));
  done("t1/order~1", "pay");
  expect_done(operate(v1::OPERATOR_VERB_CANCEL, "t1"));
  for (const auto* id : {"t1", "t1/order~1", "t1/order~1/ship~1"}) EXPECT_EQ(state_of(id), "UNDOING") << id;
  EXPECT_EQ(handed("t1/order~1", "pay", v1::DIRECTION_UNDO), 0u) << "the child lives";
  done("t1/order~1/ship~1", "pack");
  done("t1/order~1/ship~1", "pack");
  EXPECT_EQ(state_of("t1/order~1/ship~1"), "UNDONE");
  done("t1/order~1", "pay");
  for (const auto* id : {"t1", "t1/order~1"}) EXPECT_EQ(state_of(id), "UNDONE") << id;
}

TEST_F(family_operators_test, a_cancelled_child_past_its_pivot_goes_forward) {
  auto pivot = kept("pack");
  pivot.set_pivot(true);
  auto send = kept("send", {"pack"});
  send.set_on_failure(v1::ON_FAILURE_PARK);
  deploy(undone(workflow_of({pivot, send}, "shipment")));
  shipping();
  done("t1/ship~1", "pack");
  expect_done(operate(v1::OPERATOR_VERB_CANCEL, "t1"));
  EXPECT_EQ(state_of("t1"), "UNDOING");
  EXPECT_EQ(state_of("t1/ship~1"), "RUNNING");
  done("t1/ship~1", "send");
  EXPECT_EQ(state_of("t1/ship~1"), "COMPLETED");
  EXPECT_TRUE(stored("t1/ship~1")->undo_reason().empty());
  EXPECT_EQ(step_of("t1", "ship"), "UNDOING child_pivot");
  EXPECT_EQ(state_of("t1"), "UNDOING PARKED");
}

TEST_F(family_operators_test, a_cancelled_child_is_undone_once_its_pivot_has_failed) {
  auto pivot = kept("pack");
  pivot.set_pivot(true);
  pivot.set_attempts(3);
  deploy(undone(workflow_of({pivot}, "shipment")));
  shipping();
  expect_done(operate(v1::OPERATOR_VERB_CANCEL, "t1"));
  EXPECT_EQ(state_of("t1"), "UNDOING");
  EXPECT_EQ(state_of("t1/ship~1"), "RUNNING") << "its pivot may have happened";
  restart();
  sweep();
  add_agent(agent("n1/svc"));
  answer(failure(perform_of("t1/ship~1", "pack"), v1::FAULT_KIND_TRANSIENT));
  EXPECT_EQ(state_of("t1/ship~1"), "UNDONE");
  EXPECT_NE(stored("t1/ship~1")->undo_reason().find("cancelled by task t1"), std::string::npos) << stored("t1/ship~1")->undo_reason();
  EXPECT_EQ(step_of("t1", "ship"), "FAILED child_undone");
  done("t1", "pay");
  EXPECT_EQ(state_of("t1"), "UNDONE");
}

TEST_F(family_operators_test, a_cancelled_child_in_doubt_is_undone_once_an_operator_says_that_nothing_happened) {
  auto pivot = kept("pack");
  pivot.set_pivot(true);
  pivot.set_in_doubt(v1::IN_DOUBT_PARK);
  deploy(undone(workflow_of({pivot}, "shipment")));
  shipping();
  answer(failure(perform_of("t1/ship~1", "pack"), v1::FAULT_KIND_IN_DOUBT));
  ASSERT_EQ(state_of("t1/ship~1"), "RUNNING PARKED");
  expect_done(operate(v1::OPERATOR_VERB_CANCEL, "t1"));
  EXPECT_EQ(state_of("t1"), "UNDOING PARKED") << "the child waits for an operator";
  EXPECT_EQ(state_of("t1/ship~1"), "RUNNING PARKED");
  expect_done(operate(v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED, "t1/ship~1", "pack"));
  EXPECT_EQ(handed("t1/ship~1", "pack"), 1u) << "it is not performed again";
  EXPECT_EQ(state_of("t1/ship~1"), "UNDONE");
  EXPECT_TRUE(unresolved(v1::ALERT_KIND_TASK_PARKED).empty());
  done("t1", "pay");
  EXPECT_EQ(state_of("t1"), "UNDONE");
}

TEST_F(family_operators_test, a_cancelled_child_whose_pivot_fails_for_good_does_not_park) {
  auto pivot = kept("pack");
  pivot.set_pivot(true);
  pivot.set_on_failure(v1::ON_FAILURE_PARK);
  deploy(undone(workflow_of({pivot}, "shipment")));
  shipping();
  expect_done(operate(v1::OPERATOR_VERB_CANCEL, "t1"));
  failed("t1/ship~1", "pack");
  EXPECT_EQ(state_of("t1/ship~1"), "UNDONE");
  EXPECT_TRUE(unresolved(v1::ALERT_KIND_TASK_PARKED).empty());
}

TEST_F(family_operators_test, terminate_goes_down_and_waits) {
  shipping();
  expect_done(operate(v1::OPERATOR_VERB_TERMINATE, "t1"));
  EXPECT_EQ(state_of("t1"), "RUNNING");
  EXPECT_TRUE(stored("t1/ship~1")->failing());
  done("t1/ship~1", "pack");
  EXPECT_EQ(state_of("t1/ship~1"), "FAILED");
  EXPECT_EQ(state_of("t1"), "FAILED");
  EXPECT_EQ(step_of("t1", "ship"), "FAILED child_failed");
  EXPECT_TRUE(stored("t1")->steps(1).child().stands());
}

TEST_F(family_operators_test, terminate_now_ends_all_in_one_commit) {
  shipping();
  v1::OperateRequest request;
  request.mutable_action()->set_verb(v1::OPERATOR_VERB_TERMINATE);
  request.mutable_action()->set_at_once(true);
  request.mutable_action()->set_who("ann");
  request.add_ids("t1");
  node->shell.answer(request, next_ticket++);
  node->shell.flush();
  ASSERT_EQ(node->waiting.size(), 1u);
  ASSERT_TRUE(node->commit_one());
  EXPECT_EQ(state_of("t1"), "FAILED");
  EXPECT_EQ(state_of("t1/ship~1"), "FAILED");
}

TEST_F(family_operators_test, pause_and_resume_go_down) {
  shipping();
  expect_done(operate(v1::OPERATOR_VERB_PAUSE, "t1"));
  EXPECT_EQ(state_of("t1/ship~1"), "RUNNING PAUSED");
  expect_done(operate(v1::OPERATOR_VERB_RESUME, "t1"));
  EXPECT_EQ(state_of("t1/ship~1"), "RUNNING");
  done("t1/ship~1", "pack");
  EXPECT_EQ(step_of("t1", "ship"), "COMPLETED");
}

TEST_F(family_operators_test, a_child_that_parks_parks_all_above_it_with_one_alert) {
  deploy(workflow_of({::fairlead::testing::step("pack")}, "shipment"));
  deploy(undone(workflow_of({child("order", "order")}, "outer")));
  submit(submission("t1", "{}", "outer"));
  done("t1/order~1", "pay");
  failed("t1/order~1/ship~1", "pack");
  for (const auto* id : {"t1", "t1/order~1", "t1/order~1/ship~1"}) EXPECT_EQ(state_of(id), "RUNNING PARKED") << id;
  EXPECT_EQ(stored("t1/order~1")->parked_reason(), "task t1/order~1/ship~1 is parked: " + stored("t1/order~1/ship~1")->parked_reason());
  EXPECT_EQ(stored("t1")->parked_reason().rfind("task t1/order~1 is parked: ", 0), 0u) << stored("t1")->parked_reason();
  const auto alerts = unresolved(v1::ALERT_KIND_TASK_PARKED);
  ASSERT_EQ(alerts.size(), 1u);
  EXPECT_EQ(alerts[0].task_id(), "t1/order~1/ship~1");
  expect_refused(operate(v1::OPERATOR_VERB_RETRY, "t1"), "t1/order~1");
  expect_refused(operate(v1::OPERATOR_VERB_RESUME, "t1/order~1"), "t1/order~1/ship~1");
  expect_done(operate(v1::OPERATOR_VERB_RETRY, "t1/order~1/ship~1"));
  for (const auto* id : {"t1", "t1/order~1", "t1/order~1/ship~1"}) EXPECT_EQ(state_of(id), "RUNNING") << id;
  EXPECT_TRUE(unresolved(v1::ALERT_KIND_TASK_PARKED).empty());
  done("t1/order~1/ship~1", "pack");
  done("t1/order~1", "tell");
  EXPECT_EQ(state_of("t1"), "COMPLETED");
}

TEST_F(family_operators_test, a_parent_that_is_parked_for_its_child_can_be_cancelled_and_terminated) {
  deploy(undone(workflow_of({[] {
                              auto out = undoable("pack");
                              out.set_on_failure(v1::ON_FAILURE_PARK);
                              return out;
                            }()},
                            "shipment")));
  shipping("t1");
  failed("t1/ship~1", "pack");
  ASSERT_EQ(state_of("t1"), "RUNNING PARKED");
  expect_done(operate(v1::OPERATOR_VERB_CANCEL, "t1"));
  EXPECT_EQ(state_of("t1/ship~1"), "UNDONE");
  done("t1", "pay");
  EXPECT_EQ(state_of("t1"), "UNDONE");
  shipping("t2");
  failed("t2/ship~1", "pack");
  expect_done(operate(v1::OPERATOR_VERB_TERMINATE, "t2"));
  EXPECT_EQ(state_of("t2/ship~1"), "FAILED");
  EXPECT_EQ(state_of("t2"), "FAILED");
  EXPECT_TRUE(unresolved(v1::ALERT_KIND_TASK_PARKED).empty());
}

TEST_F(family_operators_test, a_child_is_operated_like_any_task) {
  shipping("t1");
  expect_done(operate(v1::OPERATOR_VERB_PAUSE, "t1/ship~1"));
  EXPECT_EQ(state_of("t1"), "RUNNING") << "a pause does not go up";
  expect_done(operate(v1::OPERATOR_VERB_RESUME, "t1/ship~1"));
  expect_done(operate(v1::OPERATOR_VERB_CANCEL, "t1/ship~1"));
  failed("t1/ship~1", "pack");
  EXPECT_EQ(step_of("t1", "ship"), "FAILED child_undone");
  EXPECT_NE(message_of("t1", "ship").find("t1/ship~1"), std::string::npos) << message_of("t1", "ship");
  EXPECT_NE(message_of("t1", "ship").find("she had to"), std::string::npos) << message_of("t1", "ship");
  shipping("t2");
  expect_done(operate(v1::OPERATOR_VERB_TERMINATE, "t2/ship~1", {}, true));
  EXPECT_EQ(step_of("t2", "ship"), "UNDOING child_failed") << "its attempt is in doubt, so it is undone with its parent";
}

TEST_F(family_operators_test, a_completed_child_is_undone_with_its_parent_only) {
  completed();
  const auto refused = operate(v1::OPERATOR_VERB_UNDO, "t1/ship~1");
  expect_refused(refused, "t1");
  EXPECT_NE(refused.error().remedy().find("fairlead task undo t1"), std::string::npos) << refused.error().remedy();
  EXPECT_EQ(state_of("t1/ship~1"), "COMPLETED");
}

TEST_F(family_operators_test, a_failed_child_is_undone_before_another_one_begins) {
  auto patient = child("ship", "shipment");
  patient.set_on_failure(v1::ON_FAILURE_PARK);
  deploy(workflow_of({patient}, "short"));
  deploy(undone(workflow_of({undoable("pack"), undoable("send", {"pack"})}, "shipment")));
  submit(submission("t1", "{}", "short"));
  done("t1/ship~1", "pack");
  expect_done(operate(v1::OPERATOR_VERB_TERMINATE, "t1/ship~1"));
  failed("t1/ship~1", "send");
  ASSERT_EQ(state_of("t1/ship~1"), "FAILED");
  ASSERT_EQ(state_of("t1"), "RUNNING PARKED");
  expect_refused(operate(v1::OPERATOR_VERB_RETRY, "t1", "ship"), "t1/ship~1");
  expect_refused(operate(v1::OPERATOR_VERB_SKIP, "t1", "ship"), "t1/ship~1");
  expect_done(operate(v1::OPERATOR_VERB_UNDO, "t1/ship~1"));
  EXPECT_EQ(state_of("t1/ship~1"), "UNDOING");
  for (const auto verb : {v1::OPERATOR_VERB_RETRY, v1::OPERATOR_VERB_SKIP, v1::OPERATOR_VERB_SETTLE_COMPLETED})
    expect_refused(operate(verb, "t1", "ship"), "task t1/ship~1, the child of step ship, is being undone");
  done("t1/ship~1", "pack");
  EXPECT_EQ(state_of("t1/ship~1"), "UNDONE");
  EXPECT_FALSE(stored("t1")->steps(0).child().stands());
  expect_done(operate(v1::OPERATOR_VERB_RETRY, "t1", "ship"));
  EXPECT_EQ(state_of("t1/ship~2"), "RUNNING");
  done("t1/ship~2", "pack");
  done("t1/ship~2", "send");
  EXPECT_EQ(state_of("t1"), "COMPLETED");
}

TEST_F(family_operators_test, a_step_whose_failed_child_stands_is_undone_with_the_parent) {
  deploy(undone(workflow_of({undoable("pack"), undoable("send", {"pack"})}, "shipment")));
  shipping();
  done("t1/ship~1", "pack");
  expect_done(operate(v1::OPERATOR_VERB_TERMINATE, "t1/ship~1"));
  failed("t1/ship~1", "send");
  EXPECT_EQ(step_of("t1", "ship"), "UNDOING child_failed") << "the parent is undone, and its child with it";
  EXPECT_EQ(state_of("t1/ship~1"), "UNDOING");
  done("t1/ship~1", "pack");
  EXPECT_EQ(state_of("t1/ship~1"), "UNDONE");
  done("t1", "pay");
  EXPECT_EQ(state_of("t1"), "UNDONE");
}

TEST_F(family_operators_test, a_child_is_deleted_after_its_parent) {
  completed();
  expect_refused(operate(v1::OPERATOR_VERB_DELETE, "t1/ship~1"), "t1");
  EXPECT_TRUE(stored_task("t1/ship~1").has_value());
  expect_done(operate(v1::OPERATOR_VERB_DELETE, "t1"));
  expect_done(operate(v1::OPERATOR_VERB_DELETE, "t1/ship~1"));
  EXPECT_FALSE(stored_task("t1/ship~1").has_value());
}

TEST_F(family_operators_test, a_join_cancels_a_child_that_it_does_not_need) {
  auto slow = child("slow", "shipment"), fast = child("fast", "shipment");
  for (auto* one : {&slow, &fast}) one->set_on_failure(v1::ON_FAILURE_CONTINUE);
  auto first = kept("first", {"slow", "fast"});
  first.set_join(1);
  deploy(undone(workflow_of({slow, fast, first}, "race")));
  submit(submission("t1", "{}", "race"));
  done("t1/fast~1", "pack");
  EXPECT_EQ(state_of("t1/slow~1"), "UNDOING");
  done("t1", "first");
  EXPECT_EQ(state_of("t1"), "RUNNING") << "it waits for what it has dropped";
  done("t1/slow~1", "pack");
  done("t1/slow~1", "pack");
  EXPECT_EQ(state_of("t1/slow~1"), "UNDONE");
  EXPECT_EQ(state_of("t1"), "COMPLETED");
}

TEST_F(family_operators_test, a_child_is_migrated_by_the_name_of_its_own_workflow) {
  shipping();
  const auto from = stored("t1/ship~1")->workflow_hash();
  const auto sealed = undone(workflow_of({undoable("pack"), undoable("seal", {"pack"})}, "shipment"));
  deploy(sealed);
  v1::OperateRequest request;
  auto& action = *request.mutable_action();
  action.set_verb(v1::OPERATOR_VERB_MIGRATE);
  action.set_from_hash(from);
  action.set_to_hash(store::definition_hash(sealed));
  action.set_who("ann");
  request.add_ids("t1/ship~1");
  node->shell.answer(request, next_ticket);
  node->settle();
  const auto migrated = out.operations.at(next_ticket++).results(0);
  EXPECT_EQ(migrated.error().code(), v1::ERROR_CODE_OK) << migrated.error().sentence();
  done("t1/ship~1", "pack");
  EXPECT_EQ(handed("t1/ship~1", "seal"), 1u);
  EXPECT_EQ(step_of("t1", "ship"), "RUNNING");
}

}  // namespace
}  // namespace fairlead::testing
