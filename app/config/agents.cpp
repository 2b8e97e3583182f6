#include <array>

#include "app/config/parts.hpp"

namespace fairlead::app {

namespace {

constexpr std::int64_t most_native_concurrency = 4'096;

}  // namespace

void read_native(const std::string& name, yaml_section& section, node_config& out) {
  native_agent_section agent;
  agent.name = name;
  if (const auto handler = section.require("handler", "the name of a handler that is compiled in")) {
    agent.line = handler->line();
    agent.column = handler->column();
    if (const auto text = handler->text()) agent.handler = *text;
  }
  section.integer("concurrency", agent.concurrency, 1, most_native_concurrency);
  read_agent_settings(section, agent.settings);
  out.native_agents.push_back(std::move(agent));
}

void read_agents(const yaml_node& node, node_config& out) {
  for (const auto& [name, agent] : node.entries()) {
    if (!core::valid_agent_name(name)) agent.complain("expected a name: a letter, then letters, digits, _, . and -; at most 64 in all");
    yaml_section section{agent};
    if (!agent.is_map()) continue;
    const auto kind = section.require("kind", "http, native or exec");
    // Without a kind the rest cannot be checked.
    if (!kind) continue;
    const auto index = kind->word({"http", "native", "exec"});
    if (!index) continue;
    constexpr std::array readers{read_http, read_native, read_exec};
    readers[*index](name, section, out);
    section.finish();
  }
}

}  // namespace fairlead::app
