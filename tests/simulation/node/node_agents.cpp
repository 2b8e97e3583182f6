// A node and the agents: registrations, beacons, what they say, and who of them is away.

#include <algorithm>

#include "messages/lineage.hpp"
#include "tests/simulation/node/node.hpp"
#include "tests/simulation/shard/home.hpp"
#include "tests/simulation/shard/member.hpp"

namespace fairlead::simulation {

namespace {

constexpr duration longest_silence{3'000};

}  // namespace

/// What a message shows of both clocks when it leaves.
stamp node::stamp_for(const std::string& instance) {
  stamp out;
  out.ahead_us = ahead_us();
  out.left_us = world_.now_us();
  out.sent_unix_ms = to_unix_ms(time().now());
  const auto known = seats_.find(instance);
  if (agents_.local(instance, shard_))
    out.anchor_ms = to_unix_ms(clock_.steady());
  else if (known != seats_.end())
    out.anchor_ms = known->second.clock.anchor_ms(clock_.steady());
  return out;
}

void node::registers(const v1::RegisterAgent& what, std::uint64_t carrier, std::function<void(welcome)> answer) {
  // Its gateway passes it on to an address that outlives the core.
  if (!serves()) {
    // Where another node may lead nobody waits for this one.
    if (!member_) held_.push_back([this, what, carrier, answer = std::move(answer)] { registers(what, carrier, answer); });
    return;
  }
  in_process([&] {
    const auto known = seats_.find(what.instance());
    const auto fresh = known == seats_.end();
    const auto reconnects =
        !fresh && (known->second.down || known->second.incarnation != what.incarnation() || known->second.carrier != carrier);
    const auto anew = fresh || reconnects || known->second.away;
    auto reply = shell_->add_agent(what, reconnects);
    if (reply.error().code() == v1::ERROR_CODE_OK && reply.revision() <= what.revision()) {
      auto& one = seats_[what.instance()];
      if (one.incarnation != what.incarnation()) one = {};
      one.incarnation = what.incarnation();
      one.carrier = carrier;
      one.silent = what.silent();
      one.down = one.away = false;
      one.clock.told(what.beacon_ms(), clock_.steady());
      checker_.registered(what, shell_->epoch(), anew);
    }
    const auto when = stamp_for(what.instance());
    put(when, reply);
    answer({std::move(reply), core_, when});
    if (auto found = strays_.extract(what.instance()); !found.empty() && is_old(found.mapped().what)) {
      world_.count("hand-overs of a Scheduler that is no more");
      const auto& late = found.mapped();
      agents_.perform({what.instance(), what.incarnation(), late.carrier}, shard_, late.what, late.when);
    }
    after_message();
  });
}

/// Of a Scheduler before this one.
bool node::is_old(const v1::PerformBatch& what) const {
  return what.epoch() < shell_->epoch() || compare(what.lineage(), lineage_) == lineage_order::earlier;
}

void node::beacon(const v1::Beacon& what, std::uint64_t carrier) {
  const auto known = seats_.find(what.instance());
  v1::BeaconAck reply;
  reply.set_shard(shard_);
  const auto theirs =
      known != seats_.end() && !known->second.away && known->second.incarnation == what.incarnation() && known->second.carrier == carrier;
  if (theirs) {
    known->second.clock.told(what.beacon_ms(), clock_.steady());
    reply.set_known(true);
    reply.set_wanted(shell_->wanted_of(what.instance()));
  }
  const auto when = stamp_for(what.instance());
  reply.set_sent_unix_ms(when.sent_unix_ms);
  reply.set_anchor_ms(theirs ? when.anchor_ms : what.beacon_ms());
  agents_.acknowledge({what.instance(), what.incarnation(), carrier}, shard_, reply, when);
}

/// As the Scheduler's actor: only the latest host of an instance may give attempts back.
void node::outcomes(v1::OutcomeBatch what, std::uint64_t carrier) {
  in_process([&] {
    const auto* known = seat_of(what.instance());
    const auto is_latest = known != nullptr && known->carrier == carrier;
    if (!is_latest) {
      auto& items = *what.mutable_items();
      const auto kept = std::remove_if(items.begin(), items.end(), [](const v1::Outcome& one) { return one.not_begun(); });
      world_.count("returns of a former host", static_cast<std::uint64_t>(items.end() - kept));
      items.erase(kept, items.end());
    }
    checker_.of_restores().reported(what);
    for (const auto& one : what.items()) checker_.outcome_arrived(serves() ? shell_->epoch() : 0, one);
    shell_->outcomes(std::move(what));
    after_message();
  });
}

void node::heartbeats(v1::HeartbeatBatch what) {
  in_process([&] {
    shell_->heartbeats(std::move(what));
    after_message();
  });
}

node::seat* node::seat_of(const std::string& instance) {
  const auto found = seats_.find(instance);
  return found == seats_.end() || found->second.down ? nullptr : &found->second;
}

bool node::hears_worker(const std::string& instance) {
  const auto* const known = seat_of(instance);
  return known != nullptr && !known->away && !known->silent;
}

/// The Scheduler hears that the handle of an instance is down.
void node::unreachable(const std::string& instance, std::uint64_t incarnation, std::uint64_t carrier) {
  auto* known = serves() ? seat_of(instance) : nullptr;
  if (known == nullptr || (incarnation != 0 && known->incarnation != incarnation) || known->carrier != carrier) return;
  known->down = true;
  away(instance, "the connection to its node is lost");
}

void node::away(const std::string& instance, const char* why) {
  auto& one = seats_.at(instance);
  one.away = true;
  world_.count("instances away");
  in_process([&] {
    shell_->agent_away(instance, one.incarnation, why);
    after_message();
  });
}

void node::look_at_agents() {
  std::vector<std::string> silent;
  for (const auto& [instance, one] : seats_)
    if (!one.away && !agents_.local(instance, shard_) && one.clock.silent(clock_.steady(), longest_silence)) silent.push_back(instance);
  for (const auto& instance : silent)
    if (serves()) away(instance, "it sent no heartbeat for 3 s");
  if (member_ && serves())
    in_process([&] {
      shell_->look_at_replicas();
      after_message();
    });
  world_.after(look_period_us, of_this_life([this] { look_at_agents(); }));
}

}  // namespace fairlead::simulation
