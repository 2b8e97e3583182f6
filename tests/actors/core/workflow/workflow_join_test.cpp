// Steps with `join`: what the check refuses, and what a task's row says of them.

#include "actors/core/workflow/join.hpp"

#include "actors/core/workflow/declarative.hpp"
#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

using indices = std::vector<std::uint32_t>;

v1::StepDefinition joined(v1::StepDefinition of, std::uint32_t count) {
  of.set_join(count);
  return of;
}

std::vector<std::string> problems_of(const std::vector<v1::StepDefinition>& steps) {
  std::vector<std::string> out;
  for (const auto& one : check_definition(graph(steps), nullptr)) out.push_back(one.step + "." + one.field + ": " + one.sentence);
  return out;
}

struct picture {
  std::shared_ptr<const workflow> definition;
  v1::TaskRecord record;
};

/// One letter a step: p(ending) r(unning) c(ompleted) f(ailed) d(oubt) s(kipped) u(ndoing) U(ndone); o: passed over. Capital letters but U:
/// the same of a dropped step.
picture of(const std::vector<v1::StepDefinition>& steps, const std::string& states) {
  picture out{*workflow::compile(graph(steps), "hash"), {}};
  declarative_engine{}.begin(*out.definition, out.record);
  for (std::size_t i = 0; i < states.size(); ++i) {
    auto& step = *out.record.mutable_steps(static_cast<int>(i));
    const auto dropped = states[i] >= 'A' && states[i] <= 'Z' && states[i] != 'U';
    const auto letter = dropped ? static_cast<char>(states[i] - 'A' + 'a') : states[i];
    step.set_state(letter == 'o' ? v1::STEP_STATE_FAILED : static_cast<v1::StepState>(std::string{"prcfdsuU"}.find(letter) + 1));
    step.set_dropped(dropped);
    step.set_passed_over(letter == 'o');
    step.set_doubtful(letter == 'd' || letter == 'r');
  }
  return out;
}

next_steps next_of(const std::vector<v1::StepDefinition>& steps, const std::string& states) {
  const auto now = of(steps, states);
  next_steps out;
  declarative_engine{}.next(*now.definition, now.record, out);
  return out;
}

/// Two of three.
std::vector<v1::StepDefinition> two_of_three() {
  return {undoable(step("a")), undoable(step("b")), undoable(step("c")), joined(step("done", {"a", "b", "c"}), 2)};
}

TEST(workflow_join, refuses_a_join_that_has_no_effect_or_can_never_be_met) {
  const auto a = with_undo_none(step("a"));
  const auto b = with_undo_none(step("b"));
  EXPECT_EQ(problems_of({joined(step("a"), 1)}), std::vector<std::string>{"a.join: the step needs no other step, so join has no effect"});
  EXPECT_EQ(problems_of({a, b, joined(step("c", {"a", "b"}), 3)}),
            std::vector<std::string>{"c.join: 3 is not between 1 and 2, the number of steps that it needs"});
  for (const std::uint32_t count : {1U, 2U})
    EXPECT_EQ(problems_of({a, b, joined(step("c", {"a", "b"}), count)}), std::vector<std::string>{});
}

TEST(workflow_join, wants_to_know_how_what_it_leaves_over_is_undone) {
  const auto a = step("a");
  const auto b = undoable(step("b", {"a"}));
  const auto c = undoable(step("c"));
  const std::vector<std::string> a_lacks{"a.undo: a join may leave this step over, so it needs an undo"};
  EXPECT_EQ(problems_of({a, b, c, joined(step("d", {"b", "c"}), 1)}), a_lacks) << "it goes with the branch behind it";
  EXPECT_EQ(problems_of({a, b, c, joined(step("d", {"b", "c"}), 2)}), std::vector<std::string>{}) << "nothing is left over";
  EXPECT_EQ(problems_of({a, b, c, joined(step("d", {"b", "c"}), 1), step("e", {"a"})}), std::vector<std::string>{})
      << "another step needs it";
  EXPECT_EQ(problems_of({a, b, c, joined(with_undo_none(step("d", {"b", "c"})), 1), undoable(step("e")), joined(step("f", {"d", "e"}), 1)}),
            a_lacks)
      << "a join may be left over by another one";
}

TEST(workflow_join, leaves_no_pivot_over) {
  auto pivot = with_undo_none(step("a"));
  pivot.set_pivot(true);
  const auto b = undoable(step("b"));
  EXPECT_EQ(problems_of({pivot, b, joined(step("c", {"a", "b"}), 1)}),
            std::vector<std::string>{"a.pivot: a join may leave this step over, and a pivot is never undone"});
  EXPECT_EQ(problems_of({pivot, b, joined(step("c", {"a", "b"}), 2)}), std::vector<std::string>{});
  auto last = joined(with_undo_none(step("c", {"a", "b"})), 1);
  last.set_pivot(true);
  EXPECT_EQ(problems_of({undoable(step("a")), b, last}), std::vector<std::string>{}) << "a pivot may have a join";
}

TEST(workflow_join, lets_any_kind_of_step_say_what_follows_its_failure) {
  v1::StepDefinition value;
  value.set_name("c");
  value.set_kind(v1::STEP_KIND_VALUE);
  value.set_with_json("1");
  value.mutable_undo()->set_none(true);
  value.add_needs("a");
  value.add_needs("b");
  value.set_on_failure(v1::ON_FAILURE_CONTINUE);
  const auto a = with_undo_none(step("a"));
  const auto b = with_undo_none(step("b"));
  EXPECT_EQ(problems_of({a, b, value}).size(), 1U) << "it cannot fail";
  value.set_join(1);
  EXPECT_EQ(problems_of({a, b, value}), std::vector<std::string>{});
}

TEST(workflow_join, counts_what_is_completed) {
  struct row {
    const char* states;
    std::uint32_t wanted, completed, open;
  };
  const row rows[] = {{"pppp", 2, 0, 3}, {"rcpp", 2, 1, 2}, {"scpp", 2, 1, 1}, {"sscp", 1, 1, 0}, {"sssp", 0, 0, 0},
                      {"ocdp", 2, 1, 1}, {"oofp", 2, 0, 1}, {"ccCp", 2, 2, 0}, {"ccSp", 2, 2, 0}};
  for (const auto& [states, wanted, completed, open] : rows) {
    const auto now = of(two_of_three(), states);
    const auto count = count_of_join(*now.definition, now.record, 3);
    EXPECT_EQ(count.wanted, wanted) << states;
    EXPECT_EQ(count.completed, completed) << states;
    EXPECT_EQ(count.open, open) << states;
  }
}

TEST(workflow_join, says_what_starts_what_is_dropped_and_what_can_never_start) {
  struct row {
    const char* states;
    indices ready, dropped, unmet;
    bool over;
  };
  const row rows[] = {{"pppp", {0, 1, 2}, {}, {}, false}, {"crrp", {}, {}, {}, false},        {"ccrp", {3}, {2}, {}, false},
                      {"ccRp", {3}, {}, {}, false},       {"oorp", {}, {}, {3}, false},       {"ocrp", {}, {}, {}, false},
                      {"ccCc", {}, {}, {}, false},        {"ccSc", {}, {}, {}, true},         {"ccFc", {}, {}, {}, true},
                      {"ccDc", {}, {}, {}, false},        {"sssp", {3}, {2, 1, 0}, {}, false}};
  for (const auto& [states, ready, dropped, unmet, over] : rows) {
    const auto next = next_of(two_of_three(), states);
    EXPECT_EQ(next.ready, ready) << states;
    EXPECT_EQ(next.dropped, dropped) << states;
    EXPECT_EQ(next.unmet, unmet) << states;
    EXPECT_EQ(next.over, over) << states;
  }
}

TEST(workflow_join, drops_a_branch_as_far_as_nothing_else_needs_it) {
  const std::vector<v1::StepDefinition> steps{undoable(step("base")), undoable(step("draft", {"base"})), undoable(step("slow", {"draft"})),
                                              undoable(step("quick", {"base"})), joined(step("take", {"slow", "quick"}), 1)};
  const auto next = next_of(steps, "ccrcp");
  EXPECT_EQ(next.dropped, (indices{2, 1})) << "those behind it first, and not what the other branch needs";
  const auto now = of(steps, "cCRcr");
  EXPECT_EQ(join_without(*now.definition, now.record, 1), 4U);
  EXPECT_EQ(join_without(*now.definition, now.record, 2), 4U);
  next_steps undo;
  declarative_engine{}.next_dropped(*now.definition, now.record, undo);
  EXPECT_EQ(undo.ready, indices{}) << "what needs it is performed still";
  EXPECT_FALSE(undo.over);
  const auto later = of(steps, "cCCcr");
  declarative_engine{}.next_dropped(*later.definition, later.record, undo);
  EXPECT_EQ(undo.ready, indices{2});
}

TEST(workflow_join, lets_a_pivot_wait_for_what_is_dropped) {
  auto pivot = joined(with_undo_none(step("pay", {"a", "b"})), 1);
  pivot.set_pivot(true);
  const std::vector<v1::StepDefinition> steps{undoable(step("a")), undoable(step("b")), pivot};
  EXPECT_EQ(next_of(steps, "cRp").ready, indices{});
  EXPECT_EQ(next_of(steps, "cCp").ready, indices{});
  EXPECT_EQ(next_of(steps, "cSp").ready, indices{2});
  EXPECT_EQ(next_of(steps, "cFp").ready, indices{2});
}

}  // namespace
}  // namespace fairlead::core::testing
