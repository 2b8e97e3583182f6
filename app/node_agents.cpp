#include "app/node_agents.hpp"

#include <algorithm>
#include <utility>

#include "actors/agents/exec.hpp"
#include "actors/agents/http.hpp"
#include "actors/core/nearest.hpp"
#include "app/native_handlers.hpp"

namespace fairlead::app {

result<std::vector<local_agent>> make_agents(const node_config& config, std::shared_ptr<const agents::secrets> secrets,
                                             const std::string& program) {
  std::vector<local_agent> out;
  if (!config.agent_role) return out;
  for (auto section : config.http_agents) {
    section.secrets = secrets;
    auto backend = agents::make_http_backend(section);
    if (!backend) return backend.failure();
    out.push_back({section.name, "http", std::move(*backend), section.settings, secrets});
  }
  for (auto section : config.exec_agents) {
    section.secrets = secrets;
    agents::exec_options options;
    if (!program.empty()) options.shepherd = program;
    auto backend = agents::make_exec_backend(section, std::move(options));
    if (!backend) return backend.failure();
    out.push_back({section.name, "exec", std::move(*backend), section.settings, secrets});
  }
  for (const auto& section : config.native_agents) {
    auto backend = make_native_handler(section.handler, section.concurrency);
    if (!backend) {
      auto failure = backend.failure();
      failure.sentence = config.file + ":" + std::to_string(section.line) + ":" + std::to_string(section.column) + ": agents." +
                         section.name + ".handler: " + failure.sentence;
      return failure;
    }
    out.push_back({section.name, "native", std::move(*backend), section.settings, secrets});
  }
  return out;
}

status check_limits(const std::vector<local_agent>& agents) {
  for (const auto& agent : agents) {
    const auto calls = agent.backend->calls();
    for (const auto& limit : agent.settings.limits) {
      if (limit.call().empty() || std::find(calls.begin(), calls.end(), limit.call()) != calls.end()) continue;
      const auto close = core::nearest(limit.call(), calls);
      return error{v1::ERROR_CODE_INVALID_ARGUMENT, "agent " + agent.name + " has a limit for call " + limit.call() + ", which it has not",
                   close.empty() ? "take the limit out" : "did you mean " + close + "?"};
    }
  }
  return nothing{};
}

}  // namespace fairlead::app
