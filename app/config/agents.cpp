#include <iterator>

#include "actors/core/reserved.hpp"
#include "app/config/parts.hpp"

namespace fairlead::app {

namespace {

constexpr std::int64_t most_native_concurrency = 4'096;

agent_section read_native(const std::string& name, yaml_section& section, node_config&) {
  native_agent_section agent;
  agent.name = name;
  if (const auto handler = section.require("handler", "the name of a handler that is compiled in")) {
    agent.line = handler->line();
    agent.column = handler->column();
    if (const auto text = handler->text()) agent.handler = *text;
  }
  section.integer("concurrency", agent.concurrency, 1, most_native_concurrency);
  read_agent_settings(section, agent.settings);
  return agent;
}

/// One row for each kind, in the order of agent_section's alternatives.
struct agent_kind {
  const char* word;
  agent_section (*read)(const std::string& name, yaml_section& section, node_config& out);
};
constexpr agent_kind kinds[] = {{"http", read_http}, {"native", read_native}, {"exec", read_exec}};
static_assert(std::size(kinds) == std::variant_size_v<agent_section>);

}  // namespace

std::string_view kind_of(const agent_section& agent) { return kinds[agent.index()].word; }

void read_agents(const yaml_node& node, node_config& out) {
  for (const auto& [name, agent] : node.entries()) {
    if (!core::valid_agent_name(name)) agent.complain("expected a name: a letter, then letters, digits, _, . and -; at most 64 in all");
    if (name == core::operations_agent) agent.complain("this is the name of an agent that each node has already", "give it another name");
    yaml_section section{agent};
    if (!agent.is_map()) continue;
    const auto kind = section.require("kind", "http, native or exec");
    // Without a kind the rest cannot be checked.
    if (!kind) continue;
    std::vector<std::string> words;
    for (const auto& one : kinds) words.push_back(one.word);
    const auto index = kind->word(words);
    if (!index) continue;
    out.agents.push_back(kinds[*index].read(name, section, out));
    section.finish();
  }
}

}  // namespace fairlead::app
