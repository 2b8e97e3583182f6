// The undo of steps that have failed, and say `also_if_failed`: any attempt that was made counts.

#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

v1::StepDefinition undone_if_failed(const std::string& name) {
  auto out = undoable(step(name));
  out.mutable_undo()->set_also_if_failed(true);
  return out;
}

TEST(task_undo_tried, of_what_was_accepted_follows_when_an_operator_says_that_it_never_happened) {
  for (const auto cancelled_first : {false, true}) {
    SCOPED_TRACE(cancelled_first);
    auto later = undone_if_failed("a");
    later.set_callback_ms(60'000);
    auto definition = graph({later});
    definition.set_on_failure(v1::ON_FAILURE_UNDO);
    world w{definition};
    w.started();
    w.outcome(0, 1);
    ASSERT_TRUE(w.at(0).awaits_callback());
    w.agents.instances.at("n1/svc").capacity = 0;
    if (cancelled_first) w.operate(v1::OPERATOR_VERB_CANCEL);
    EXPECT_FALSE(w.operate(v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED, "a").ended);
    if (!cancelled_first) {
      EXPECT_FALSE(w.operate(v1::OPERATOR_VERB_CANCEL).ended);
    }
    w.agents.instances.at("n1/svc").capacity = 1;
    const auto made = w.apply(slot_freed{});
    ASSERT_EQ(made.performs.size(), 1u);
    EXPECT_EQ(made.performs[0].message.direction(), v1::DIRECTION_UNDO);
    EXPECT_FALSE(made.performs[0].message.in_doubt());
    EXPECT_EQ(made.performs[0].message.perform_key(), "t1/a/perform/0");
    EXPECT_TRUE(w.undone(0).ended);
    EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_UNDONE);
  }
}

TEST(task_undo_tried, names_the_key_of_the_attempt_also_when_the_input_was_edited_twice_since) {
  world w{graph({undone_if_failed("a")})};
  w.started();
  ASSERT_TRUE(w.fault(0, 1, v1::FAULT_KIND_PERMANENT).parked);
  w.operate(v1::OPERATOR_VERB_PAUSE);
  ASSERT_FALSE(w.operate(v1::OPERATOR_VERB_RETRY, "a", R"({"n":2})").refused);
  ASSERT_FALSE(w.operate(v1::OPERATOR_VERB_RETRY, "a", R"({"n":3})").refused);
  ASSERT_EQ(w.at(0).attempt(), 1U);
  const auto made = w.operate(v1::OPERATOR_VERB_CANCEL);
  ASSERT_EQ(made.performs.size(), 1u);
  EXPECT_EQ(made.performs[0].message.perform_key(), "t1/a/perform/0");
  EXPECT_TRUE(w.undone(0).ended);
}

TEST(task_undo_tried, of_an_item_that_has_begun_again_without_an_attempt_is_that_of_its_task_before) {
  auto ship = undone_if_failed("ship");
  ship.mutable_for_each()->set_list_json(R"("${ .input }")");
  ship.mutable_for_each()->set_at_once(1);
  world w{graph({ship})};
  w.started(R"(["a"])");
  ASSERT_TRUE(w.apply(w.of_child(0, v1::TASK_STATE_FAILED, "t1/ship~1.1")).parked);
  const auto again = w.operate(v1::OPERATOR_VERB_RETRY, "ship");
  ASSERT_EQ(again.children.size(), 1u);
  ASSERT_EQ(again.children[0].id, "t1/ship~2.1");
  w.operate(v1::OPERATOR_VERB_CANCEL);
  auto untried = w.of_child(0, v1::TASK_STATE_UNDONE, "t1/ship~2.1");
  untried.untried = true;
  const auto asked = w.apply(untried);
  ASSERT_EQ(asked.children.size(), 1u);
  EXPECT_EQ(asked.children[0].id, "t1/ship~2.1");
  const auto before = w.apply(untried);
  EXPECT_FALSE(before.ended) << "the first task of the item has made an attempt";
  ASSERT_EQ(before.children.size(), 1u);
  EXPECT_EQ(before.children[0].id, "t1/ship~1.1");
  EXPECT_EQ(before.children[0].action.verb(), v1::OPERATOR_VERB_UNDO);
  EXPECT_TRUE(w.apply(w.of_child(0, v1::TASK_STATE_UNDONE, "t1/ship~1.1")).ended);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_UNDONE);
}

}  // namespace
}  // namespace fairlead::core::testing
