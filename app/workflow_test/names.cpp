#include "app/workflow_test/names.hpp"

#include <algorithm>

#include "actors/core/text/nearest.hpp"

namespace fairlead::app {

namespace {

void add_once(std::vector<std::string>& to, std::string name) {
  if (std::find(to.begin(), to.end(), name) == to.end()) to.push_back(std::move(name));
}

bool contains(const std::vector<std::string>& all, const std::string& name) { return std::find(all.begin(), all.end(), name) != all.end(); }

}  // namespace

workflow_names::workflow_names(const v1::WorkflowDefinition& definition) : definition_(&definition) {
  for (const auto& step : definition.steps()) {
    steps_.push_back(step.name());
    if (!step.signal().empty()) add_once(signals_, step.signal());
    if (step.kind() != v1::STEP_KIND_CALL) continue;
    add_once(calls_, step.agent() + "." + step.call());
    if (step.callback_ms() != 0) add_once(callback_calls_, step.agent() + "." + step.call());
    if (step.has_undo() && !step.undo().none()) add_once(calls_, step.agent() + "." + step.undo().call());
  }
}

const v1::StepDefinition* workflow_names::step(const std::string& name) const {
  const auto& all = definition_->steps();
  const auto found = std::find_if(all.begin(), all.end(), [&](const v1::StepDefinition& one) { return one.name() == name; });
  return found == all.end() ? nullptr : &*found;
}

bool workflow_names::has_call(const std::string& key) const { return contains(calls_, key); }
bool workflow_names::has_callback(const std::string& call) const { return contains(callback_calls_, call); }

bool workflow_names::check_step(const yaml_node& node, const std::string& name) const {
  if (contains(steps_, name)) return true;
  node.complain("workflow " + definition_->name() + " has no step " + name, names_remedy(name, steps_, "steps"));
  return false;
}

bool workflow_names::check_signal(const yaml_node& node, const std::string& name) const {
  if (contains(signals_, name)) return true;
  node.complain("no step of workflow " + definition_->name() + " waits for a signal " + name, names_remedy(name, signals_, "signals"));
  return false;
}

yaml_node at_key(const yaml_node& map, std::size_t index, yaml_node value) {
  const auto& entry = map.value().entries[index];
  value.move_to(entry.line, entry.column);
  return value;
}

std::string names_remedy(const std::string& unknown, const std::vector<std::string>& known, const std::string& what) {
  constexpr std::size_t most = 20;
  if (const auto near = core::nearest(unknown, known); !near.empty()) return "did you mean " + near + "?";
  if (known.empty()) return "it has no " + what;
  auto out = "its " + what + " are ";
  for (std::size_t i = 0; i < known.size() && i < most; ++i) out += (i == 0 ? "" : ", ") + known[i];
  return out + (known.size() > most ? ", …" : "");
}

}  // namespace fairlead::app
