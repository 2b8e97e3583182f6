// An operator says that the pivot was carried out after all.

#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

v1::StepDefinition pivot_of(v1::StepDefinition of) {
  of.set_pivot(true);
  return with_undo_none(std::move(of));
}

v1::WorkflowDefinition undone_by_failure(const std::vector<v1::StepDefinition>& steps) {
  auto out = graph(steps);
  out.set_on_failure(v1::ON_FAILURE_UNDO);
  return out;
}

TEST(task_pivot, that_was_carried_out_after_all_stops_the_undo) {
  world w{undone_by_failure({undoable(step("a")), undoable(step("b", {"a"})), pivot_of(step("c", {"b"}))})};
  w.started();
  w.outcome(0, 1);
  w.outcome(1, 1);
  w.fault(2, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_EQ(w.at(1).state(), v1::STEP_STATE_UNDOING);
  ASSERT_FALSE(w.operate(v1::OPERATOR_VERB_SETTLE_COMPLETED, "c", "{}").refused);
  EXPECT_TRUE(w.record.parked());
  EXPECT_TRUE(w.undone(1).performs.empty()) << "what came before the pivot stands";
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_UNDOING);
}

TEST(task_pivot, that_was_carried_out_after_all_keeps_an_undo_behind_the_brake_from_beginning) {
  auto definition = undone_by_failure({undoable(step("a")), pivot_of(step("c", {"a"}))});
  definition.set_timeout_ms(60'000);
  world w{definition};
  w.hold_undo = true;
  w.started();
  w.outcome(0, 1);
  w.fault(1, 1, v1::FAULT_KIND_TRANSIENT);
  w.advance_ms(60'000);
  w.apply(task_due{});
  ASSERT_TRUE(w.record.undo_held());
  ASSERT_FALSE(w.operate(v1::OPERATOR_VERB_SETTLE_COMPLETED, "c", "{}").refused);
  w.hold_undo = false;
  EXPECT_TRUE(w.apply(task_due{}).performs.empty());
  EXPECT_TRUE(w.record.parked());
}

}  // namespace
}  // namespace fairlead::core::testing
