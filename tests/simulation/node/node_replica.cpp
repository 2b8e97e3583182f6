// A node of a shard that others hold, too: what runs where the shard is led comes and goes with that (actors/shard/leadership.hpp).

#include <algorithm>
#include <utility>

#include "tests/simulation/node/claim_desk.hpp"
#include "tests/simulation/node/clerk.hpp"
#include "tests/simulation/node/crier.hpp"
#include "tests/simulation/node/herald.hpp"
#include "tests/simulation/node/overseer.hpp"
#include "tests/simulation/shard/home.hpp"
#include "tests/simulation/shard/member.hpp"

namespace fairlead::simulation {

const clock& node::time() const {
  if (member_) return member_->time();
  return clock_;
}

bool node::is_leader() const { return member_ && member_->consensus().view().role == raft::role::leader; }

raft::log_term node::term() const { return member_->consensus().view().term; }

bool node::has_settled() const {
  const auto known = member_->consensus().view();
  return known.last_index == known.commit_index;
}

raft::members node::members() const { return member_->consensus().view().members; }

std::int64_t node::ahead_us() const {
  if (!member_) return clock_.ahead_us();
  return (to_unix_ms(time().now()) - world_.start_ms()) * millisecond - world_.now_us();
}

/// nullopt: another leads meanwhile, and what has begun here is about to be stopped; or the majority has not come yet, and this is called again.
std::optional<std::uint64_t> node::begin_epoch() {
  constexpr std::int64_t again_us = 5 * millisecond;
  const auto epoch = member_ ? member_->consensus().ask_epoch() : store_.raise_epoch();
  if (member_) member_->wake();
  if (epoch.ok() && *epoch != 0) return *epoch;
  if (epoch.ok()) {
    world_.after(again_us, of_this_lead([this, core = core_] {
                   if (core == core_) start_core();
                 }));
    return std::nullopt;
  }
  if (member_ && epoch.failure().code == v1::ERROR_CODE_UNAVAILABLE) return std::nullopt;
  throw rule_broken{"fatal", "no Scheduler can begin: " + epoch.failure().sentence, false};
}

void node::in_replica(const std::function<void()>& what) {
  try {
    what();
  } catch (const process_killed&) {
    die();
  }
}

// ---- its part of the shard ----

void node::lead(bool now) {
  world_.tell(me_, "", now ? 1 : 0, [&] { return std::string{now ? "leads" : "leads no longer"}; });
  is_to_lead_ = now;
  if (now) home_.led_in(term_ = member_->consensus().view().term);
  is_outdated_ = is_outdated_ || (leads_ && !now);
  if (!now) home_.claims_no_longer(*this);
  const auto soon = world_.replicas.chance(900);
  const auto delay_us = soon ? world_.replicas.between(5, 3'000) : world_.replicas.between(3, 1'500) * millisecond;
  world_.after(delay_us, of_this_process([this] {
                 // What has begun for an earlier lead ends first.
                 if (is_outdated_) stop_leading();
                 if (is_to_lead_ && !leads_) begin_to_lead();
               }));
}

void node::begin_to_lead() {
  leads_ = true;
  member_->begin_lead();
  world_.count("leaders that began");
  start_errands();
  start_core();
}

void node::stop_leading() {
  leads_ = is_outdated_ = false;
  drop_errands();
  drop_core();
}

void node::confirm(std::uint64_t ticket) {
  world_.tell(me_, "", ticket, [&] { return "asks in round " + std::to_string(ticket) + " whether it leads"; });
  member_->confirm(shell_->epoch(), [this, ticket, core = core_](bool led) {
    if (core != core_ || !serves()) return;
    world_.tell(me_, "", ticket, [&] { return "round " + std::to_string(ticket) + (led ? ": leads" : ": may not lead"); });
    world_.count(led ? "confirmed rounds" : "rounds that nobody confirms");
    tell_scheduler("confirmed", [ticket, led](scheduler& to) { to.on_confirmed(ticket, led); });
  });
}

/// Where an agent stands beside a former leader's Scheduler and knows of no other, it holds what it is given by this clock.
void node::judge_former_clock() {
  world_.judges("former_clock");
  world_.count("hand-overs by the clock of a former leader");
  // Clocks differ by what a message is under way, and one that leads may drift by 30 ms several times a second.
  constexpr auto little_us = 250 * millisecond;
  const auto behind_us = home_.ahead_us() - ahead_us();
  if (behind_us > little_us)
    world::broken("former_clock", me_ + " leads no longer, and hands work over by a clock that is " +
                                      std::to_string(behind_us / millisecond) + " ms behind that of its successor");
}

void node::ask_who_leads(std::function<void(bool here)> then, std::uint64_t for_whom) {
  if (!member_) return in_process([&] { then(true); });
  member_->confirm(for_whom, [this, then = std::move(then), lead = lead_](bool led) {
    world_.after(world_.replicas.between(2, 60), of_this_process([this, then, lead, led] {
                   if (lead == lead_) in_process([&] { then(led); });
                 }));
  });
}

void node::receive(const v1::ReplicaMessage& what) {
  if (member_) member_->receive(what);
}

void node::receive(const v1::ReplicaCopy& what) {
  if (member_) member_->take(what);
}

void node::receive(std::size_t from, const v1::ReplicaHello& what) {
  if (member_) member_->greeted(from, what);
}

void node::receive(std::size_t from, const v1::ReplicaWelcome& what) {
  if (member_) member_->welcomed(from, what);
}

void node::linked(std::size_t place) {
  if (member_) member_->linked(place);
}

void node::run_release(std::uint32_t format) {
  world_.tell("fate", me_, format, [&] { return "gets a release that knows format " + std::to_string(format); });
  known_format_ = format;
  store_.know_format(format);
  up() ? die() : store_.end_process();
}

void node::write_news(const store::batch& what) {
  if (!member_ || !member_->consensus().propose_rows(what)) return;
  world_.count("news written");
  member_->wake();
}

void node::lost(std::size_t place) {
  if (member_) member_->lost(place);
}

void node::hand_over(std::size_t place) {
  if (member_) member_->transfer(home_.id_of(place));
}

result<std::optional<v1::ShardNodes>> node::change_nodes(const v1::ShardNodesRequest& what) {
  if (!member_) return error{v1::ERROR_CODE_UNAVAILABLE, "it is down", ""};
  result<std::optional<v1::ShardNodes>> out = error{v1::ERROR_CODE_UNAVAILABLE, "its process has ended", ""};
  in_replica([&] { out = member_->change_nodes(what); });
  return out;
}

void node::lose_disk(const replica_settings& born) {
  world_.tell("fate", me_, born.self, [] { return std::string{"loses its disk"}; });
  if (up()) die();
  archives_->lose();
  store_.lose_disk(born, home_.lineage());
}

void node::decline(bool on, why_not_lead why) {
  if (member_) member_->decline(on, why);
}

// ---- what stands still ----

void node::start_soon() {
  world_.after(world_.crashes.between(10, 3'000) * millisecond, [this] {
    if (!up() && !waits_) start();
  });
}

void node::wait_with_start(bool on) {
  const auto waited = std::exchange(waits_, on);
  if (waited && !on && !up()) start_soon();
}

void node::stop_for(std::int64_t us) {
  world_.tell("fate", me_, static_cast<std::uint64_t>(us), [&] { return "stops it for " + std::to_string(us / millisecond) + " ms"; });
  stopped_until_us_ = std::max(stopped_until_us_, world_.now_us() + us);
}

void node::when_awake(std::function<void()> what) {
  if (!up()) return;
  if (stopped_until_us_ <= world_.now_us() && asleep_.empty()) return what();
  asleep_.push_back(of_this_process(std::move(what)));
  if (asleep_.size() == 1) wake_later();
}

/// What has come while it stood still comes in the order in which it was sent, however often it was stopped.
void node::wake_later() {
  world_.after(std::max<std::int64_t>(stopped_until_us_ - world_.now_us(), 0), [this] {
    if (stopped_until_us_ > world_.now_us()) return wake_later();
    for (const auto& one : std::exchange(asleep_, {})) one();
  });
}

}  // namespace fairlead::simulation
