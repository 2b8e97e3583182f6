// Workflow files and the worker that is a copy of the process which reads them. The worker behind it is the binary named by
// FAIRLEAD_EXPRESSION_WORKER.

#include "app/expressions/workflow_expressions.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <future>
#include <string>
#include <vector>

#include "app/expressions/answer.hpp"
#include "app/expressions/worker.hpp"
#include "tests/app/problems.hpp"
#include "tests/app/workflow_test/test_folder.hpp"

namespace fairlead::app {
namespace {

using lines = std::vector<std::string>;

expression_pool_options options(std::chrono::milliseconds limit = std::chrono::seconds{20}) {
  expression_pool_options out;
  if (const auto* path = std::getenv("FAIRLEAD_EXPRESSION_WORKER")) out.executable = path;
  out.time_limit = limit;
  return out;
}

/// The only result, or the error's sentence.
std::string evaluate(expression_pool& pool, const std::string& expression) {
  v1::EvaluateRequest request;
  request.set_ticket(1);
  request.add_expressions(expression);
  request.set_document("{}");
  std::promise<v1::EvaluateReply> promise;
  pool.evaluate(std::move(request), [&promise](v1::EvaluateReply reply) { promise.set_value(std::move(reply)); });
  const auto reply = promise.get_future().get();
  return reply.has_error() ? reply.error().sentence() : reply.results(0);
}

struct workflow_expressions : workflow_test_folder {
  static lines told(const workflow_file& file) {
    lines out;
    for (const auto& one : file.problems) out.push_back(to_text(one));
    return out;
  }
};

TEST_F(workflow_expressions, are_told_at_their_places_as_by_a_worker_of_its_own) {
  const auto path = write("many.yaml", R"(workflow: many
steps:
  a: { agent: x, call: y, with: { n: "${ .input.n + 1 }", m: "${ .input.n | map }" } }
  b: { agent: x, call: y, with: "${ def f: 1; f }" }
  c: { agent: x, call: y, with: "${ .input.n | length(1) }" }
  d: { agent: x, call: y, when: "${ .input.n as $x | $x > 1 }", with: "${ .input.a.b }" }
  e: { agent: x, call: y, with: "${ .input.n | 1 / 0 }" }
)");
  auto alone = read_workflow(path, nullptr);
  expression_pool one{options()}, other{options()};
  check_expressions(alone, one);
  const auto together = read_with_expressions(path, nullptr, other);
  EXPECT_EQ(told(together), told(alone));
  ASSERT_EQ(together.problems.size(), 3U);
  EXPECT_NE(told(together)[0].find("many.yaml:3:"), std::string::npos) << told(together)[0];
  EXPECT_NE(told(together)[1].find("many.yaml:5:"), std::string::npos) << told(together)[1];
  EXPECT_NE(told(together)[2].find("many.yaml:7:"), std::string::npos) << told(together)[2];
}

TEST_F(workflow_expressions, of_plain_paths_and_of_no_file_need_no_worker) {
  expression_pool pool{options()};
  const auto paths = write("paths.yaml", "workflow: paths\nsteps:\n  a: { agent: x, call: y, with: { n: \"${ .input.n }\" } }\n");
  EXPECT_EQ(told(read_with_expressions(paths, nullptr, pool)), lines{});
  EXPECT_EQ(read_with_expressions(folder_ + "/none.yaml", nullptr, pool).problems.size(), 1U);
  EXPECT_EQ(pool.worker_pid(), 0);
}

TEST(likely_expressions, are_those_of_jq_as_they_are_written) {
  const auto found = guess_expressions(R"(a: "${ .input.n + 1 }"
b: "${ .input.n }"
c: ${ {a: 1, b: {c: .input.x}} | length }
d: '${ "a}b" | length }'
e: "${ .input.x as $x | $x }"
f: "${ \"quoted\" | length }"
g: "${ .input.never + )");
  EXPECT_TRUE(found.some);
  EXPECT_EQ(found.known, (lines{".input.n + 1", "{a: 1, b: {c: .input.x}} | length", "\"a}b\" | length"}));
  EXPECT_FALSE(guess_expressions("a: ${ .input.n }, b: ${ .steps.x[0] }, c: none").some);
}

TEST(compiled_ahead, is_what_would_compile_when_it_is_asked_for) {
  const auto compile_together = [](const lines& ahead, const lines& asked) {
    program_cache programs{expression_programs_kept, [] {}};
    programs.compile_ahead({ahead.begin(), ahead.end()});
    return programs.are_sound({asked.begin(), asked.end()});
  };
  EXPECT_TRUE(compile_together({"1 + 1", ".input.a | length"}, {".input.a | length", "1 + 1"}));
  EXPECT_TRUE(compile_together({"1 + 1"}, {"2 + 2", "1 + 1"}));
  EXPECT_FALSE(compile_together({"1 + 1"}, {"1 + 1", "length(1)"}));
  EXPECT_FALSE(compile_together({"1 + 1", "length(1)"}, {"1 + 1", "length(1)"})) << "one at fault proves nothing of the others";
  EXPECT_FALSE(compile_together({}, {"map", "1"}));
}

TEST(copied_worker, answers_all_requests_and_is_replaced_when_it_ends) {
  auto given = options();
  expression_pool pool{given};
  pool.start_copy([] { return run_expression_worker(); });
  const auto copy = pool.worker_pid();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(evaluate(pool, "1 + " + std::to_string(i)), std::to_string(i + 1));
  if (copy == 0) GTEST_SKIP() << "a build with sanitizers makes no copies";
  EXPECT_EQ(pool.worker_pid(), copy);
  EXPECT_NE(evaluate(pool, "{} | .a[1e9] = 1").find(" needed more than 512 MiB of memory: evaluation stopped"), std::string::npos);
  EXPECT_EQ(evaluate(pool, "2 + 2"), "4");
  EXPECT_NE(pool.worker_pid(), copy);
}

TEST(copied_worker, has_the_time_limit_of_every_worker) {
  expression_pool pool{options(std::chrono::milliseconds{200})};
  pool.start_copy([] { return run_expression_worker(); });
  EXPECT_NE(evaluate(pool, "[limit(1; range(1e12) | select(. < 0))]").find(" took longer than 200ms: evaluation stopped"),
            std::string::npos);
  EXPECT_EQ(evaluate(pool, "2 + 2"), "4");
}

TEST(copied_worker, that_never_was_asked_ends_with_the_pool) {
  int copy = 0;
  {
    expression_pool pool{options()};
    pool.start_copy([] { return run_expression_worker(); });
    copy = pool.worker_pid();
  }
  if (copy == 0) GTEST_SKIP() << "a build with sanitizers makes no copies";
  EXPECT_EQ(::kill(copy, 0), -1);
}

}  // namespace
}  // namespace fairlead::app
