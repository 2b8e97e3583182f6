// The agents of a node file as catalogs for checks of workflows.

#include <algorithm>

#include "app/config/config.hpp"

namespace fairlead::app {

namespace {

template <class Agent>
concept lists_calls = requires(const Agent& agent) {
  agent.calls;
};

}  // namespace

core::agent_catalog catalog_of(const node_config& config) {
  core::agent_catalog out;
  const auto add = [&out](const auto& agent) {
    auto& calls = out[agent.name];
    if constexpr (lists_calls<decltype(agent)>) {
      calls.emplace();
      for (const auto& [name, call] : agent.calls) calls->insert(name);
    }
  };
  for (const auto& agent : config.agents) std::visit(add, agent);
  return out;
}

core::lookup_catalog lookups_of(const node_config& config) {
  std::set<std::pair<std::string, std::string>> known;
  std::set<std::string> unknown;
  const auto add = [&](const auto& agent) {
    if constexpr (lists_calls<decltype(agent)>) {
      for (const auto& [name, call] : agent.calls)
        if (call.lookup) known.emplace(agent.name, name);
    } else {
      unknown.insert(agent.name);
    }
  };
  for (const auto& agent : config.agents) std::visit(add, agent);
  return [known = std::move(known), unknown = std::move(unknown)](const std::string& agent, const std::string& call) {
    return unknown.count(agent) != 0 || known.count({agent, call}) != 0;
  };
}

core::label_catalog labels_of(const node_config& config) {
  std::map<std::string, std::vector<v1::Label>> labels;
  const auto add = [&labels](const auto& agent) { labels.emplace(agent.name, agent.settings.labels); };
  for (const auto& agent : config.agents) std::visit(add, agent);
  return [labels = std::move(labels)](const std::string& agent, const google::protobuf::RepeatedPtrField<v1::Label>& wanted) {
    const auto found = labels.find(agent);
    if (found == labels.end()) return true;
    return std::all_of(wanted.begin(), wanted.end(), [&](const v1::Label& one) {
      return std::any_of(found->second.begin(), found->second.end(),
                         [&one](const v1::Label& has) { return has.key() == one.key() && has.value() == one.value(); });
    });
  };
}

}  // namespace fairlead::app
