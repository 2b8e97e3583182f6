#include "app/node/setup.hpp"

#include <algorithm>

#include <caf/all.hpp>
#include <caf/io/all.hpp>

#include "actors/core/cluster/hello.hpp"
#include "actors/protocol/meta_objects.hpp"
#include "app/node/agents.hpp"
#include "app/node/native_handlers.hpp"
#include "app/node/replicas.hpp"
#include "messages/ids.hpp"
#include "store/rows/node_rows.hpp"

namespace fairlead::app {

namespace {

bool same_name(const std::vector<local_agent>& agents, const std::string& name) {
  return std::any_of(agents.begin(), agents.end(), [&](const local_agent& one) { return one.name == name; });
}

error named_twice(const std::string& name) {
  return {v1::ERROR_CODE_INVALID_ARGUMENT, "there are two agents named " + name,
          "rename one of them, or use the handler in the node file: kind: native, handler: " + name};
}

/// Whether a section of the node file names it as its handler.
bool is_handler(const node_config& config, const std::string& name) {
  return std::any_of(config.agents.begin(), config.agents.end(), [&](const agent_section& one) {
    const auto* section = std::get_if<native_agent_section>(&one);
    return section != nullptr && section->handler == name;
  });
}

}  // namespace

caf_config::caf_config() {
  init_meta_objects(*this);
  load<caf::io::middleman>();
  init_options(*this);
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
  out.stands_in = given.stands_in;
  return out;
}

result<std::vector<local_agent>> agents_of(const node_config& config, const std::vector<agent_section>& sections,
                                           const std::vector<given_agent>& given, const std::shared_ptr<const agents::secrets>& secrets,
                                           const std::string& program) {
  // Agents are made anew when they are restarted, after this function has returned.
  const auto handlers = std::make_shared<const std::vector<given_agent>>(given);
  const auto native = [handlers](const native_agent_section& section) {
    for (const auto& one : *handlers)
      if (one.name == section.handler) return one.make(section.concurrency);
    return make_native_handler(section.handler, section.concurrency);
  };
  auto out = make_agents(sections, {config.file, secrets, program, native});
  if (!out) return out.failure();
  for (const auto& one : given)
    if (!is_handler(config, one.name) && same_name(*out, one.name)) return named_twice(one.name);
  return out;
}

result<std::vector<local_agent>> all_agents(const node_config& config, const std::vector<given_agent>& given,
                                            const std::shared_ptr<const agents::secrets>& secrets, const std::string& program) {
  static const std::vector<agent_section> none;
  auto out = agents_of(config, config.agent_role ? config.agents : none, given, secrets, program);
  if (!out) return out.failure();
  for (const auto& one : given) {
    if (is_handler(config, one.name)) continue;
    if (same_name(*out, one.name)) return named_twice(one.name);
    auto agent = made(one, one.name, one.capacity, one.settings);
    if (!agent) return agent.failure();
    agent->secrets = secrets;
    out->push_back(std::move(*agent));
  }
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

replica_seat::options seat_of(const node_config& config, std::uint32_t number) {
  replica_seat::options out;
  out.shard = number;
  out.shard_count = config.shard_count;
  out.node = config.name;
  out.nodes = config.shard_nodes;
  out.release = FAIRLEAD_VERSION;
  out.reads = store::format_known();
  out.how.election_ms = config.election_ms;
  out.how.heartbeat_ms = config.heartbeat_ms;
  out.how.seed = random_bits();
  // All shards of the node share a journal: what they keep for others leaves half of it free.
  const auto own_part = config.journal_max_bytes / 2 / std::max<std::size_t>(config.shards_here.size(), 1);
  out.how.keep_bytes = std::min<std::uint64_t>(out.how.keep_bytes, own_part);
  out.how.most_uncommitted_bytes = std::min<std::uint64_t>(out.how.most_uncommitted_bytes, own_part / 2);
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
  out.limits.failing_alert_after = duration{config.step_failing_after_ms};
  out.limits.replica_alert_after = duration{config.replica_behind_after_ms};
  out.scan_period = duration{config.scan_period_ms};
  out.retention = {duration{config.archive_after_ms}, duration{config.keep_ms}};
  out.alert_targets = config.alert_targets;
  out.reply_give_up_after = duration{config.reply_give_up_after_ms};
  return out;
}

status open_audit(const node_config& config, const clock& time, observer& log, std::shared_ptr<audit_log>& out) {
  if (!config.api) return nothing{};
  auto opened = audit_log::open(data_folder_of(config) + "/audit", config.access.audit_max_bytes, time,
                                [&log](note_level level, const std::string& sentence) { log.on_note(level, "audit", sentence); });
  if (!opened) return opened.failure();
  out = std::move(*opened);
  return nothing{};
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
