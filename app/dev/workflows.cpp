#include "app/dev/workflows.hpp"

#include <filesystem>
#include <utility>

#include "app/cli/screen/table.hpp"
#include "app/cli/words.hpp"
#include "app/dev/agent.hpp"
#include "app/dev/proposal.hpp"
#include "app/expressions/workflow_expressions.hpp"
#include "app/files/deploy_order.hpp"
#include "app/yaml/reader.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t shown_version = 12;

std::string hex_of(const std::string& bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const auto c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += digits[byte >> 4U];
    out += digits[byte & 15U];
  }
  return out;
}

std::string short_name(const std::string& path) { return std::filesystem::path{path}.filename().string(); }

/// Folders of workflows often hold node files too.
bool is_node_file(const std::string& path, const std::string& text) {
  auto document = parse_yaml(path, text);
  if (!document.root) return false;
  bool node = false;
  for (const auto& entry : document.root->entries) {
    if (entry.key == "workflow") return false;
    node = node || entry.key == "node";
  }
  return node;
}

std::string joined(const std::set<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

}  // namespace

dev_workflows::dev_workflows(node_runtime& node, client& to, core::agent_catalog provided, std::shared_ptr<const scripts> told, sayer say)
    : node_(node), client_(to), provided_(std::move(provided)), told_(std::move(told)), say_(std::move(say)) {}

bool dev_workflows::provided(const std::string& agent, const std::string& call) const {
  const auto found = provided_.find(agent);
  return found != provided_.end() && (!found->second || found->second->count(call) != 0);
}

/// Each new call goes to an additional instance, so running instances are not disturbed.
status dev_workflows::add_agents(const v1::WorkflowDefinition& definition) {
  std::map<std::string, std::set<std::string>> wanted;
  const auto want = [&](const std::string& agent, const std::string& call) {
    if (!provided(agent, call) && scripted_[agent].count(call) == 0) wanted[agent].insert(call);
  };
  for (const auto& step : definition.steps()) {
    if (step.kind() != v1::STEP_KIND_CALL) continue;
    want(step.agent(), step.call());
    if (step.has_undo() && !step.undo().none()) want(step.agent(), step.undo().call());
  }
  for (const auto& [name, calls] : wanted) {
    given_agent agent;
    agent.name = name;
    agent.settings.breaker.set_off(true);  // scripted agents fail on purpose
    agent.stands_in = true;                // until whoever writes the agent tries it
    for (const auto& step : definition.steps())
      if (step.agent() == name)
        for (const auto& label : step.labels()) agent.settings.labels.push_back(label);
    agent.make = [name = name, calls = calls, this](std::uint32_t) -> result<std::shared_ptr<agents::backend>> {
      return make_scripted_backend(name, {calls.begin(), calls.end()}, told_);
    };
    const auto number = ++instances_[name];
    if (auto added = node_.add_agent(agent, number == 1 ? name : name + "." + std::to_string(number)); !added.ok()) return added;
    scripted_[name].insert(calls.begin(), calls.end());
    say_("agent " + name + ": scripted, " + (calls.size() == 1 ? "call " : "calls ") + joined(calls));
  }
  return nothing{};
}

void dev_workflows::take(const std::vector<watched_files::change>& changes) {
  std::vector<workflow_file> files;
  std::vector<v1::WorkflowDefinition> definitions;
  for (const auto& change : changes) {
    if (change.gone) {
      forget(change.path);
      continue;
    }
    auto file = read(change);
    if (!file) continue;
    definitions.push_back(file->definition);
    files.push_back(std::move(*file));
  }
  for (const auto one : deploy_order(definitions)) deploy(files[one]);
}

void dev_workflows::forget(const std::string& path) {
  const auto known = workflow_of_.find(path);
  if (known == workflow_of_.end()) return say_(short_name(path) + ": deleted");
  say_(short_name(path) + ": deleted; workflow " + known->second + " keeps the version that was deployed before");
  workflow_of_.erase(known);
}

std::optional<workflow_file> dev_workflows::read(const watched_files::change& change) {
  const auto name = short_name(change.path);
  if (is_node_file(change.path, change.text)) {
    say_(name + ": ignored, because it is a node file");
    return std::nullopt;
  }
  auto file = parse_workflow(change.path, change.text, nullptr);
  check_expressions(file, expressions_);
  if (file.problems.empty()) return file;
  for (const auto& one : file.problems) say_(printable(to_text(one)));
  const auto count = file.problems.size();
  say_(name + ": not deployed, " + (count == 1 ? "one problem" : std::to_string(count) + " problems"));
  return std::nullopt;
}

void dev_workflows::deploy(const workflow_file& file) {
  const auto name = short_name(file.file);
  const auto& workflow = file.definition.name();
  for (const auto& [path, other] : workflow_of_)
    if (other == workflow && path != file.file)
      say_(name + ": warning: workflow " + workflow + " is also in " + short_name(path) + "; the file that was deployed last is used");
  if (const auto added = add_agents(file.definition); !added.ok())
    return say_(name + ": not deployed: " + printable(added.failure().sentence));
  v1::DeployRequest request;
  *request.mutable_definition() = file.definition;
  request.set_source(file.source);
  const auto reply = client_.deploy(request);
  if (!reply)
    return say_(name + ": not deployed: " +
                printable(reply.failure().sentence + (reply.failure().remedy.empty() ? "" : "; " + reply.failure().remedy)));
  workflow_of_[file.file] = workflow;
  proposals_[workflow] = proposed_input(file.definition);
  say_(name + ": " + (reply->created() ? "deployed" : "unchanged") + " (workflow " + workflow + ", version " +
       hex_of(reply->content_hash()).substr(0, shown_version) + ")");
  for (const auto& warning : reply->warnings()) say_(name + ": warning: " + printable(warning));
}

std::map<std::string, std::string> dev_workflows::proposals() const {
  std::map<std::string, std::string> out;
  for (const auto& entry : workflow_of_) out[entry.second] = proposals_.at(entry.second);
  return out;
}

std::set<std::string> dev_workflows::idle_scripts() const {
  std::set<std::string> out;
  for (const auto& entry : *told_) {
    const auto found = scripted_.find(entry.first.first);
    if (found == scripted_.end() || found->second.count(entry.first.second) == 0) out.insert(entry.first.first + "." + entry.first.second);
  }
  return out;
}

}  // namespace fairlead::app
