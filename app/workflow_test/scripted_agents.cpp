#include "app/workflow_test/scripted_agents.hpp"

#include <algorithm>

namespace fairlead::app {

scripted_agents::scripted_agents(const test_file& of, const test_case& what)
    : own_(lines_of(what.agents)), shared_(lines_of(of.agents)), definition_(of.workflow.definition) {}

std::map<std::string, scripted_agents::line> scripted_agents::lines_of(const std::vector<answer_script>& scripts) {
  std::map<std::string, line> out;
  for (const auto& one : scripts) out[one.key].script = &one;
  return out;
}

scripted_agents::line* scripted_agents::find(const std::string& key) {
  if (const auto own = own_.find(key); own != own_.end()) return &own->second;
  const auto shared = shared_.find(key);
  return shared == shared_.end() ? nullptr : &shared->second;
}

scripted_agents::line* scripted_agents::find_step(const rehearsed_attempt& what, const std::string& of) {
  const auto key = of + what.step;
  if (what.item)
    if (auto* own = find(key + "[" + std::to_string(*what.item) + "]")) return own;
  return find(key);
}

template <class Script>
Script scripted_agents::next_of(line& from, const std::vector<Script>& all, const rehearsed_attempt& what) {
  auto& given = from.given[from.script->step.empty() ? std::nullopt : what.item];
  return all[std::min(given++, all.size() - 1)];
}

result<rehearsed_answer> scripted_agents::answer(const rehearsed_attempt& what) {
  const auto call = what.agent + "." + what.call;
  const auto undo = what.direction == v1::DIRECTION_UNDO, lookup = what.direction == v1::DIRECTION_LOOKUP;
  const std::string of = undo ? undo_of : lookup ? lookup_of : "";
  const auto key = of + what.step;
  auto* found = find_step(what, of);
  if (found == nullptr && !lookup) found = find(call);
  if (found != nullptr) return next_of(*found, found->script->answers, what);
  const auto step = (what.item ? "item " + std::to_string(*what.item) + " of step " : "step ") + what.step;
  const auto does = undo ? "the undo of " + step + " calls " : lookup ? step + " is looked up at " : step + " calls ";
  return error{
      v1::ERROR_CODE_NOT_FOUND, does + call + ", and nothing says what that is answered",
      "add an answer below agents, such as " + (lookup ? key + ": { verdict: unknown }" : (undo ? key : call) + ": { output: {} }")};
}

bool scripted_agents::looks_up(std::string_view agent, std::string_view call) const {
  const auto& steps = definition_.steps();
  return std::any_of(steps.begin(), steps.end(), [&](const v1::StepDefinition& one) {
    const auto says = [&](const auto& all) {
      return std::any_of(all.begin(), all.end(),
                         [&](const auto& each) { return each.second.script->step == one.name() && each.first.rfind(lookup_of, 0) == 0; });
    };
    return one.agent() == agent && one.call() == call && (says(own_) || says(shared_));
  });
}

rehearsed_child scripted_agents::child(const rehearsed_attempt& what) {
  auto* found = find_step(what, {});
  return found == nullptr ? rehearsed_child{} : next_of(*found, found->script->children, what);
}

std::vector<scripted_agents::unused_script> scripted_agents::unused() const {
  std::vector<unused_script> out;
  for (const auto& [key, one] : own_) {
    std::size_t given = 0;
    for (const auto& [item, times] : one.given) given = std::max(given, times);
    if (given < one.script->size()) out.push_back({one.script, given});
  }
  return out;
}

}  // namespace fairlead::app
