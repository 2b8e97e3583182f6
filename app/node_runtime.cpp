#include "app/node_runtime.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include <caf/all.hpp>
#include <caf/io/all.hpp>

#include "actors/expression_pool.hpp"
#include "actors/meta_objects.hpp"
#include "actors/shard.hpp"
#include "actors/webhooks.hpp"
#include "app/config_secrets.hpp"
#include "app/listen_probe.hpp"
#include "app/logging.hpp"
#include "app/node_agents.hpp"
#include "store/failpoint.hpp"
#include "store/lmdb_store.hpp"

namespace fairlead::app {

namespace {

/// Settings that CAF 0.17.6 needs for a node to behave (docs/architecture.md says why), then what the node file says.
class caf_config final : public caf::actor_system_config {
 public:
  caf_config() {
    init_meta_objects(*this);
    load<caf::io::middleman>();
    set("scheduler.policy", caf::atom("sharing"));
    set("logger.verbosity", caf::atom("quiet"));
    set("middleman.heartbeat-interval", caf::timespan{std::chrono::milliseconds{500}});
    set("middleman.connection-timeout", caf::timespan{std::chrono::seconds{2}});
  }

  /// The names and values were checked when the file was read.
  void pass_through(const std::vector<std::pair<std::string, std::string>>& settings) {
    for (const auto& [name, text] : settings)
      if (auto value = caf::config_value::parse(text)) set(name, std::move(*value));
  }
};

/// Sentence and remedy as the log shows them; some sentences end with a full stop.
std::string in_one_line(const error& why) {
  auto out = why.sentence;
  while (!out.empty() && out.back() == '.') out.pop_back();
  return why.remedy.empty() ? out : out + ". " + why.remedy;
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
  return out;
}

bool same_name(const std::vector<local_agent>& agents, const std::string& name) {
  return std::any_of(agents.begin(), agents.end(), [&](const local_agent& one) { return one.name == name; });
}

/// The file's agents and the given ones.
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
                   "rename one, or let the node file name this one: kind: native, handler: " + given[i].name};
    auto agent = made(given[i], given[i].name, given[i].capacity, given[i].settings);
    if (!agent) return agent.failure();
    out->push_back(std::move(*agent));
  }
  for (auto& agent : *out) agent.secrets = secrets;
  if (const auto sound = check_limits(*out); !sound.ok()) return sound.failure();
  return out;
}

shard_options options_of(const node_config& config, std::vector<local_agent> agents, std::uint64_t incarnation) {
  shard_options out;
  out.node = config.name;
  out.version = FAIRLEAD_VERSION;
  out.limits.running_tasks = config.running_tasks;
  out.limits.pending_tasks = config.pending_tasks;
  out.limits.input_bytes = config.input_bytes;
  out.limits.uncommitted_bytes = config.uncommitted_bytes;
  out.limits.brake = {config.undo_brake_on, config.undo_brake_share_percent, duration{config.undo_brake_window_ms},
                      config.undo_brake_at_least};
  out.limits.registry.absent_alert_after = duration{config.agent_absent_after_ms};
  out.scan_period = duration{config.scan_period_ms};
  out.retention = {duration{config.archive_after_ms}, duration{config.keep_ms}};
  out.archive_directory = config.store_path + "/archive";
  out.incarnation = incarnation;
  out.agents = std::move(agents);
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

/// Tells the log and somebody else.
class both final : public observer {
 public:
  both(observer& log, observer& listener) : log_(log), listener_(listener) {}
  void on_transition(const transition& what) override {
    if (log_.wants_transitions()) log_.on_transition(what);
    if (listener_.wants_transitions()) listener_.on_transition(what);
  }
  bool wants_transitions() const override { return log_.wants_transitions() || listener_.wants_transitions(); }
  void on_note(note_level level, std::string_view component, std::string_view sentence) override {
    log_.on_note(level, component, sentence);
    listener_.on_note(level, component, sentence);
  }

 private:
  observer& log_;
  observer& listener_;
};

}  // namespace

/// In the order in which they are made, so that they end in the opposite one.
struct node_runtime::state {
  node_config config;
  node_parts parts;
  std::unique_ptr<transition_log> log;
  std::optional<both> told;  // the log and the listener, when there is one
  std::unique_ptr<store::lmdb_store> store;
  std::optional<expression_pool> expressions;
  // Apart from the posts of others, so that receivers of theirs that hang delay no alert. Before the actor system, because its actors post.
  std::optional<webhooks> alert_webhooks;
  system_clock clock;
  std::int64_t started_ms = 0;
  caf_config caf_settings;
  std::optional<caf::actor_system> system;
  std::unique_ptr<class shard> shard;
  std::uint16_t port = 0;

  void describe(v1::StatusReply& out) const {
    out.set_started_at_unix_ms(started_ms);
    const auto usage = store->get_usage();
    auto* line = out.mutable_store();
    line->set_path(store->directory());
    line->set_used_bytes(usage.used_bytes);
    line->set_max_bytes(usage.max_bytes);
    line->set_sequence(store->sequence());
    line->set_commits(store->commits());
  }

  [[noreturn]] void die(const error& why) const {
    log->on_note(note_level::error, "node", in_one_line(why));
    if (parts.on_fatal) parts.on_fatal(why);
    std::_Exit(exit_code_of(why.code));
  }

  /// The error of what cannot be had; `code` is set when it is not the one of the error.
  status begin(exit_code& code) {
    auto opened_log = transition_log::open(config.log);
    if (!opened_log) return opened_log.failure();
    log = std::move(*opened_log);

    const auto secrets =
        make_secrets(config, [this](const std::string& sentence) { log->on_note(note_level::warning, "secrets", sentence); });
    if (!secrets) return secrets.failure();
    if (const auto listens = probe_listen(config.listen); !listens.ok()) {
      code = exit_in_use;
      return listens.failure();
    }
    auto opened = store::lmdb_store::open({config.store_path, config.store_max_bytes, false});
    if (!opened) return opened.failure();
    store = std::move(*opened);
    const auto boot = store->raise_boot();
    if (!boot) return boot.failure();

    auto agents = all_agents(config, parts.agents, *secrets, parts.program);
    if (!agents) return agents.failure();

    expressions.emplace(pool_options_of(config, parts.program));
    for (const auto& target : config.alert_targets)
      if (!target.url.empty() && !alert_webhooks) alert_webhooks.emplace();

    started_ms = to_unix_ms(clock.now());
    caf_settings.pass_through(config.caf);
    system.emplace(caf_settings);

    shard::world world;
    world.system = &*system;
    world.time = &clock;
    world.store = store.get();
    world.log = log.get();
    if (parts.listener != nullptr) world.log = &told.emplace(*log, *parts.listener);
    world.expressions = &*expressions;
    world.alert_webhooks = alert_webhooks ? &*alert_webhooks : nullptr;
    world.describe_node = [this](v1::StatusReply& out) { describe(out); };
    world.on_fatal = [this](const error& why) { die(why); };
    auto started = shard::start(world, options_of(config, std::move(*agents), *boot));
    if (!started) return started.failure();
    shard = std::move(*started);

    const auto published = system->middleman().publish(shard->gateway(), config.listen.port, config.listen.host.c_str(), true);
    if (!published) {
      code = exit_in_use;
      return error{v1::ERROR_CODE_UNAVAILABLE,
                   "cannot listen on " + config.listen.host + ":" + std::to_string(config.listen.port) + " any more",
                   "start the node again"};
    }
    port = *published;
    log->on_note(note_level::info, "node", config.name + " is ready on " + config.listen.host + ":" + std::to_string(port));
    return nothing{};
  }

  bool end(exit_code code) {
    bool settled = true;
    if (system && parts.on_ending) std::exchange(parts.on_ending, nullptr)(code);
    if (shard) {
      if (port != 0) system->middleman().unpublish(shard->gateway(), port);
      settled = shard->stop(duration{config.shutdown_timeout_ms / 4 * 3});
      if (!settled) log->on_note(note_level::warning, "node", "not everything was settled in time; nothing acknowledged is lost");
      shard.reset();
    }
    if (expressions) expressions->shut_down();
    if (alert_webhooks) alert_webhooks->shut_down();
    if (system) system->await_all_actors_done();
    if (port != 0) log->on_note(note_level::info, "node", "ended");
    port = 0;
    return settled;
  }
};

node_runtime::node_runtime(std::unique_ptr<state> s) : state_(std::move(s)) {}

node_runtime::~node_runtime() { stop(); }

std::unique_ptr<node_runtime> node_runtime::start(const node_config& config, node_parts parts, start_failure& failure) {
  auto s = std::make_unique<state>();
  s->config = config;
  s->parts = std::move(parts);
  exit_code code = exit_ok;
  const auto begun = s->begin(code);
  if (begun.ok()) return std::unique_ptr<node_runtime>{new node_runtime{std::move(s)}};
  failure.why = begun.failure();
  failure.code = code == exit_ok ? exit_code_of(failure.why.code) : code;
  s->end(failure.code);
  return nullptr;
}

std::uint16_t node_runtime::port() const { return state_->port; }

status node_runtime::add_agent(const given_agent& agent, const std::string& instance) {
  auto added = made(agent, agent.name, agent.capacity, agent.settings);
  if (!added) return added.failure();
  state_->shard->add_agent(*added, instance);
  return nothing{};
}

observer& node_runtime::log() { return *state_->log; }

bool node_runtime::stop() { return state_->end(exit_ok); }

}  // namespace fairlead::app
