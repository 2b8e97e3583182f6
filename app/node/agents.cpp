#include "app/node/agents.hpp"

#include <algorithm>
#include <utility>

#include "actors/agents/exec/exec.hpp"
#include "actors/agents/http/http.hpp"
#include "actors/core/text/nearest.hpp"

namespace fairlead::app {

namespace {

template <class Made>
result<std::shared_ptr<agents::backend>> any_backend(Made made) {
  if (!made) return made.failure();
  return std::shared_ptr<agents::backend>{std::move(*made)};
}

result<std::shared_ptr<agents::backend>> make_backend(agents::http_agent_config agent, const backend_needs& needs) {
  agent.secrets = needs.secrets;
  return any_backend(agents::make_http_backend(std::move(agent)));
}

result<std::shared_ptr<agents::backend>> make_backend(agents::exec_agent_config agent, const backend_needs& needs) {
  agent.secrets = needs.secrets;
  agents::exec_options options;
  if (!needs.program.empty()) options.shepherd = needs.program;
  return any_backend(agents::make_exec_backend(std::move(agent), std::move(options)));
}

result<std::shared_ptr<agents::backend>> make_backend(const native_agent_section& agent, const backend_needs& needs) {
  auto made = needs.native(agent);
  if (made) return made;
  auto failure = made.failure();
  failure.sentence = needs.file + ":" + std::to_string(agent.line) + ":" + std::to_string(agent.column) + ": agents." + agent.name +
                     ".handler: " + failure.sentence;
  return failure;
}

}  // namespace

result<std::vector<local_agent>> make_agents(const std::vector<agent_section>& sections, const backend_needs& needs) {
  std::vector<local_agent> out;
  for (const auto& section : sections) {
    const auto make = [section, needs] { return std::visit([&](const auto& agent) { return make_backend(agent, needs); }, section); };
    auto backend = make();
    if (!backend) return backend.failure();
    std::visit(
        [&](const auto& agent) {
          out.push_back({agent.name, std::string{kind_of(section)}, std::move(*backend), agent.settings, needs.secrets, make});
        },
        section);
  }
  return out;
}

status check_limits(const std::vector<local_agent>& agents) {
  for (const auto& agent : agents) {
    const auto calls = agent.backend->calls();
    for (const auto& limit : agent.settings.limits) {
      if (limit.call().empty() || std::find(calls.begin(), calls.end(), limit.call()) != calls.end()) continue;
      const auto close = core::nearest(limit.call(), calls);
      return error{v1::ERROR_CODE_INVALID_ARGUMENT,
                   "agent " + agent.name + " has a limit for call " + limit.call() + ", but it has no such call",
                   close.empty() ? "remove the limit" : "did you mean " + close + "?"};
    }
  }
  return nothing{};
}

}  // namespace fairlead::app
