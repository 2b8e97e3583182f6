#include "actors/shard/shard.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
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

constexpr std::size_t waiting_at_most = 100'000;

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
      seat_(world_.seat),
      // Where another replica may lead nobody waits for this one: requests are refused, and asked elsewhere.
      scheduler_(*world_.guards.system, lives_here_alone() ? waiting_at_most : 0),
      replies_(*world_.guards.system, lives_here_alone() ? waiting_at_most : 0),
      guardian_(*world_.guards.system),
      replica_(*world_.guards.system),
      leadership_(*world_.guards.system),
      copies_(*world_.guards.system),
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
  out.seat = &seat_;
  out.replica = replica_.as<replica_actor>();
  out.scheduler = scheduler_.as<scheduler_actor>();
  out.replies = replies_.as<replies_actor>();
  out.describe = [this](v1::ShardStatus& status) {
    if (world_.describe_store) world_.describe_store(*status.mutable_store());
    *status.mutable_commits() = commits_.to_proto();
    if (lives_here_alone()) return;
    *status.mutable_replication() = seat()->describe();
    status.mutable_store()->set_shard_time_ahead_ms(status.replication().clock_ahead_ms());
  };
  return out;
}

result<std::uint64_t> shard::begin_epoch() {
  if (lives_here_alone()) return world_.commits->raise_epoch();
  auto epoch = seat()->consensus()->raise_epoch();
  // What it has written may have to be sent or told.
  caf::anon_send(replica_.as<replica_actor>(), flush_atom_v);
  // A replica that has stopped leading meanwhile drops whatever this Scheduler commits, and the branch is about to be stopped.
  if (!epoch && epoch.failure().code == v1::ERROR_CODE_UNAVAILABLE) return std::uint64_t{0};
  return epoch;
}

v1::ShardClaim shard::claim() const {
  v1::ShardClaim out;
  out.set_shard(options_.shard);
  out.set_store_id(world_.store_id);
  *out.mutable_lineage() = world_.lineage;
  if (lives_here_alone()) return out;
  // Of a shard that has begun both are there.
  auto& own = seat()->own();
  if (const auto id = own.known_shard(options_.shard, options_.shard_count)) out.set_store_id(*id);
  if (const auto lineage = own.claim_lineage({})) *out.mutable_lineage() = *lineage;
  out.mutable_lineage()->set_several(true);
  return out;
}

/// Each start is a new leader: the epoch rises before anything is read, so that messages still on their way for its predecessor are
/// refused.
result<caf::strong_actor_ptr> shard::start_scheduler() {
  const auto epoch = begin_epoch();
  if (!epoch) {
    world_.on_fatal(epoch.failure());
    return epoch.failure();
  }
  auto claimed = claim();
  claimed.set_epoch(*epoch);
  scheduler_setup setup;
  setup.shard = options_.shard;
  setup.time = time();
  setup.reads = world_.store;
  setup.log = world_.guards.log;
  setup.engine = &declarative();
  setup.limits = options_.limits;
  setup.limits.shard_count = options_.shard_count;
  setup.limits.lineage = claimed.lineage();
  setup.faults = options_.faults;
  setup.replica = replica();
  if (!lives_here_alone()) {
    setup.commits = replica_.as<commit_actor>();
    setup.replication = [seat = seat()] { return seat->describe(); };
  } else {
    setup.commits = store_now_;
  }
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
  leads_ = *epoch != 0;
  if (world_.on_epoch) world_.on_epoch(claimed);
  return pointer(scheduler_now_);
}

/// Store actor, Scheduler, Supervisor and cron share assumptions about the store, so they restart together, with empty caches.
guardian_spec shard::core(const std::shared_ptr<stable_address>& inside) {
  guardian_spec out;
  out.id = "core";
  out.policy.strategy = core::restart_strategy::one_for_all;
  auto& system = *world_.guards.system;
  if (lives_here_alone()) {
    out.children.push_back(child("store", [this, &system]() -> result<caf::strong_actor_ptr> {
      store_now_ = system.spawn<caf::detached>(run_store, world_.commits, world_.on_fatal, &commits_);
      return pointer(store_now_);
    }));
  }
  out.children.push_back(led_child(
      "scheduler",
      [this, inside]() -> result<caf::strong_actor_ptr> {
        auto started = start_scheduler();
        if (started && inside) inside->lead_to(*started);
        return started;
      },
      &scheduler_));
  out.children.push_back(child("supervisor", [this, &system]() -> result<caf::strong_actor_ptr> {
    const auto started = system.spawn(
        run_supervisor, supervisor_setup{time(), world_.store, world_.guards.log, scheduler_now_, options_.scan_period, world_.on_fatal});
    caf::anon_send(scheduler_now_, started);
    return pointer(started);
  }));
  out.children.push_back(child("cron", [this, &system]() -> result<caf::strong_actor_ptr> {
    const auto started = system.spawn(run_cron, cron_setup{time(), world_.store, scheduler_now_, world_.on_fatal});
    caf::anon_send(scheduler_now_, started);
    return pointer(started);
  }));
  return out;
}

child_spec shard::alert_child(const scheduler_actor& scheduler) {
  return child("alert_courier", [this, scheduler]() -> result<caf::strong_actor_ptr> {
    alert_courier_setup courier;
    courier.time = time();
    courier.reads = world_.store;
    courier.webhooks = world_.alert_webhooks;
    courier.commands = alert_commands_;
    courier.log = world_.guards.log;
    courier.scheduler = scheduler;
    courier.replica = replica();
    courier.node = options_.node;
    courier.shard = options_.shard;
    courier.shard_count = options_.shard_count;
    courier.targets = options_.alert_targets;
    courier.on_fatal = world_.on_fatal;
    return pointer(world_.guards.system->spawn(run_alert_courier, std::move(courier)));
  });
}

/// A child behind an address. In a branch that comes and goes with leadership the guardian would close the address with the branch.
child_spec shard::led_child(std::string id, child_factory start, stable_address* address) {
  if (lives_here_alone()) return child(std::move(id), std::move(start), address);
  return child(std::move(id), [start = std::move(start), address]() -> result<caf::strong_actor_ptr> {
    auto out = start();
    if (!out) return out;
    address->lead_to(*out);
    // What has waited since the shard lived here alone is on its way.
    address->hold_at_most(0);
    return out;
  });
}

/// What stands beside the core speaks with whichever Scheduler there is, as long as this node leads: what it says meanwhile waits for the next one.
/// What was said under an earlier lead is not for a Scheduler of this one.
std::vector<child_spec> shard::led_children(const std::string& path) {
  auto& system = *world_.guards.system;
  const auto inside = lives_here_alone() ? nullptr : std::make_shared<stable_address>(system, waiting_at_most);
  const auto scheduler = (inside ? *inside : scheduler_).as<scheduler_actor>();
  std::vector<child_spec> out;
  out.push_back(guardian_child(world_.guards, path, core(inside)));
  out.push_back(child("archiver", [this, &system, scheduler]() -> result<caf::strong_actor_ptr> {
    return pointer(system.spawn<caf::detached>(run_archiver, archiver_setup{time(), world_.store, world_.archives, options_.retention,
                                                                            scheduler, world_.guards.log, world_.on_fatal}));
  }));
  if (!options_.alert_targets.empty()) out.push_back(alert_child(scheduler));
  out.push_back(child("reply_courier", [this, &system, scheduler]() -> result<caf::strong_actor_ptr> {
    reply_courier_setup setup;
    setup.time = time();
    setup.reads = world_.store;
    setup.log = world_.guards.log;
    setup.posts = reply_webhooks_;
    setup.outbox = outbox_;
    setup.scheduler = scheduler;
    setup.replica = replica();
    setup.settings = {options_.node, options_.reply_give_up_after};
    setup.on_fatal = world_.on_fatal;
    return pointer(system.spawn<caf::detached>(run_reply_courier, std::move(setup)));
  }));
  out.push_back(led_child(
      "replies",
      [this, &system, scheduler]() -> result<caf::strong_actor_ptr> {
        return pointer(system.spawn(run_replies, replies_setup{time(), world_.store, outbox_, scheduler, world_.on_fatal}));
      },
      &replies_));
  return out;
}

child_spec shard::replica_child() {
  return child(
      "replica",
      [this]() -> result<caf::strong_actor_ptr> {
        replica_setup setup;
        setup.seat = seat();
        setup.time = world_.guards.time;
        setup.log = world_.guards.log;
        setup.links = world_.links;
        setup.copies = copies_.as<copies_actor>();
        setup.on_fatal = world_.on_fatal;
        setup.on_older_copy = world_.on_older_copy;
        setup.on_outlived = [this](const v1::Lineage& latest) {
          if (world_.on_outlived) world_.on_outlived(options_.shard, latest);
        };
        setup.on_committed = [this](std::size_t batches, std::size_t bytes, std::chrono::microseconds took) {
          commits_.committed(batches, bytes, took);
        };
        setup.on_others = world_.on_others;
        setup.on_leads = [this](bool now) { caf::anon_send(leadership_.as<leadership_actor>(), lead_atom_v, now); };
        return pointer(world_.guards.system->spawn<caf::detached>(run_replica, std::move(setup)));
      },
      &replica_);
}

child_spec shard::copies_child() {
  return child(
      "copies",
      [this]() -> result<caf::strong_actor_ptr> {
        return pointer(world_.guards.system->spawn<caf::detached>(
            run_copies, copies_setup{seat(), world_.archives, world_.guards.log, replica_.as<replica_actor>(), world_.on_fatal,
                                     world_.on_damage, world_.on_difference, world_.turn}));
      },
      &copies_);
}

child_spec shard::leadership_child(const std::string& path) {
  return child(
      "leadership",
      [this, path]() -> result<caf::strong_actor_ptr> {
        leadership_setup setup;
        setup.where = [this] { return guardian_.as<guardian_actor>(); };
        setup.branch = [this, path](std::function<void(caf::strong_actor_ptr)> started) {
          guardian_spec led;
          led.id = "led";
          led.policy.within = std::chrono::minutes{1};
          led.children = led_children(path + "/led");
          auto out = guardian_child(world_.guards, path, std::move(led));
          out.restart = core::restart_kind::temporary;
          out.start = [this, start = std::move(out.start), started = std::move(started)]() -> result<caf::strong_actor_ptr> {
            seat()->begin_lead();
            auto made = start();
            if (made) started(*made);
            return made;
          };
          return out;
        };
        setup.on_stop = [this] {
          leads_ = false;
          v1::ShardClaim gone;
          gone.set_shard(options_.shard);
          if (world_.on_epoch) world_.on_epoch(gone);
        };
        setup.on_fatal = world_.on_fatal;
        return pointer(world_.guards.system->spawn(run_leadership, std::move(setup)));
      },
      &leadership_);
}

child_spec shard::branch(const std::string& parent_path) {
  guardian_spec out;
  out.id = std::to_string(options_.shard);
  out.policy.within = std::chrono::minutes{1};
  const auto path = parent_path + "/" + out.id;
  if (!lives_here_alone()) {
    // A replica that starts says anew whether it leads, and with it whoever acts on that.
    out.policy.strategy = core::restart_strategy::one_for_all;
    out.children.push_back(leadership_child(path));
    out.children.push_back(replica_child());
    out.children.push_back(copies_child());
  } else {
    out.children = led_children(path);
  }
  auto whole = guardian_child(world_.guards, parent_path, std::move(out));
  if (!lives_here_alone()) whole.address = std::shared_ptr<stable_address>{&guardian_, [](stable_address*) {}};
  return whole;
}

status shard::open_to_others(const guardian_actor& under, const std::string& parent_path,
                             const std::function<result<replica_seat*>()>& make) {
  caf::scoped_actor self{*world_.guards.system};
  const auto ask = [&](auto what) {
    status out = nothing{};
    const auto refused = [&out](const std::string& why) { out = error{v1::ERROR_CODE_UNAVAILABLE, why, "Try again."}; };
    self->request(under, caf::infinite, std::move(what))
        .receive([&](const std::string& failure) { failure.empty() ? void() : refused(failure); },
                 [&](const caf::error&) { refused("the node is stopping"); });
    return out;
  };
  scheduler_.lead_to(nullptr);
  replies_.lead_to(nullptr);
  if (auto ended = ask(remove_child{std::to_string(options_.shard)}); !ended.ok()) return ended;
  auto made = make();
  if (made) {
    seat_ = *made;
    const auto started = ask(add_child{branch(parent_path)});
    if (started.ok()) return started;
    made = started.failure();
  }
  // Nothing of the shard runs any more.
  world_.on_fatal(made.failure());
  return made.failure();
}

std::optional<v1::ShardClaim> shard::known() const {
  if (lives_here_alone() || seat()->consensus() == nullptr) return std::nullopt;
  return claim();
}

void shard::decline(bool on) {
  if (lives_here_alone()) return;
  if (const auto told = seat()->decline(on); !told) world_.on_fatal(told.failure());
  caf::anon_send(replica_.as<replica_actor>(), flush_atom_v);
}

/// Whether another node leads now: else the others would wait for an election timeout, or for what this one has in progress.
bool shard::hand_over() {
  decline(true);
  const auto* const it = seat()->consensus();
  if (it == nullptr) return true;
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds{it->settings().election_ms};
  while (it->view().epoch != 0) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  return true;
}

bool shard::drain(duration limit) {
  if (!lives_here_alone() && hand_over()) return true;
  bool settled = false;
  caf::scoped_actor self{*world_.guards.system};
  self->request(scheduler_.as<scheduler_actor>(), limit, drain_atom_v)
      .receive([&settled](bool) { settled = true; }, [](const caf::error&) {});
  return settled;
}

}  // namespace fairlead
