#include "app/simulate/command.hpp"

#include <algorithm>
#include <future>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "app/cli/json_argument.hpp"
#include "app/cli/problems.hpp"
#include "app/config/config.hpp"
#include "app/expressions/workflow_expressions.hpp"
#include "app/files/workflow_file.hpp"
#include "app/simulate/campaign.hpp"
#include "app/simulate/report.hpp"
#include "app/workflow_test/test_file.hpp"

namespace fairlead::app {

namespace simulate {

namespace {

constexpr std::size_t most_remembered = 50'000;  // evaluations

/// The worker is a process of its own. Runs ask it the same again and again, so its answers are kept.
std::function<v1::EvaluateReply(const v1::EvaluateRequest&)> evaluator_of(const std::shared_ptr<expression_pool>& worker) {
  auto known = std::make_shared<std::unordered_map<std::string, v1::EvaluateReply>>();
  return [worker, known](const v1::EvaluateRequest& request) {
    v1::EvaluateRequest asked;
    *asked.mutable_expressions() = request.expressions();
    asked.set_document(request.document());
    const auto key = asked.SerializeAsString();
    if (const auto found = known->find(key); found != known->end()) return found->second;
    std::promise<v1::EvaluateReply> answered;
    worker->evaluate(request, [&answered](v1::EvaluateReply reply) { answered.set_value(std::move(reply)); });
    auto reply = answered.get_future().get();
    if (known->size() < most_remembered && reply.error().code() != v1::ERROR_CODE_UNAVAILABLE) (*known)[key] = reply;
    return reply;
  };
}

problem of_option(const std::string& option, const std::string& sentence, const std::string& remedy) {
  return {option, 0, 0, "", sentence, remedy};
}

void note_calls(const stage& on, std::vector<std::string>& out) {
  const auto note = [&](const std::string& agent, const std::string& call) {
    const auto name = agent + "." + call;
    if (!call.empty() && !on.promised.of(agent, call).declared && std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  };
  for (const auto& workflow : on.workflows)
    for (const auto& step : workflow.steps()) {
      if (step.kind() != v1::STEP_KIND_CALL) continue;
      note(step.agent(), step.call());
      note(step.agent(), step.undo().call());
    }
}

void run_simulation(cli_context& context, const wanted_simulation& wanted) {
  const auto worker = std::make_shared<expression_pool>();
  auto made = prepare(wanted, [&](workflow_file& file) { check_expressions(file, *worker); });
  if (!made.problems.empty()) {
    context.code = fail_with(made.problems);
    return;
  }
  made.on.evaluate = evaluator_of(worker);
  if (const auto done = deploy(made.on); !done.ok()) {
    context.code = fail(done.failure());
    return;
  }
  bool clean = true;
  if (wanted.seed != 0) {
    const auto run = world{made.on, wanted.seed, nullptr, true}.run();
    clean = judge(made.on, run).empty();
    print(context, context.json ? run_json(made.on, wanted.seed, run) : run_text(made.on, wanted.seed, run));
  } else {
    report out{wanted.file, run_campaign(made.on, {wanted.seeds, wanted.first_seed, true}), made.undeclared, made.notices, wanted.verbose};
    if (const auto& ends = out.result.endings; ends.size() == 1 && ends.front().word == "refused") {
      context.code = fail({v1::ERROR_CODE_INVALID_ARGUMENT, "no task could be simulated: " + ends.front().why,
                           "give an input that a node takes: --input JSON, or --values with a test file"});
      return;
    }
    clean = out.result.findings.empty();
    print(context, context.json ? report_json(out) : report_text(out));
  }
  if (!clean) context.code = exit_failed;
}

}  // namespace

prepared_stage prepare(const wanted_simulation& wanted, const std::function<void(workflow_file&)>& check) {
  prepared_stage out;
  std::optional<core::agent_catalog> agents;
  if (!wanted.agents.empty()) {
    const auto node = read_node_config(wanted.agents);
    out.problems = node.problems;
    if (node.problems.empty()) {
      agents = catalog_of(node.config);
      out.on.promised.read(node.config);
    }
  }
  auto paths = wanted.with;
  paths.insert(paths.begin(), wanted.file);
  for (const auto& path : paths) {
    auto file = read_workflow(path, agents ? &*agents : nullptr);
    if (check) check(file);
    out.problems.insert(out.problems.end(), file.problems.begin(), file.problems.end());
    const auto& name = file.definition.name();
    if (file.problems.empty() && !out.on.values.emplace(name, samples{file.definition}).second)
      out.problems.push_back({path, 0, 0, "", "workflow " + name + " is in two files", "give each workflow once"});
    out.on.workflows.push_back(std::move(file.definition));
  }
  std::optional<test_file> values;
  if (!wanted.values.empty()) {
    values = read_test_file(wanted.values);
    out.problems.insert(out.problems.end(), values->problems.begin(), values->problems.end());
    const auto& tested = values->workflow.definition.name();
    if (const auto& simulated = out.on.workflows.front().name(); out.problems.empty() && tested != simulated)
      out.problems.push_back(of_option("--values", "it tests workflow " + tested + ", and workflow " + simulated + " is simulated",
                                       "give a test file of " + simulated));
  }
  std::string input;
  if (!wanted.input.empty()) {
    if (const auto given = read_json_argument(wanted.input, "The input"); given.ok())
      input = *given;
    else
      out.problems.push_back(of_option("--input", given.failure().sentence, given.failure().remedy));
  }
  for (const auto& call : wanted.without_keys) {
    const auto dot = call.find('.');
    const auto agent = call.substr(0, dot), name = dot == std::string::npos ? std::string{} : call.substr(dot + 1);
    bool used = false;
    for (const auto& workflow : out.on.workflows)
      for (const auto& step : workflow.steps())
        used = used || (step.agent() == agent && (step.call() == name || step.undo().call() == name));
    if (!used || name.empty())
      out.problems.push_back(of_option("--without-keys", call + " is no call of the workflow", "write AGENT.CALL, as in payment.charge"));
    else
      out.on.promised.without_keys(agent, name);
  }
  if (!out.problems.empty()) return out;
  auto& first = out.on.values.at(out.on.workflows.front().name());
  if (values) first.read(*values);
  if (!input.empty()) first.give_input(input);
  for (const auto& workflow : out.on.workflows)
    for (const auto& step : workflow.steps())
      if (step.kind() == v1::STEP_KIND_WORKFLOW && out.on.definition_of(step.workflow()) == nullptr)
        out.notices.push_back("step " + step.name() + " of workflow " + workflow.name() + " begins workflow " + step.workflow() +
                              ", which is not there: the step fails (no_workflow). Give its file with --with.");
  note_calls(out.on, out.undeclared);
  return out;
}

}  // namespace simulate

void add_workflow_simulate(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand(
      "simulate", "Simulate a workflow without a node: thousands of tasks in bad weather, judged by what their services have done");
  auto wanted = std::make_shared<simulate::wanted_simulation>();
  command->add_option("FILE", wanted->file, "The workflow file")->required();
  command->add_option("--with", wanted->with, "More workflow files, for steps that begin other workflows")->type_name("FILE");
  command->add_option("--agents", wanted->agents, "A node file: its agents say what the services promise")->type_name("NODE.yaml");
  command->add_option("--values", wanted->values, "A test file of the workflow: inputs and outputs are taken from it")
      ->type_name("FILE.test.yaml");
  command->add_option("--input", wanted->input, "The input of all tasks: JSON, @FILE, or @- for standard input")->type_name("JSON");
  command->add_option("--without-keys", wanted->without_keys, "A call whose service does not honour Idempotency-Key")
      ->type_name("AGENT.CALL");
  command->add_option("--seeds", wanted->seeds, "How many runs (default 1000)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{10'000'000}));
  command->add_option("--from", wanted->first_seed, "The seed of the first run (default 1)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 62));
  auto* const seed = command->add_option("--seed", wanted->seed, "Only this run, told in full")
                         ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 62));
  seed->excludes("--seeds")->excludes("--from");
  command->add_flag("--verbose", wanted->verbose, "Show the whole story of each ending, not only what went wrong");
  add_json_option(*command, context);
  command->callback([&context, wanted] { simulate::run_simulation(context, *wanted); });
}

}  // namespace fairlead::app
