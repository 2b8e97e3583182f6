#include "app/node.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <thread>

#include <caf/all.hpp>
#include <caf/io/all.hpp>

#include "actors/agents/http.hpp"
#include "actors/expression_pool.hpp"
#include "actors/meta_objects.hpp"
#include "actors/shard.hpp"
#include "actors/webhooks.hpp"
#include "app/config.hpp"
#include "app/exit_codes.hpp"
#include "app/listen_probe.hpp"
#include "app/logging.hpp"
#include "app/native_handlers.hpp"
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

int complain(const error& why) {
  std::fprintf(stderr, "fairlead: %s\n", why.sentence.c_str());
  if (!why.remedy.empty()) std::fprintf(stderr, "%s\n", why.remedy.c_str());
  return exit_code_of(why.code);
}

/// Ends the process when an orderly end takes longer than `limit`: everything acknowledged is durable at any moment, so nothing is lost by it.
void end_within(duration limit, exit_code code) {
  std::thread{[limit, code] {
    std::this_thread::sleep_for(limit);
    std::fprintf(stderr, "fairlead: the node did not end in time and was ended\n");
    std::_Exit(code);
  }}.detach();
}

result<std::vector<local_agent>> make_agents(const node_config& config) {
  std::vector<local_agent> out;
  if (!config.agent_role) return out;
  for (const auto& section : config.http_agents) {
    auto backend = agents::make_http_backend(section);
    if (!backend) return backend.failure();
    out.push_back({section.name, "http", std::move(*backend)});
  }
  for (const auto& section : config.native_agents) {
    auto backend = make_native_handler(section.handler, section.concurrency);
    if (!backend) {
      auto failure = backend.failure();
      failure.sentence = config.file + ":" + std::to_string(section.line) + ":" + std::to_string(section.column) + ": agents." +
                         section.name + ".handler: " + failure.sentence;
      return failure;
    }
    out.push_back({section.name, "native", std::move(*backend)});
  }
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
  out.scan_period = duration{config.scan_period_ms};
  out.retention = {duration{config.archive_after_ms}, duration{config.keep_ms}};
  out.archive_directory = config.store_path + "/archive";
  out.incarnation = incarnation;
  out.agents = std::move(agents);
  out.alert_targets = config.alert_targets;
  out.reply_give_up_after = duration{config.reply_give_up_after_ms};
  return out;
}

/// Blocks the signals that end the node in every thread that will be started, so that only `wait_for_end` sees them.
sigset_t block_end_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // A client that hangs up while it is written to is no reason to end.
  std::signal(SIGPIPE, SIG_IGN);
  return signals;
}

}  // namespace

int run_node(const node_options& options) {
  auto file = read_node_config(options.config_path);
  if (!file.problems.empty()) {
    for (const auto& problem : file.problems) std::fprintf(stderr, "%s\n", to_text(problem).c_str());
    return exit_usage;
  }
  const auto& config = file.config;
  const auto end_signals = block_end_signals();

  auto log = transition_log::open(config.log);
  if (!log) return complain(log.failure());
  auto& observe = **log;

  if (const auto listens = probe_listen(config.listen); !listens.ok()) {
    complain(listens.failure());
    return exit_in_use;
  }
  auto opened = store::lmdb_store::open({config.store_path, config.store_max_bytes, false});
  if (!opened) return complain(opened.failure());
  auto& store = **opened;
  const auto boot = store.raise_boot();
  if (!boot) return complain(boot.failure());

  auto agents = make_agents(config);
  if (!agents) return complain(agents.failure());

  expression_pool_options pool_options;
  pool_options.time_limit = duration{config.expression_time_limit_ms};
  pool_options.memory_bytes = config.expression_memory_bytes;
  pool_options.arguments = {"expression-worker", "--memory", std::to_string(config.expression_memory_bytes)};
  expression_pool expressions{pool_options};

  // Apart from the posts of others, so that receivers of theirs that hang delay no alert. Before the actor system, because its actors post.
  std::optional<webhooks> alert_webhooks;
  for (const auto& target : config.alert_targets)
    if (!target.url.empty() && !alert_webhooks) alert_webhooks.emplace();

  const system_clock clock;
  const auto started_ms = to_unix_ms(clock.now());
  caf_config caf_settings;
  caf_settings.pass_through(config.caf);
  caf::actor_system system{caf_settings};

  shard::world world;
  world.system = &system;
  world.time = &clock;
  world.store = &store;
  world.log = &observe;
  world.expressions = &expressions;
  world.alert_webhooks = alert_webhooks ? &*alert_webhooks : nullptr;
  world.describe_node = [&](v1::StatusReply& out) {
    out.set_started_at_unix_ms(started_ms);
    const auto usage = store.get_usage();
    auto* line = out.mutable_store();
    line->set_path(store.directory());
    line->set_used_bytes(usage.used_bytes);
    line->set_max_bytes(usage.max_bytes);
    line->set_sequence(store.sequence());
    line->set_commits(store.commits());
  };
  // What the disk holds is no longer known, or the shard belongs to another: the process must not say or do another thing.
  world.on_fatal = [&observe](const error& why) {
    observe.on_note(note_level::error, "node", in_one_line(why));
    std::_Exit(exit_code_of(why.code));
  };
  auto shard = shard::start(world, options_of(config, std::move(*agents), *boot));
  if (!shard) return complain(shard.failure());

  const auto port = system.middleman().publish((*shard)->gateway(), config.listen.port, config.listen.host.c_str(), true);
  if (!port) {
    end_within(duration{config.shutdown_timeout_ms}, exit_in_use);
    complain({v1::ERROR_CODE_UNAVAILABLE, "cannot listen on " + config.listen.host + ":" + std::to_string(config.listen.port) + " any more",
              "start the node again"});
    shard->reset();
    return exit_in_use;
  }
  observe.on_note(note_level::info, "node", config.name + " is ready on " + config.listen.host + ":" + std::to_string(*port));

  int signal = 0;
  sigwait(&end_signals, &signal);
  observe.on_note(note_level::info, "node", std::string{"ending on "} + (signal == SIGTERM ? "SIGTERM" : "SIGINT"));
  end_within(duration{config.shutdown_timeout_ms}, exit_ok);
  system.middleman().unpublish((*shard)->gateway(), *port);
  if (!(*shard)->stop(duration{config.shutdown_timeout_ms / 4 * 3}))
    observe.on_note(note_level::warning, "node", "not everything was settled in time; nothing acknowledged is lost");
  shard->reset();
  expressions.shut_down();
  if (alert_webhooks) alert_webhooks->shut_down();
  system.await_all_actors_done();
  observe.on_note(note_level::info, "node", "ended");
  return exit_ok;
}

}  // namespace fairlead::app
