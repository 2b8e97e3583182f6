#include "app/simulate/contract.hpp"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "messages/time.hpp"

namespace fairlead::app::simulate {

namespace {

contract contract_of(const agents::http_call& call) {
  contract out;
  out.valid_for_ms = call.idempotency.valid_for_ms;
  out.replays_errors = call.idempotency.replays_errors;
  out.looks_up = call.lookup.has_value();
  if (!call.lookup) return out;
  const auto& rules = call.lookup->rules;
  out.denies = !call.lookup->never_happened.empty() || std::any_of(rules.begin(), rules.end(), [](const agents::http_rule& one) {
    return one.is == agents::http_meaning::never_happened;
  });
  return out;
}

contract contract_of(const agents::exec_call& call) {
  contract out;
  out.valid_for_ms = call.key_valid_for_ms;
  out.looks_up = out.denies = call.lookup.has_value();
  return out;
}

template <class Agent>
concept has_calls = requires(const Agent& agent) {
  agent.calls;
};

}  // namespace

std::string words_of(const contract& what) {
  std::string out = what.honours_keys ? "honours Idempotency-Key " : "does not honour Idempotency-Key";
  if (what.honours_keys) out += what.valid_for_ms == 0 ? "for ever" : "for " + format_duration(what.valid_for_ms);
  if (what.replays_errors) out += ", repeats errors under the same key";
  return out + (!what.looks_up ? ", no look-up" : what.denies ? ", look-up" : ", look-up that never says never_happened");
}

void contracts::read(const node_config& node) {
  const auto add = [this](const auto& agent) {
    if constexpr (has_calls<std::decay_t<decltype(agent)>>) {
      for (const auto& [name, call] : agent.calls) {
        auto& made = calls_[{agent.name, name}] = contract_of(call);
        made.declared = true;
      }
    }
  };
  for (const auto& agent : node.agents) std::visit(add, agent);
}

void contracts::without_keys(const std::string& agent, const std::string& call) { calls_[{agent, call}].honours_keys = false; }

contract contracts::of(const std::string& agent, const std::string& call) const {
  const auto found = calls_.find({agent, call});
  return found == calls_.end() ? contract{} : found->second;
}

std::vector<v1::CallPolicy> contracts::policies_of(const std::string& agent) const {
  std::vector<v1::CallPolicy> out;
  for (const auto& [name, one] : calls_) {
    if (name.first != agent || one.valid_for_ms == 0) continue;
    auto& policy = out.emplace_back();
    policy.set_call(name.second);
    policy.set_key_valid_for_ms(one.valid_for_ms);
  }
  return out;
}

std::vector<std::string> contracts::lookups_of(const std::string& agent) const {
  std::vector<std::string> out;
  for (const auto& [name, one] : calls_)
    if (name.first == agent && one.looks_up) out.push_back(name.second);
  return out;
}

}  // namespace fairlead::app::simulate
