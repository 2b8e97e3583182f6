#include "app/workflow_test/command.hpp"

#include <chrono>
#include <fstream>
#include <future>
#include <memory>
#include <utility>

#include "app/cli/problems.hpp"
#include "app/expressions/workflow_expressions.hpp"

namespace fairlead::app {

namespace {

/// The worker is a process of its own: an expression that never ends, or takes too much memory, fails its case and nothing else.
virtual_run::evaluator evaluator_of(expression_pool& worker) {
  return [&worker](const v1::EvaluateRequest& request) {
    std::promise<v1::EvaluateReply> answered;
    worker.evaluate(request, [&answered](v1::EvaluateReply reply) { answered.set_value(std::move(reply)); });
    return answered.get_future().get();
  };
}

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream out{path, std::ios::binary | std::ios::trunc};
  out << text;
  out.close();
  return !out.fail();
}

struct wanted_tests {
  std::vector<std::string> paths;
  std::string junit;
  bool verbose = false;
};

void run_tests(cli_context& context, const wanted_tests& wanted) {
  expression_pool worker;
  std::vector<file_result> files;
  std::vector<problem> problems;
  for (const auto& path : wanted.paths) {
    auto file = read_test_file(path);
    if (file.problems.empty()) {
      check_expressions(file.workflow, worker);
      file.problems = file.workflow.problems;
    }
    files.push_back(run_test_file(std::move(file), evaluator_of(worker)));
    problems.insert(problems.end(), files.back().problems.begin(), files.back().problems.end());
  }
  print(context, context.json ? test_json(files) : test_text(files, wanted.verbose));
  if (!wanted.junit.empty() && !write_file(wanted.junit, test_junit(files)))
    context.code = fail({v1::ERROR_CODE_DISK, "file " + wanted.junit + " cannot be written", "check its folder and the room on the disk"});
  else if (!problems.empty())
    context.code = fail_with(problems);
  else if (failed_cases(files) != 0)
    context.code = exit_failed;
}

}  // namespace

file_result run_test_file(test_file file, const virtual_run::evaluator& evaluate) {
  file_result out;
  out.file = file.file;
  out.workflow = file.workflow.definition.name();
  out.problems = std::move(file.problems);
  if (!out.problems.empty()) return out;
  const auto compiled = core::workflow::compile(file.workflow.definition, "rehearsed");
  if (!compiled.ok()) {
    out.problems.push_back({file.workflow.file, 0, 0, "", compiled.failure().sentence, compiled.failure().remedy});
    return out;
  }
  for (const auto& one : file.cases) {
    const auto began = std::chrono::steady_clock::now();
    out.cases.push_back(run_case(file, one, *compiled, evaluate));
    out.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  }
  return out;
}

void add_workflow_test(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("test", "Test workflows without a node: rehearse the cases of test files in virtual time");
  auto wanted = std::make_shared<wanted_tests>();
  command->add_option("FILE", wanted->paths, "Test files, such as order.test.yaml")->required();
  command->add_option("--junit", wanted->junit, "Also write the results to a file as JUnit XML")->type_name("OUT.xml");
  command->add_flag("--verbose", wanted->verbose, "Show what has happened in every case, not only in those that fail");
  add_json_option(*command, context);
  command->callback([&context, wanted] { run_tests(context, *wanted); });
}

}  // namespace fairlead::app
