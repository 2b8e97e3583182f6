// What a node's process does besides its core: archives, couriers, and clients that fetch what is theirs.

#include <algorithm>
#include <utility>

#include "actors/delivery/courier_loop.hpp"
#include "tests/simulation/node/claim_desk.hpp"
#include "tests/simulation/node/clerk.hpp"
#include "tests/simulation/node/crier.hpp"
#include "tests/simulation/node/herald.hpp"
#include "tests/simulation/node/overseer.hpp"
#include "tests/simulation/shard/home.hpp"
#include "tests/simulation/shard/member.hpp"

namespace fairlead::simulation {

node::node(world& in, network& net, agents& staff, checker& judge, host_clock& time, home& of, std::uint32_t shard, std::size_t place)
    : world_(in),
      network_(net),
      agents_(staff),
      checker_(judge),
      clock_(time),
      home_(of),
      shard_(shard),
      place_(place),
      me_(of.name() + (of.replicas() > 1 ? "." + std::to_string(place + 1) : "")),
      engine_(judge.of_bugs()),
      zones_(judge.of_bugs()),
      store_(in.settings.seed * 31 + shard + 17 * place, *archives_, time, of.born_as(place)),
      core_(place * 1'000'000),
      next_ticket_(place * 1'000'000'000 + 1) {
  if (world_.settings.planted.copy_identity) store_.keep_copied_identity();
  store_.on_placing([this](bool placed) {
    if (placed) world_.count("copies of the state put in place");
    pass(placed ? failpoint_id::copy_placed : failpoint_id::copy_unplaced);
  });
}

node::~node() = default;

void node::plan(const retention_plan& retention) {
  retention_ = retention;
  targets_ = make_targets(world_, shard_);
  std::vector<std::string> names;
  for (const auto& one : targets_) names.push_back(one.is.name);
  auto& luck = world_.stores;
  const auto small = luck.chance(80);
  const auto bytes = static_cast<std::uint64_t>(luck.between(6, 60)) << 10;
  const auto old = luck.chance(200);
  small_store_ = small && world_.settings.has(concern::full_stores);
  old_store_ = old && world_.settings.has(concern::old_stores);
  if (small_store_) store_.resize(bytes);
  if (small_store_) world_.count("shards with a small store");
  checker_.of_archives().watch(*archives_, retention_);
  checker_.of_alerts().watch(shard_, agents_.shards(), std::move(names));
  if (!targets_.empty()) world_.count("shards with alert targets");
  if (retention_.any) world_.count("shards with an archive");
}

void node::plan_like(const node& first) {
  retention_ = first.retention_;
  targets_ = first.targets_;
  if (&first != this) checker_.of_archives().watch(*archives_, retention_);
}

void node::start_errands() {
  outbox_ = std::make_unique<reply_outbox>(store_);
  reply_courier::world around;
  around.time = &time();
  around.reads = &store_;
  around.posts = this;
  around.outbox = outbox_.get();
  around.log = this;
  around.commit = [this](courier_rows rows) {
    tell_shard("courier rows", [rows = std::move(rows)](scheduler& to) { to.delivered(rows); });
  };
  around.wake = [this] { arm_outbox(millisecond); };
  courier_ = std::make_unique<reply_courier>(std::move(around), reply_courier::settings{"n1"});
  arm_outbox(100 * millisecond);
  claim_desk_ = std::make_unique<claim_desk>(*this);
  if (retention_.any) {
    clerk_ = std::make_unique<clerk>(*this, retention_);
    clerk_->begin();
  }
  if (!targets_.empty()) {
    herald_ = std::make_unique<herald>(*this, targets_);
    herald_->begin();
  }
}

void node::drop_errands() {
  ++lead_;
  herald_.reset();
  clerk_.reset();
  claim_desk_.reset();
  courier_.reset();
  outbox_.reset();
  held_.clear();
  to_shard_ = 0;
}

void node::claim(const v1::RepliesRequest& what, std::function<void(const v1::RepliesReply&)> on_reply) {
  if (!up() || !claim_desk_) return;
  ask_who_leads([this, what, on_reply = std::move(on_reply)](bool here) {
    if (here) claim_desk_->ask(what, on_reply);
  });
}

void node::arm_outbox(std::int64_t delay_us) {
  world_.after(delay_us, of_this_lead([this, look = ++outbox_look_] {
                 if (look == outbox_look_) look_at_outbox();
               }));
}

void node::look_at_outbox() {
  ask_who_leads([this](bool here) {
    if (!here) return arm_outbox(duration{look_of_another}.count() * millisecond);
    const auto pause = courier_->look();
    if (!pause) throw rule_broken{"fatal", "the courier stops: " + pause.failure().sentence, false};
    arm_outbox(std::clamp<std::int64_t>(pause->count(), 1, 1'000) * millisecond);
    after_message();
  });
}

void node::tell_shard(const char* what, std::function<void(scheduler&)> how) {
  ++to_shard_;
  to_shard_us_ = std::max(to_shard_us_, world_.now_us() + world_.network.between(2, 80));
  world_.after(to_shard_us_ - world_.now_us(), of_this_lead([this, what, how = std::move(how)] {
                 --to_shard_;
                 // What has come for a core that was away goes first.
                 if (serves() && held_.empty())
                   take(what, how);
                 else
                   held_.push_back([this, what, how] { take(what, how); });
               }));
}

/// Those who wait for events are looked after as scheduler_actor does it.
void node::arm_look() {
  if (!shell_->watched() || std::exchange(look_armed_, true)) return;
  world_.after(look_period_us, of_this_life([this] {
                 look_armed_ = false;
                 in_process([&] {
                   shell_->expire_watches();
                   after_message();
                 });
               }));
}

}  // namespace fairlead::simulation
