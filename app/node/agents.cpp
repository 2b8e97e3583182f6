#include "app/node/agents.hpp"

#include <algorithm>
#include <utility>

#include "actors/agents/exec/exec.hpp"
#include "actors/agents/http/http.hpp"
#include "actors/core/text/nearest.hpp"
#include "app/node/native_handlers.hpp"

namespace fairlead::app {

namespace {

/// The agent with its first backend; `make` gives it another one when it has to be started again.
result<local_agent> first_of(std::string name, std::string kind, const agents::agent_settings& settings,
                             std::shared_ptr<const agents::secrets> secrets,
                             std::function<result<std::shared_ptr<agents::backend>>()> make) {
  auto backend = make();
  if (!backend) return backend.failure();
  return local_agent{std::move(name), std::move(kind), std::move(*backend), settings, std::move(secrets), std::move(make)};
}

/// What a maker of one kind of backend gives, as a backend of any.
template <class Made>
result<std::shared_ptr<agents::backend>> any_backend(Made made) {
  if (!made) return made.failure();
  return std::shared_ptr<agents::backend>{std::move(*made)};
}

}  // namespace

result<std::vector<local_agent>> make_agents(const node_config& config, std::shared_ptr<const agents::secrets> secrets,
                                             const std::string& program) {
  std::vector<local_agent> out;
  if (!config.agent_role) return out;
  for (auto section : config.http_agents) {
    section.secrets = secrets;
    auto agent =
        first_of(section.name, "http", section.settings, secrets, [section] { return any_backend(agents::make_http_backend(section)); });
    if (!agent) return agent.failure();
    out.push_back(std::move(*agent));
  }
  for (auto section : config.exec_agents) {
    section.secrets = secrets;
    auto agent = first_of(section.name, "exec", section.settings, secrets, [section, program] {
      agents::exec_options options;
      if (!program.empty()) options.shepherd = program;
      return any_backend(agents::make_exec_backend(section, std::move(options)));
    });
    if (!agent) return agent.failure();
    out.push_back(std::move(*agent));
  }
  for (const auto& section : config.native_agents) {
    auto agent = first_of(section.name, "native", section.settings, secrets,
                          [section] { return any_backend(make_native_handler(section.handler, section.concurrency)); });
    if (!agent) {
      auto failure = agent.failure();
      failure.sentence = config.file + ":" + std::to_string(section.line) + ":" + std::to_string(section.column) + ": agents." +
                         section.name + ".handler: " + failure.sentence;
      return failure;
    }
    out.push_back(std::move(*agent));
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
