// What a parent knows of its children in a store that goes on from a backup.

#include "messages/items.hpp"
#include "tests/actors/shard/shard_restore_world.hpp"

namespace fairlead::testing {
namespace {

class shard_restore_children_test : public shard_restore_world {
 protected:
  static v1::StepDefinition ship() {
    v1::StepDefinition out;
    out.set_name("ship");
    out.set_kind(v1::STEP_KIND_WORKFLOW);
    out.set_workflow("shipment");
    out.set_on_failure(v1::ON_FAILURE_PARK);
    return out;
  }
  /// What is done from now on may never have counted.
  void a_recovery_of_a_list() {
    start();
    deploy(workflow_of({step("pack")}, "shipment"));
    auto list = ship();
    list.mutable_for_each()->set_list_json("[1,2]");
    list.mutable_for_each()->set_at_once(1);
    deploy(workflow_of({list}));
    submit("t1");
    time.now_ms += 1'000;
    ASSERT_TRUE(store->begin_recovery(time.now_ms).ok());
    time.now_ms += 1'000;
  }
  void fails(const std::string& path) {
    for (const auto& one : out.performs)
      if (one.what.step_path() == path) shell->outcomes(from("n1/svc", {failure(one.what, v1::FAULT_KIND_PERMANENT)}));
    settle();
  }
};

TEST_F(shard_restore_children_test, a_parent_knows_of_a_child_that_has_failed_that_it_may_have_done_something) {
  start();
  deploy(workflow_of({step("pack")}, "shipment"));
  deploy(workflow_of({ship()}));
  submit("t1");
  time.now_ms += 1'000;
  ASSERT_TRUE(store->begin_recovery(time.now_ms).ok());
  time.now_ms += 1'000;
  operate("t1/ship~1", v1::OPERATOR_VERB_TERMINATE);
  ASSERT_EQ(task("t1").steps(0).state(), v1::STEP_STATE_FAILED);
  ASSERT_FALSE(task("t1").steps(0).child().stands());
  time.now_ms += an_hour_ms;
  restore();
  EXPECT_TRUE(task("t1/ship~1").steps(0).doubtful());
  EXPECT_EQ(task("t1").steps(0).state(), v1::STEP_STATE_FAILED);
  EXPECT_TRUE(task("t1").steps(0).child().stands());
  open();
  start();
  operate("t1", v1::OPERATOR_VERB_RETRY, "ship");
  const auto& reply = out.operations.at(3);
  ASSERT_EQ(reply.results_size(), 1);
  EXPECT_EQ(reply.results(0).error().sentence(), "task t1/ship~1 has failed, and what it has done stands or is in doubt");
}

TEST_F(shard_restore_children_test, a_task_that_was_to_fail_begins_no_child_beside_one_that_may_have_done_something) {
  start();
  auto pack = step("pack");
  pack.set_on_failure(v1::ON_FAILURE_FAIL);
  deploy(workflow_of({pack}, "shipment"));
  auto check = step("check");
  check.set_on_failure(v1::ON_FAILURE_FAIL);
  deploy(workflow_of({check, step("hold"), ship()}));
  add_agent();
  submit("t1");
  time.now_ms += 1'000;
  ASSERT_TRUE(store->begin_recovery(time.now_ms).ok());
  time.now_ms += 1'000;
  fails("check");
  fails("pack");
  ASSERT_TRUE(task("t1").failing()) << "hold is out";
  ASSERT_EQ(task("t1").steps(2).state(), v1::STEP_STATE_FAILED);
  time.now_ms += an_hour_ms;
  restore();
  ASSERT_TRUE(task("t1/ship~1").steps(0).doubtful());
  EXPECT_EQ(task("t1").steps(2).state(), v1::STEP_STATE_FAILED);
  EXPECT_TRUE(task("t1").steps(2).child().stands());
  open();
  start();
  operate("t1", v1::OPERATOR_VERB_RETRY);
  EXPECT_FALSE(store::find_task(*store->read(), "t1/ship~2")->has_value()) << "the first one is undone before that";
}

TEST_F(shard_restore_children_test, a_list_knows_of_an_item_that_has_failed_that_it_may_have_done_something_and_stays_in_doubt) {
  a_recovery_of_a_list();
  operate("t1/ship~1.1", v1::OPERATOR_VERB_TERMINATE);
  ASSERT_EQ(task("t1").steps(0).state(), v1::STEP_STATE_FAILED);
  time.now_ms += an_hour_ms;
  restore();
  ASSERT_TRUE(task("t1/ship~1.1").steps(0).doubtful());
  EXPECT_EQ(item_state_of(task("t1").steps(0).items(), 0), item_state::left_behind);
  EXPECT_TRUE(task("t1").steps(0).doubtful()) << "the second item may have begun";
  open();
  start();
  operate("t1", v1::OPERATOR_VERB_CANCEL);
  EXPECT_EQ(task("t1").state(), v1::TASK_STATE_UNDOING);
  EXPECT_TRUE(task("t1").parked()) << "what its items have done is not known";
}

TEST_F(shard_restore_children_test, a_list_begins_no_item_again_beside_the_one_that_is_being_undone_again) {
  a_recovery_of_a_list();
  operate("t1/ship~1.1", v1::OPERATOR_VERB_CANCEL);
  ASSERT_EQ(task("t1/ship~1.1").state(), v1::TASK_STATE_UNDONE);
  ASSERT_EQ(task("t1").steps(0).state(), v1::STEP_STATE_FAILED);
  time.now_ms += an_hour_ms;
  restore();
  ASSERT_EQ(task("t1/ship~1.1").state(), v1::TASK_STATE_UNDOING);
  EXPECT_EQ(item_state_of(task("t1").steps(0).items(), 0), item_state::left_behind);
  open();
  start();
  operate("t1", v1::OPERATOR_VERB_RETRY, "ship");
  EXPECT_FALSE(store::find_task(*store->read(), "t1/ship~2.1")->has_value());
  operate("t1/ship~1.1", v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED, "pack");
  ASSERT_EQ(task("t1/ship~1.1").state(), v1::TASK_STATE_UNDONE);
  EXPECT_EQ(item_state_of(task("t1").steps(0).items(), 0), item_state::undone);
  operate("t1", v1::OPERATOR_VERB_RETRY, "ship");
  EXPECT_TRUE(store::find_task(*store->read(), "t1/ship~2.1")->has_value());
}

}  // namespace
}  // namespace fairlead::testing
