#include "app/node/setup.hpp"

#include <algorithm>

#include <caf/all.hpp>
#include <caf/io/all.hpp>

#include "actors/core/cluster/hello.hpp"
#include "actors/protocol/meta_objects.hpp"
#include "app/node/agents.hpp"

namespace fairlead::app {

namespace {

bool same_name(const std::vector<local_agent>& agents, const std::string& name) {
  return std::any_of(agents.begin(), agents.end(), [&](const local_agent& one) { return one.name == name; });
}

}  // namespace

caf_config::caf_config() {
  init_meta_objects(*this);
  load<caf::io::middleman>();
  set("scheduler.policy", caf::atom("sharing"));
  set("logger.verbosity", caf::atom("quiet"));
  set("middleman.heartbeat-interval", caf::timespan{std::chrono::milliseconds{500}});
  set("middleman.connection-timeout", caf::timespan{std::chrono::seconds{2}});
}

void caf_config::pass_through(const std::vector<std::pair<std::string, std::string>>& settings) {
  for (const auto& [name, text] : settings)
    if (auto value = caf::config_value::parse(text)) set(name, std::move(*value));
}

result<local_agent> made(const given_agent& given, const std::string& name, std::uint32_t capacity,
                         const agents::agent_settings& settings) {
  auto backend = given.make(capacity);
  if (!backend) {
    auto failure = backend.failure();
    failure.sentence = "agent " + name + ": " + failure.sentence;
    return failure;
  }
  local_agent out;
  out.name = name;
  out.kind = "native";
  out.backend = std::move(*backend);
  out.settings = settings;
  out.make = [make = given.make, capacity] { return make(capacity); };
  return out;
}

result<std::vector<local_agent>> all_agents(const node_config& config, const std::vector<given_agent>& given,
                                            const std::shared_ptr<const agents::secrets>& secrets, const std::string& program) {
  auto others = config;
  std::vector<local_agent> with_given_handlers;
  std::vector<bool> named(given.size(), false);
  others.native_agents.clear();
  for (const auto& section : config.native_agents) {
    const auto found = std::find_if(given.begin(), given.end(), [&](const given_agent& one) { return one.name == section.handler; });
    if (found == given.end()) {
      others.native_agents.push_back(section);
      continue;
    }
    named[static_cast<std::size_t>(found - given.begin())] = true;
    auto agent = made(*found, section.name, section.concurrency, section.settings);
    if (!agent) return agent.failure();
    with_given_handlers.push_back(std::move(*agent));
  }
  auto out = make_agents(others, secrets, program);
  if (!out) return out.failure();
  if (config.agent_role) std::move(with_given_handlers.begin(), with_given_handlers.end(), std::back_inserter(*out));
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (named[i]) continue;
    if (same_name(*out, given[i].name))
      return error{v1::ERROR_CODE_INVALID_ARGUMENT, "there are two agents named " + given[i].name,
                   "rename one of them, or use the handler in the node file: kind: native, handler: " + given[i].name};
    auto agent = made(given[i], given[i].name, given[i].capacity, given[i].settings);
    if (!agent) return agent.failure();
    out->push_back(std::move(*agent));
  }
  for (auto& agent : *out) agent.secrets = secrets;
  if (const auto sound = check_limits(*out); !sound.ok()) return sound.failure();
  return out;
}

v1::Hello hello_of(const node_config& config) {
  v1::Hello out;
  out.set_protocol(core::protocol_version);
  out.set_least_protocol(core::least_protocol_version);
  out.set_cluster(config.cluster);
  out.set_node(config.name);
  out.set_version(FAIRLEAD_VERSION);
  out.set_listens_on(config.listen.host + ":" + std::to_string(config.listen.port));
  if (config.shard_role) out.add_roles("shard");
  if (config.agent_role) out.add_roles("agent");
  if (config.shard_role) out.set_shard_count(config.shard_count);
  return out;
}

shard_options options_of(const node_config& config, std::uint32_t number) {
  shard_options out;
  out.shard = number;
  out.shard_count = config.shard_count;
  out.node = config.name;
  out.limits.running_tasks = config.running_tasks;
  out.limits.pending_tasks = config.pending_tasks;
  out.limits.input_bytes = config.input_bytes;
  out.limits.uncommitted_bytes = config.uncommitted_bytes;
  out.limits.brake = {config.undo_brake_on, config.undo_brake_share_percent, duration{config.undo_brake_window_ms},
                      config.undo_brake_at_least};
  out.limits.cron = {config.cron_in_flight, config.cron_starts_per_second};
  out.limits.registry.absent_alert_after = duration{config.agent_absent_after_ms};
  out.scan_period = duration{config.scan_period_ms};
  out.retention = {duration{config.archive_after_ms}, duration{config.keep_ms}};
  out.archive_directory = shard_store_path(config, number) + "/archive";
  out.alert_targets = config.alert_targets;
  out.reply_give_up_after = duration{config.reply_give_up_after_ms};
  return out;
}

expression_pool_options pool_options_of(const node_config& config, const std::string& program) {
  expression_pool_options out;
  if (!program.empty()) out.executable = program;
  out.time_limit = duration{config.expression_time_limit_ms};
  out.memory_bytes = config.expression_memory_bytes;
  out.arguments = {"expression-worker", "--memory", std::to_string(config.expression_memory_bytes)};
  return out;
}

}  // namespace fairlead::app
