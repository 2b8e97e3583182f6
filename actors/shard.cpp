#include "actors/shard.hpp"

#include <utility>

#include "actors/agent_actor.hpp"
#include "actors/alert_courier_actor.hpp"
#include "actors/archiver_actor.hpp"
#include "actors/core/declarative.hpp"
#include "actors/gateway.hpp"
#include "actors/reply_courier_actor.hpp"
#include "actors/scheduler_actor.hpp"
#include "actors/supervisor_actor.hpp"

namespace fairlead {

namespace {

const core::declarative_engine& declarative() {
  static const core::declarative_engine engine;
  return engine;
}

}  // namespace

shard::shard(world in, shard_options options) : world_(std::move(in)), options_(std::move(options)) {}

result<std::unique_ptr<shard>> shard::start(world in, shard_options options) {
  const auto epoch = in.store->raise_epoch();
  if (!epoch) return epoch.failure();
  std::unique_ptr<shard> out{new shard{std::move(in), std::move(options)}};
  auto& with = out->world_;
  const auto& chosen = out->options_;
  auto& system = *with.system;

  out->store_ = system.spawn<caf::detached>(run_store, with.store, with.on_fatal);

  scheduler_setup scheduler;
  scheduler.time = with.time;
  scheduler.reads = with.store;
  scheduler.log = with.log;
  scheduler.engine = &declarative();
  scheduler.limits = chosen.limits;
  scheduler.faults = chosen.faults;
  scheduler.commits = out->store_;
  scheduler.on_fatal = with.on_fatal;
  scheduler.epoch = *epoch;
  scheduler.evaluate = [pool = with.expressions](const scheduler_actor& asker, v1::EvaluateRequest what) {
    pool->evaluate(std::move(what), [asker](v1::EvaluateReply reply) { caf::anon_send(asker, std::move(reply)); });
  };
  out->scheduler_ = system.spawn(run_scheduler, std::move(scheduler));

  out->supervisor_ =
      system.spawn(run_supervisor, supervisor_setup{with.time, with.store, with.log, out->scheduler_, chosen.scan_period, with.on_fatal});
  caf::anon_send(out->scheduler_, out->supervisor_);

  for (const auto& agent : chosen.agents) out->add_agent(agent, agent.name);

  auto archives = std::make_shared<store::archive>(chosen.archive_directory);
  out->archiver_ = system.spawn<caf::detached>(
      run_archiver, archiver_setup{with.time, with.store, archives, chosen.retention, out->scheduler_, with.log, with.on_fatal});

  if (!chosen.alert_targets.empty()) {
    out->alert_commands_ = std::make_shared<command_runner>();
    alert_courier_setup courier;
    courier.time = with.time;
    courier.reads = with.store;
    courier.webhooks = with.alert_webhooks;
    courier.commands = out->alert_commands_;
    courier.log = with.log;
    courier.scheduler = out->scheduler_;
    courier.node = chosen.node;
    courier.targets = chosen.alert_targets;
    courier.on_fatal = with.on_fatal;
    out->alert_courier_ = system.spawn(run_alert_courier, std::move(courier));
  }

  const auto outbox = std::make_shared<reply_outbox>(*with.store);
  out->reply_webhooks_ = std::make_shared<webhooks>();
  reply_courier_setup replies;
  replies.time = with.time;
  replies.reads = with.store;
  replies.log = with.log;
  replies.posts = out->reply_webhooks_;
  replies.outbox = outbox;
  replies.scheduler = out->scheduler_;
  replies.settings = {chosen.node, chosen.reply_give_up_after};
  replies.on_fatal = with.on_fatal;
  out->reply_courier_ = system.spawn<caf::detached>(run_reply_courier, std::move(replies));
  out->replies_ = system.spawn(run_replies, replies_setup{with.time, with.store, outbox, out->scheduler_, with.on_fatal});

  gateway_setup gateway;
  gateway.node = chosen.node;
  gateway.version = chosen.version;
  gateway.time = with.time;
  gateway.reads = with.store;
  gateway.archives = archives;
  gateway.scheduler = out->scheduler_;
  gateway.replies = out->replies_;
  gateway.check_expressions = [pool = with.expressions](const std::vector<std::string>& expressions) { return pool->check(expressions); };
  gateway.describe_node = with.describe_node;
  gateway.on_fatal = with.on_fatal;
  out->gateway_ = system.spawn(run_gateway, std::move(gateway));
  return out;
}

void shard::add_agent(const local_agent& agent, const std::string& instance) {
  agent_setup setup;
  setup.who = {agent.name, options_.node + "/" + instance, options_.incarnation, agent.kind, agent.settings, agent.secrets};
  setup.backend = agent.backend;
  setup.time = world_.time;
  setup.scheduler = scheduler_;
  setup.on_fatal = world_.on_fatal;
  agents_.push_back(world_.system->spawn(run_agent, std::move(setup)));
}

shard::~shard() {
  // In the order in which they need each other; actors that have ended already do not mind.
  caf::anon_send_exit(gateway_, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(supervisor_, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(archiver_, caf::exit_reason::user_shutdown);
  if (alert_courier_) caf::anon_send_exit(alert_courier_, caf::exit_reason::user_shutdown);
  if (alert_commands_) alert_commands_->shut_down();
  caf::anon_send_exit(reply_courier_, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(replies_, caf::exit_reason::user_shutdown);
  if (reply_webhooks_) reply_webhooks_->shut_down();
  for (const auto& agent : agents_) caf::anon_send_exit(agent, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(scheduler_, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(store_, caf::exit_reason::user_shutdown);
}

bool shard::stop(duration limit) {
  bool settled = false;
  caf::scoped_actor self{*world_.system};
  self->request(scheduler_, limit, drain_atom_v).receive([&settled](bool) { settled = true; }, [](const caf::error&) {});
  return settled;
}

}  // namespace fairlead
