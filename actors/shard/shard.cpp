#include "actors/shard/shard.hpp"

#include <utility>

#include "actors/alerts/courier_actor.hpp"
#include "actors/core/workflow/declarative.hpp"
#include "actors/cron/actor.hpp"
#include "actors/replies/courier_actor.hpp"
#include "actors/replies/waiters_actor.hpp"
#include "actors/scheduler/actor.hpp"
#include "actors/shard/archiver_actor.hpp"
#include "actors/supervisor/actor.hpp"

namespace fairlead {

namespace {

const core::declarative_engine& declarative() {
  static const core::declarative_engine engine;
  return engine;
}

template <class Handle>
caf::strong_actor_ptr pointer(const Handle& handle) {
  return caf::actor_cast<caf::strong_actor_ptr>(handle);
}

/// A child that only needs to be spawned. The shard owns the address and outlives its branch.
child_spec child(std::string id, child_factory start, stable_address* address = nullptr) {
  child_spec out;
  out.id = std::move(id);
  out.start = std::move(start);
  if (address != nullptr) out.address = std::shared_ptr<stable_address>{address, [](stable_address*) {}};
  return out;
}

}  // namespace

shard::shard(world in, shard_options options)
    : world_(std::move(in)),
      options_(std::move(options)),
      scheduler_(*world_.guards.system),
      replies_(*world_.guards.system),
      outbox_(std::make_shared<reply_outbox>(*world_.store)),
      reply_webhooks_(std::make_shared<webhooks>()) {
  if (!options_.alert_targets.empty()) alert_commands_ = std::make_shared<command_runner>();
}

shard::~shard() { shut_down(); }

void shard::shut_down() {
  if (alert_commands_) alert_commands_->shut_down();
  if (reply_webhooks_) reply_webhooks_->shut_down();
}

shard_desk shard::desk() const {
  shard_desk out;
  out.shard = options_.shard;
  out.store_id = world_.store_id;
  out.reads = world_.store;
  out.archives = world_.archives;
  out.scheduler = scheduler_.as<scheduler_actor>();
  out.replies = replies_.as<replies_actor>();
  out.describe = [this](v1::ShardStatus& status) {
    if (world_.describe_store) world_.describe_store(*status.mutable_store());
    *status.mutable_commits() = commits_.to_proto();
  };
  return out;
}

/// Each start is a new leader: the epoch rises before anything is read, so that messages still on their way for its predecessor are
/// refused.
result<caf::strong_actor_ptr> shard::start_scheduler() {
  const auto epoch = world_.store->raise_epoch();
  if (!epoch) {
    world_.on_fatal(epoch.failure());
    return epoch.failure();
  }
  scheduler_setup setup;
  setup.shard = options_.shard;
  setup.time = world_.guards.time;
  setup.reads = world_.store;
  setup.log = world_.guards.log;
  setup.engine = &declarative();
  setup.limits = options_.limits;
  setup.limits.shard_count = options_.shard_count;
  setup.limits.lineage = world_.lineage;
  setup.faults = options_.faults;
  setup.commits = store_now_;
  setup.on_fatal = world_.on_fatal;
  setup.epoch = *epoch;
  setup.evaluate = [pool = world_.expressions](const scheduler_actor& asker, v1::EvaluateRequest what) {
    auto outstanding = std::make_shared<const char>();
    std::weak_ptr<const void> out = outstanding;
    pool->evaluate(std::move(what),
                   [asker, outstanding = std::move(outstanding)](v1::EvaluateReply reply) { caf::anon_send(asker, std::move(reply)); });
    return out;
  };
  scheduler_now_ = world_.guards.system->spawn(run_scheduler, std::move(setup));
  if (world_.on_epoch) {
    v1::ShardClaim claim;
    claim.set_shard(options_.shard);
    claim.set_store_id(world_.store_id);
    claim.set_epoch(*epoch);
    *claim.mutable_lineage() = world_.lineage;
    world_.on_epoch(claim);
  }
  return pointer(scheduler_now_);
}

/// Store actor, Scheduler, Supervisor and cron share assumptions about the store, so they restart together, with empty caches.
guardian_spec shard::core() {
  guardian_spec out;
  out.id = "core";
  out.policy.strategy = core::restart_strategy::one_for_all;
  auto& system = *world_.guards.system;
  out.children.push_back(child("store", [this, &system]() -> result<caf::strong_actor_ptr> {
    store_now_ = system.spawn<caf::detached>(run_store, world_.store, world_.on_fatal, &commits_);
    return pointer(store_now_);
  }));
  out.children.push_back(child(
      "scheduler", [this] { return start_scheduler(); }, &scheduler_));
  out.children.push_back(child("supervisor", [this, &system]() -> result<caf::strong_actor_ptr> {
    const auto started = system.spawn(run_supervisor, supervisor_setup{world_.guards.time, world_.store, world_.guards.log, scheduler_now_,
                                                                       options_.scan_period, world_.on_fatal});
    caf::anon_send(scheduler_now_, started);
    return pointer(started);
  }));
  out.children.push_back(child("cron", [this, &system]() -> result<caf::strong_actor_ptr> {
    const auto started = system.spawn(run_cron, cron_setup{world_.guards.time, world_.store, scheduler_now_, world_.on_fatal});
    caf::anon_send(scheduler_now_, started);
    return pointer(started);
  }));
  return out;
}

child_spec shard::alert_child() {
  return child("alert_courier", [this]() -> result<caf::strong_actor_ptr> {
    alert_courier_setup courier;
    courier.time = world_.guards.time;
    courier.reads = world_.store;
    courier.webhooks = world_.alert_webhooks;
    courier.commands = alert_commands_;
    courier.log = world_.guards.log;
    courier.scheduler = scheduler_.as<scheduler_actor>();
    courier.node = options_.node;
    courier.shard = options_.shard;
    courier.shard_count = options_.shard_count;
    courier.targets = options_.alert_targets;
    courier.on_fatal = world_.on_fatal;
    return pointer(world_.guards.system->spawn(run_alert_courier, std::move(courier)));
  });
}

child_spec shard::branch(const std::string& parent_path) {
  auto& system = *world_.guards.system;
  guardian_spec out;
  out.id = std::to_string(options_.shard);
  out.policy.within = std::chrono::minutes{1};
  const auto path = parent_path + "/" + out.id;
  out.children.push_back(guardian_child(world_.guards, path, core()));
  out.children.push_back(child("archiver", [this, &system]() -> result<caf::strong_actor_ptr> {
    return pointer(
        system.spawn<caf::detached>(run_archiver, archiver_setup{world_.guards.time, world_.store, world_.archives, options_.retention,
                                                                 scheduler_.as<scheduler_actor>(), world_.guards.log, world_.on_fatal}));
  }));
  if (!options_.alert_targets.empty()) out.children.push_back(alert_child());
  out.children.push_back(child("reply_courier", [this, &system]() -> result<caf::strong_actor_ptr> {
    reply_courier_setup setup;
    setup.time = world_.guards.time;
    setup.reads = world_.store;
    setup.log = world_.guards.log;
    setup.posts = reply_webhooks_;
    setup.outbox = outbox_;
    setup.scheduler = scheduler_.as<scheduler_actor>();
    setup.settings = {options_.node, options_.reply_give_up_after};
    setup.on_fatal = world_.on_fatal;
    return pointer(system.spawn<caf::detached>(run_reply_courier, std::move(setup)));
  }));
  out.children.push_back(child(
      "replies",
      [this, &system]() -> result<caf::strong_actor_ptr> {
        return pointer(system.spawn(
            run_replies, replies_setup{world_.guards.time, world_.store, outbox_, scheduler_.as<scheduler_actor>(), world_.on_fatal}));
      },
      &replies_));
  return guardian_child(world_.guards, parent_path, std::move(out));
}

bool shard::drain(duration limit) {
  bool settled = false;
  caf::scoped_actor self{*world_.guards.system};
  self->request(scheduler_.as<scheduler_actor>(), limit, drain_atom_v)
      .receive([&settled](bool) { settled = true; }, [](const caf::error&) {});
  return settled;
}

}  // namespace fairlead
