#include "app/workflow_test/scripted_agents.hpp"

#include <algorithm>

namespace fairlead::app {

scripted_agents::scripted_agents(const test_file& of, const test_case& what)
    : own_(lines_of(what.agents)), shared_(lines_of(of.agents)), definition_(of.workflow.definition) {}

std::map<std::string, scripted_agents::line> scripted_agents::lines_of(const std::vector<answer_script>& scripts) {
  std::map<std::string, line> out;
  for (const auto& one : scripts) out[one.key] = {&one, 0};
  return out;
}

scripted_agents::line* scripted_agents::find(const std::string& key) {
  if (const auto own = own_.find(key); own != own_.end()) return &own->second;
  const auto shared = shared_.find(key);
  return shared == shared_.end() ? nullptr : &shared->second;
}

result<rehearsed_answer> scripted_agents::answer(const rehearsed_attempt& what) {
  const auto call = what.agent + "." + what.call;
  const auto undo = what.direction == v1::DIRECTION_UNDO, lookup = what.direction == v1::DIRECTION_LOOKUP;
  const auto key = (undo ? undo_of : lookup ? lookup_of : "") + what.step;
  auto* found = find(key);
  if (found == nullptr && !lookup) found = find(call);
  if (found != nullptr) {
    const auto& answers = found->script->answers;
    const auto& out = answers[std::min(found->given, answers.size() - 1)];
    ++found->given;
    return out;
  }
  const auto does = undo     ? "the undo of step " + what.step + " calls "
                    : lookup ? "step " + what.step + " is looked up at "
                             : "step " + what.step + " calls ";
  return error{
      v1::ERROR_CODE_NOT_FOUND, does + call + ", and nothing says what that is answered",
      "add an answer below agents, such as " + (lookup ? key + ": { verdict: unknown }" : (undo ? key : call) + ": { output: {} }")};
}

bool scripted_agents::looks_up(std::string_view agent, std::string_view call) const {
  const auto& steps = definition_.steps();
  return std::any_of(steps.begin(), steps.end(), [&](const v1::StepDefinition& one) {
    const auto key = lookup_of + one.name();
    return one.agent() == agent && one.call() == call && (own_.count(key) != 0 || shared_.count(key) != 0);
  });
}

rehearsed_child scripted_agents::child(const rehearsed_attempt& what) {
  auto* found = find(what.step);
  if (found == nullptr) return {};
  const auto& children = found->script->children;
  const auto& out = children[std::min(found->given, children.size() - 1)];
  ++found->given;
  return out;
}

std::vector<scripted_agents::unused_script> scripted_agents::unused() const {
  std::vector<unused_script> out;
  for (const auto& [key, one] : own_)
    if (one.given < one.script->size()) out.push_back({one.script, one.given});
  return out;
}

}  // namespace fairlead::app
