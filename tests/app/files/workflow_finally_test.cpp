// Steps of the end in a workflow file: what they may have, need and read.

#include <gtest/gtest.h>

#include "app/files/workflow_file.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

/// `end`: the keys of the step `unlock`, which stands in line 4.
workflow_file with_end(const std::string& end, const std::string& more = "") {
  return parse_workflow("w.yaml",
                        "workflow: w\nsteps:\n  work: { agent: a, call: work }\n  unlock: { agent: a, call: unlock, " + end + " }\n" + more,
                        nullptr);
}

lines problems_with(const std::string& end, const std::string& more = "") { return shown(with_end(end, more).problems); }

TEST(workflow_finally, is_read_and_says_that_there_is_nothing_to_undo) {
  const auto file = with_end("finally: true", "  tell: { finally: after_failure, with: 1 }\non_failure: undo\n");
  EXPECT_EQ(
      shown(file.problems),
      lines{"3:9: steps.work.undo: the workflow has on_failure: undo, so each step needs an undo; add undo: { call: … }, or undo: none"});
  EXPECT_EQ(file.definition.steps(0).finally(), v1::FINALLY_NO);
  EXPECT_EQ(file.definition.steps(1).finally(), v1::FINALLY_ALWAYS);
  EXPECT_TRUE(file.definition.steps(1).undo().none());
  EXPECT_EQ(file.definition.steps(2).finally(), v1::FINALLY_AFTER_FAILURE);
  EXPECT_EQ(problems_with("finally: never"), lines{"4:46: steps.unlock.finally: expected true or after_failure, found \"never\""});
}

TEST(workflow_finally, has_nothing_that_would_change_the_end) {
  EXPECT_EQ(problems_with("finally: true, in_doubt: park, attempts: 3, when: \"${ .input.lock }\", undo: none"), lines{});
  for (const auto* key : {"pivot: true", "undo: { call: lock }", "on_failure: park", "cool_off: 1m"}) {
    const auto found = problems_with(std::string{"finally: true, "} + key);
    ASSERT_EQ(found.size(), 1U) << key;
    EXPECT_NE(found[0].find("steps.unlock." + std::string{key}.substr(0, std::string{key}.find(':')) + ": a step of the end"),
              std::string::npos)
        << found[0];
  }
}

TEST(workflow_finally, needs_only_its_like_and_is_needed_by_them_alone) {
  EXPECT_EQ(problems_with("finally: true", "  log: { finally: true, needs: unlock, with: 1 }\n"), lines{});
  EXPECT_EQ(problems_with("finally: true", "  log: { finally: after_failure, needs: unlock, with: 1 }\n"), lines{});
  EXPECT_EQ(problems_with("finally: after_failure", "  log: { finally: true, needs: unlock, with: 1 }\n"),
            lines{"5:32: steps.log.needs: unlock is performed only after a failure, and then after this step; remove unlock from needs"});
  EXPECT_EQ(problems_with("finally: true, needs: work"),
            lines{"4:59: steps.unlock.needs: a step of the end comes after work anyway; remove work from needs"});
  EXPECT_EQ(problems_with("finally: true", "  log: { needs: unlock, with: 1 }\n"),
            lines{"5:17: steps.log.needs: unlock is performed at the end of the task, after this step; remove unlock from needs"});
}

TEST(workflow_finally, reads_all_that_comes_before_it) {
  EXPECT_EQ(problems_with("finally: true, with: { end: \"${ .task.end }\", w: \"${ .steps.work }\", e: \"${ .errors }\" }",
                          "  tell: { finally: after_failure, with: \"${ .status.unlock }\" }\n"),
            lines{});
  const auto side_by_side = problems_with("finally: true", "  log: { finally: true, with: \"${ .steps.unlock }\" }\n");
  ASSERT_EQ(side_by_side.size(), 1U);
  EXPECT_NE(side_by_side[0].find("may not have ended when this step starts"), std::string::npos) << side_by_side[0];
}

TEST(workflow_finally, no_other_step_reads_it_or_how_the_task_ends) {
  const auto reads = [](const std::string& expression) {
    return problems_with("finally: true", "  log: { with: \"${ " + expression + " }\" }\n");
  };
  EXPECT_EQ(reads(".steps.unlock"),
            lines{"5:16: steps.log.with: an expression reads step \"unlock\", which is performed at the end of the task"});
  for (const auto* end : {".task.end", ".task.end | length"})
    EXPECT_EQ(reads(end), lines{"5:16: steps.log.with: an expression reads .task.end, which is known only at the end of a task; read it in "
                                "a step with finally: true"})
        << end;
  EXPECT_EQ(problems_with("finally: true", "output: \"${ .steps.unlock }\"\n"), lines{});
  EXPECT_EQ(problems_with("finally: after_failure", "output: \"${ .steps.unlock }\"\n"),
            lines{"5:9: output: an expression reads step \"unlock\", which is not performed in a task that completes"});
}

TEST(workflow_finally, is_no_step_that_the_task_goes_on_without) {
  EXPECT_EQ(problems_with("finally: true", "end: failed\n"),
            lines{"5:6: end: no on_failure here is continue, so end: failed has no effect"});
}

}  // namespace
}  // namespace fairlead::app
