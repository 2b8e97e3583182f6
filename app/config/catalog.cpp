// The agents of a node file as catalogs for checks of workflows.

#include <algorithm>

#include "app/config/config.hpp"

namespace fairlead::app {

namespace {

template <class Calls>
std::set<std::string> names_of(const Calls& calls) {
  std::set<std::string> out;
  for (const auto& call : calls) out.insert(call.first);
  return out;
}

}  // namespace

core::agent_catalog catalog_of(const node_config& config) {
  core::agent_catalog out;
  for (const auto& agent : config.http_agents) out.emplace(agent.name, names_of(agent.calls));
  for (const auto& agent : config.exec_agents) out.emplace(agent.name, names_of(agent.calls));
  for (const auto& agent : config.native_agents) out.emplace(agent.name, std::nullopt);
  return out;
}

core::lookup_catalog lookups_of(const node_config& config) {
  std::set<std::pair<std::string, std::string>> known;
  std::set<std::string> unknown;
  for (const auto& agent : config.native_agents) unknown.insert(agent.name);
  for (const auto& agent : config.http_agents)
    for (const auto& [name, call] : agent.calls)
      if (call.lookup) known.emplace(agent.name, name);
  for (const auto& agent : config.exec_agents)
    for (const auto& [name, call] : agent.calls)
      if (call.lookup) known.emplace(agent.name, name);
  return [known = std::move(known), unknown = std::move(unknown)](const std::string& agent, const std::string& call) {
    return unknown.count(agent) != 0 || known.count({agent, call}) != 0;
  };
}

core::label_catalog labels_of(const node_config& config) {
  std::map<std::string, std::vector<v1::Label>> labels;
  for (const auto& agent : config.native_agents) labels.emplace(agent.name, agent.settings.labels);
  for (const auto& agent : config.http_agents) labels.emplace(agent.name, agent.settings.labels);
  for (const auto& agent : config.exec_agents) labels.emplace(agent.name, agent.settings.labels);
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
