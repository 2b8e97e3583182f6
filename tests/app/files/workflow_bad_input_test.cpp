// Files that are made to be slow or large to read. Each has about the size that a file may have.

#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "app/files/workflow_file.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

using namespace std::chrono_literals;

// A fault here costs minutes; a slow machine under a sanitizer takes less than this.
constexpr auto bound = 20s;

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

std::string numbered(int count, const std::function<std::string(int)>& line) {
  std::string out;
  for (int i = 0; i < count; ++i) out += line(i);
  return out;
}

workflow_file quickly(const std::string& text) {
  const auto begin = std::chrono::steady_clock::now();
  auto out = parse_workflow("w.yaml", text, nullptr);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, bound);
  return out;
}

const std::string one_step = "workflow: w\nsteps:\n  a: { agent: x, call: y, with: ";

TEST(workflow_bad_input, a_file_that_is_too_large_is_refused_as_such) {
  EXPECT_EQ(shown(quickly("workflow: w\n" + std::string(1'048'576, '#')).problems), lines{"the file is larger than 1 MiB"});
}

TEST(workflow_bad_input, a_text_of_almost_a_megabyte_is_the_definition_that_is_too_large) {
  EXPECT_EQ(shown(quickly(one_step + "\"" + std::string(1'040'000, 'x') + "\" }\n").problems), lines{});
  const auto twice = quickly("workflow: w\nsteps:\n  a: { agent: x, call: y, with: &a \"" + std::string(600'000, 'x') +
                             "\" }\n  b: { agent: x, call: y, with: *a }\n");
  ASSERT_EQ(twice.problems.size(), 1U);
  EXPECT_NE(twice.problems[0].sentence.find("bytes; at most 1048576 are allowed"), std::string::npos) << twice.problems[0].sentence;
}

TEST(workflow_bad_input, ten_thousand_steps_are_too_many) {
  const auto file =
      quickly("workflow: w\nsteps:\n" + numbered(10'000, [](int i) { return "  s" + std::to_string(i) + ": { agent: x, call: y }\n"; }));
  EXPECT_EQ(shown(file.problems), lines{"2:1: steps: there are 10000 steps; at most 1000 are allowed; split the workflow"});
}

TEST(workflow_bad_input, ten_thousand_steps_behind_one_whose_needs_cannot_be_read_take_no_longer) {
  const auto file = quickly(
      "workflow: w\nsteps:\n" +
      numbered(10'000,
               [](int i) { return "  s" + std::to_string(i) + ": { needs: s" + std::to_string(i + 1) + ", agent: x, call: y }\n"; }) +
      "  s10000: { need: 1, agent: x, call: y }\n");
  ASSERT_EQ(file.problems.size(), 2U);
  EXPECT_EQ(file.problems[1].sentence, "this key is not known here");
}

TEST(workflow_bad_input, what_is_nested_too_deep_is_refused_where_it_is) {
  for (const auto& text :
       {one_step + repeated("[", 1'000) + repeated("]", 1'000) + " }\n", one_step + repeated("{a: ", 1'000),
        "workflow: w\nsteps:\n" + numbered(1'000, [](int i) { return std::string(static_cast<std::size_t>(i) + 1, ' ') + "k:\n"; }),
        "workflow: w\nsteps:\n  a:\n    with:\n     " + repeated(" - ", 100'000)}) {
    const auto file = quickly(text);
    ASSERT_EQ(file.problems.size(), 1U) << text.substr(0, 100);
    EXPECT_EQ(file.problems[0].sentence, "the values are nested more than 64 deep");
    EXPECT_GT(file.problems[0].line, 0);
  }
  EXPECT_EQ(quickly(one_step + repeated("[", 200'000)).problems.size(), 1U);
}

TEST(workflow_bad_input, aliases_that_multiply_count_as_often_as_they_are_used) {
  std::string laughs = "workflow: w\nx0: &x0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 12; ++i) {
    const auto last = "*x" + std::to_string(i - 1);
    laughs += "x" + std::to_string(i) + ": &x" + std::to_string(i) + " [" + last + repeated(", " + last, 8) + "]\n";
  }
  for (const auto& text : {laughs + "steps: { a: { agent: x, call: y, with: *x11 } }\n",
                           one_step + "[&a \"" + std::string(100'000, 'x') + "\"" + repeated(", *a", 100'000) + "] }\n",
                           one_step + "[&a 1" + repeated(", *a", 200'000) + "] }\n"}) {
    const auto file = quickly(text);
    ASSERT_EQ(file.problems.size(), 1U);
    EXPECT_EQ(file.problems[0].sentence, "there are more than 100000 values (aliased values count at each use)");
  }
}

TEST(workflow_bad_input, of_very_many_problems_the_first_hundred_are_listed) {
  const auto file = quickly("workflow: w\nsteps:\n" + numbered(9'000, [](int i) {
                              return "  s" + std::to_string(i) + ": { ned: s" + std::to_string(i + 1) + ", agent: x, call: y }\n";
                            }));
  ASSERT_EQ(file.problems.size(), 101U);
  EXPECT_EQ(shown({file.problems[100]}), lines{"there are 8900 more problems; correct these first, and check the file again"});
  EXPECT_EQ(file.problems[99].line, 102);
}

TEST(workflow_bad_input, long_keys_around_many_values_are_not_repeated_for_each_of_them) {
  constexpr int deep = 40;
  const auto file = quickly(one_step + repeated("{ " + std::string(1'000, 'x') + ": ", deep) + "[" + repeated("07, ", 10'000) + "07]" +
                            repeated(" }", deep) + " }\n");
  ASSERT_EQ(file.problems.size(), 101U);
  EXPECT_EQ(file.problems[100].sentence, "there are 9901 more problems");
  std::size_t bytes = 0;
  for (const auto& one : file.problems) bytes += to_text(one).size();
  EXPECT_LT(bytes, 101U * 64 * 256);
}

TEST(workflow_bad_input, a_name_that_fills_the_file_is_not_repeated_for_each_problem_of_its_step) {
  const auto file = quickly("workflow: w\nsteps:\n  ? " + std::string(300'000, 'a') + "\n  : { agent: x, call: y, retry: [" +
                            repeated("{ on: a*b }, ", 15) + "{ on: b*c }] }\n");
  ASSERT_EQ(file.problems.size(), 1U);
  EXPECT_EQ(file.problems[0].where, "steps." + std::string(256, 'a') + "…");
  EXPECT_LT(to_text(file.problems[0]).size(), 1'000U);
}

TEST(workflow_bad_input, five_hundred_steps_are_read_at_once) {
  std::string text = "workflow: w\non_failure: undo\nsteps:\n";
  for (int i = 0; i < 500; ++i) {
    const auto needs =
        i == 0 ? std::string{} : "needs: [s" + std::to_string(i - 1) + (i > 30 ? ", s" + std::to_string(i - 30) : "") + "], ";
    text += "  s" + std::to_string(i) + ": { " + needs +
            "agent: x, call: y, with: { n: \"${ .input.items[0].sku }\", of: \"${ .task.id }\" }, backoff: { first: 1s }, undo: { call: z "
            "} }\n";
  }
  EXPECT_EQ(shown(quickly(text).problems), lines{});
}

TEST(workflow_bad_input, what_is_certain_about_values_is_found_with_its_line) {
  EXPECT_EQ(
      shown(parse_workflow("w.yaml", R"(workflow: w
timeout: 1d
input: { type: object, properties: { amount_cents: { type: integer } }, additionalProperties: false }
steps:
  a:
    when: "${ false }"
    agent: x
    call: y
    with:
      amount: "${ .input.amount_cent }"
  b:
    wait: 2d
)",
                           nullptr)
                .problems),
      (lines{"6:11: steps.a.when: this is always false, so the step can never run; remove the step, or give an expression that may be true",
             "9:5: steps.a.with: an expression reads .input.amount_cent, which the schema of the input does not allow; did you mean "
             "amount_cents?",
             "12:11: steps.b.wait: the task waits for 2d until this step is over, but its timeout is 1d; raise timeout of the workflow, or "
             "shorten the waits"}));
}

}  // namespace
}  // namespace fairlead::app
