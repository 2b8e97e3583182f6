#pragma once
// A folder with a workflow file, and test files that are read beside it.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "app/expressions/answer.hpp"
#include "app/workflow_test/command.hpp"

namespace fairlead::app {

/// Two steps in a row, a decision between them, and a signal.
inline constexpr const char* order_workflow = R"(workflow: order
timeout: 1h
on_failure: undo
steps:
  reserve:
    agent: inventory
    call: reserve
    with: { order: "${ .task.id }" }
    timeout: 5s
    attempts: 3
    backoff: { first: 1s, factor: 1 }
    undo: { call: release }
  approval:
    needs: reserve
    when: "${ .input.amount > 100 }"
    signal: approve
    timeout: 10m
  charge:
    needs: approval
    agent: payment
    call: charge
    with: { amount: "${ .input.amount }" }
    timeout: 30s
    attempts: 2
    backoff: { first: 1s, factor: 1 }
    undo: none
    pivot: true
)";

/// As the worker process, but here.
inline v1::EvaluateReply evaluate_here(const v1::EvaluateRequest& request) {
  static program_cache programs{expression_programs_kept, [] {}};
  v1::EvaluateReply out;
  out.ParseFromString(answer_request(request.SerializeAsString(), programs).value_or(""));
  return out;
}

class workflow_test_folder : public ::testing::Test {
 protected:
  workflow_test_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "workflow_test.XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    write("order.yaml", order_workflow);
  }
  ~workflow_test_folder() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    const auto path = folder_ + "/" + name;
    std::ofstream{path} << text;
    return path;
  }
  test_file parsed(const std::string& text) const { return parse_test_file(folder_ + "/order.test.yaml", text); }
  /// The only case of a file without problems.
  case_result run_one(const std::string& of_case) const {
    auto file = parsed("test: order.yaml\ncases:\n" + of_case);
    for (const auto& one : file.problems) ADD_FAILURE() << to_text(one);
    auto run = run_test_file(std::move(file), evaluate_here);
    return run.cases.empty() ? case_result{} : run.cases.front();
  }
  /// `2:3 expect.end: expected completed, was undone`, one for each failure.
  static std::vector<std::string> failures(const case_result& of) {
    std::vector<std::string> out;
    for (const auto& one : of.failures)
      out.push_back(std::to_string(one.at.line) + ":" + std::to_string(one.at.column) + " " + (one.where.empty() ? "" : one.where + ": ") +
                    one.sentence + (one.remedy.empty() ? "" : "; " + one.remedy));
    return out;
  }

  std::string folder_;
};

}  // namespace fairlead::app
