// An agent's process and its shards, joined as agent_actor joins them: it registers with each that it can reach, says every half second that it
// is there, and registers anew after whatever may have cost a Scheduler its memory of it.

#include <algorithm>

#include "messages/lineage.hpp"
#include "tests/simulation/agents/agent_post.hpp"
#include "tests/simulation/checker/checker.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::int64_t request_limit_us = 2 * second;

}  // namespace

void agents::post::routed(std::uint32_t shard) {
  links_.routed(shard, steady());
  go_round();
}

void agents::post::unrouted(std::uint32_t shard) {
  world_.tell(site_.instance, "", shard, [&] { return "has lost shard " + std::to_string(shard); });
  sessions_[shard] = {};
  links_.unrouted(shard);
  go_round();
}

void agents::post::scheduler_down(std::uint32_t shard, std::uint64_t core) {
  auto& with = sessions_[shard];
  if (with.core != core) return;
  with = {};
  links_.down(shard, steady());
  go_round();
}

void agents::post::welcomed(std::uint64_t revision, const welcome& what) {
  const auto shard = what.text.shard();
  if (ended_) return;
  if (what.text.superseded() && worker_.session != nullptr) {
    worker_.session->superseded();
    return end();
  }
  if (what.text.error().code() != v1::ERROR_CODE_OK) {
    if (links_.refused(shard, revision, steady())) sessions_[shard] = {};
    go_round();
    return;
  }
  if (!links_.awaits(shard, revision)) return;
  meets(shard, what.text.lineage());
  if (!host_.welcomed(what.text)) {
    links_.unanswered(shard, revision, steady());
    go_round();
    return;
  }
  links_.welcomed(revision, what.text, steady());
  if (compare(what.text.lineage(), met_[shard].back()) == lineage_order::same) epochs_[shard] = std::max(epochs_[shard], what.text.epoch());
  heard(shard, what.when);
  auto& with = sessions_[shard];
  if (with.core != what.core) with = {what.core, world_.now_us()};
  go_round();
  after_message();
}

void agents::post::acknowledged(const v1::BeaconAck& what, const stamp& when) {
  auto shown = when;
  // Beacons that a cut link has kept come late together, and each is answered.
  if (worker_.session != nullptr) shown.anchor_ms = what.anchor_ms();
  heard(what.shard(), shown);
  links_.acknowledged(what, steady());
  host_.acknowledged(what);
  after_message();
  go_round();
}

void agents::post::drain() {
  links_.drain(true);
  go_round();
}

void agents::post::go_round() {
  if (ended_) return;
  check_told();
  const auto work = links_.due(steady());
  for (const auto& one : work.registrations) {
    auto message = host_.registration(one.shard);
    message.set_revision(one.revision);
    message.set_capacity(one.capacity);
    message.set_draining(one.draining);
    message.set_leaving(one.leaving);
    message.set_session(worker_.name);
    message.set_silent(one.silent);
    if (around_.announces) around_.announces(one.draining);
    message.set_beacon_ms(to_unix_ms(steady()));
    world_.tell(site_.instance, name_of_scheduler(one.shard), one.revision, [&] {
      return "registers by revision " + std::to_string(one.revision) + " with " + std::to_string(one.capacity) + " slots";
    });
    around_.to_gateway(std::move(message));
    world_.after(request_limit_us, [self = around_.self, shard = one.shard, revision = one.revision] {
      self([&](post& here) {
        here.links_.unanswered(shard, revision, here.steady());
        here.go_round();
      });
    });
    if (world_.strikes(failpoint_id::agent_registering)) throw process_killed{};
  }
  for (const auto shard : work.beacons) {
    if (sessions_[shard].core == 0) continue;
    v1::Beacon message;
    message.set_instance(site_.instance);
    message.set_incarnation(incarnation_);
    message.set_shard(shard);
    message.set_beacon_ms(to_unix_ms(steady()));
    around_.to_scheduler(shard, sessions_[shard].core, [message, from = worker_.carrier](agents::shard& to) { to.beacon(message, from); });
  }
  const auto next = links_.next();
  if (!next) return;
  const auto wait = std::max(*next - steady(), duration{1});
  if (!rounds_.wants(steady() + wait)) return;
  world_.after(wait.count() * millisecond, [self = around_.self] {
    self([](post& here) {
      here.rounds_.fired();
      here.go_round();
    });
  });
}

}  // namespace fairlead::simulation
