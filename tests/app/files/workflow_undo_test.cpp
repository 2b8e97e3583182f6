// The keys of a workflow file that say how a step is undone.

#include <gtest/gtest.h>

#include "app/files/workflow_file.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

// The undo begins on line 4.
workflow_file with_undo(const std::string& undo, const std::string& more = {}) {
  return parse_workflow("w.yaml", "workflow: w\nsteps:\n  a: { agent: x, call: y, " + more + "\n    undo: " + undo + " }\n", nullptr);
}

TEST(workflow_file, reads_that_a_step_is_undone_although_it_has_failed) {
  const std::pair<const char*, bool> table[] = {{"{ call: z }", false},
                                                {"{ call: z, also_if_failed: false }", false},
                                                {"{ call: z, also_if_failed: true }", true},
                                                {R"({ call: z, with: { of: "${ .task.id }" }, also_if_failed: true })", true}};
  for (const auto& [undo, also] : table) {
    const auto file = with_undo(undo);
    EXPECT_EQ(shown(file.problems), lines{}) << undo;
    EXPECT_EQ(file.definition.steps(0).undo().also_if_failed(), also) << undo;
  }
}

TEST(workflow_file, shows_what_is_wrong_with_the_undo_of_a_failed_step_at_its_key) {
  const std::pair<const char*, const char*> table[] = {
      {"{ call: z, also_if_failed: perhaps }", "4:38: steps.a.undo.also_if_failed: expected true or false, found \"perhaps\""},
      {"{ also_if_failed: true }", "4:11: steps.a.undo.call: the call of the agent is missing"},
      {"{ call: z, also_if_faild: true }", "4:22: steps.a.undo.also_if_faild: this key is not known here; did you mean also_if_failed?"},
      {"{ call: z, also_if_failed: true, with: { id: \"${ .steps.a.id }\" } }",
       "4:50: steps.a.undo.with: with also_if_failed the undo cannot read its own step: a step that has failed has no output; read only "
       "what is known before the step, such as ${ .task.id }, or remove also_if_failed"}};
  for (const auto& [undo, found] : table) EXPECT_EQ(shown(with_undo(undo).problems), lines{found}) << undo;
}

TEST(workflow_file, refuses_an_undo_of_failed_steps_where_nothing_is_undone) {
  EXPECT_EQ(shown(with_undo("{ call: z, also_if_failed: true }", "pivot: true,").problems),
            lines{"4:11: steps.a.undo: a pivot is never undone; set undo: none"});
  EXPECT_EQ(
      shown(with_undo("{ call: z, also_if_failed: true }", "repeat: { until: \"${ .steps.a.done }\" },").problems),
      lines{"4:11: steps.a.undo: what the rounds of a repeated step have done is not undone; set undo: none, and undo it in a step of "
            "its own"});
  const auto file =
      parse_workflow("w.yaml", "workflow: w\nsteps:\n  a: { wait: 10m,\n    undo: { call: z, also_if_failed: true } }\n", nullptr);
  EXPECT_EQ(shown(file.problems), lines{"4:5: steps.a.undo: a step that waits has nothing to undo; remove undo, or set undo: none"});
}

}  // namespace
}  // namespace fairlead::app
