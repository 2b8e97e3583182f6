#pragma once
// Replicas of one shard without a world: every message and every write is moved by the test.

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/raft/consensus.hpp"

namespace fairlead::raft {

inline const members three_voters{{1, 2, 3}, {}};

inline entry text(log_index index, log_term term, std::string what) {
  return {index, term, 0, entry_kind::batches, std::make_shared<const std::string>(std::move(what))};
}

struct one_replica {
  consensus core;
  std::uint64_t position = 0;
  std::uint64_t durable = 0;
  std::vector<record> records;
  std::vector<entry> committed;
  std::vector<confirmation> confirmed;
};

class group {
 public:
  static constexpr std::int64_t election_ms = 1000;
  static constexpr std::int64_t heartbeat_ms = 100;

  /// Starts `voters` and `standbys` behind a common base at index 10 of term 1.
  explicit group(members who) : who_{std::move(who)} {
    for (const auto id : who_.others(0)) start(id, {{1, 0}, {10, 1, who_}, {}, 10});
  }

  void start(replica_id id, recovered from) {
    settings how;
    how.self = id;
    how.election_ms = election_ms;
    how.heartbeat_ms = heartbeat_ms;
    how.max_message_bytes = 100;
    how.max_flying_bytes = 300;
    how.seed = id;
    replicas_.insert_or_assign(id, one_replica{consensus{how, std::move(from), now}, 0, 0, {}, {}, {}});
  }

  const members& first_members() const { return who_; }
  std::vector<replica_id> ids() const {
    std::vector<replica_id> out;
    for (const auto& [id, one] : replicas_) out.push_back(id);
    return out;
  }
  one_replica& at(replica_id id) { return replicas_.at(id); }
  consensus& core(replica_id id) { return at(id).core; }

  /// One step. Messages wait in `wire`.
  output step(replica_id id, const input& in) {
    auto& one = at(id);
    auto out = one.core.step(in, now);
    if (watch) watch(id, in, out);
    one.position = out.position;
    one.records.insert(one.records.end(), out.records.begin(), out.records.end());
    one.committed.insert(one.committed.end(), out.committed.begin(), out.committed.end());
    one.confirmed.insert(one.confirmed.end(), out.confirmed.begin(), out.confirmed.end());
    wire.insert(wire.end(), out.messages.begin(), out.messages.end());
    return out;
  }

  /// Until nothing is left to write.
  void sync(replica_id id) {
    for (auto& one = at(id); one.durable < one.position;) {
      one.durable = one.position;
      step(id, durable{one.durable});
    }
  }
  void sync_all() {
    for (auto& [id, one] : replicas_) sync(id);
  }

  /// Delivers all, and what is sent because of it, and syncs all disks, until nothing moves. Messages from or to `silent` are lost.
  void settle() {
    for (sync_all(); !wire.empty(); sync_all()) {
      const auto next = wire.front();
      wire.pop_front();
      if (silent.count(next.from) > 0 || silent.count(next.to) > 0 || replicas_.count(next.to) == 0) continue;
      step(next.to, received{next});
    }
  }

  /// `ms` pass for `id` alone, tick by tick.
  void pass(replica_id id, std::int64_t ms) {
    for (std::int64_t i = 0; i < ms; i += heartbeat_ms / 2) {
      now.boot_ms += heartbeat_ms / 2;
      now.shard_ms += heartbeat_ms / 2;
      step(id, tick{});
    }
  }

  /// `id` campaigns and is elected. The others have heard of no leader for long enough.
  void elect(replica_id id) {
    for (const auto other : who_.others(id)) pass(other, election_ms);
    pass(id, 2 * election_ms);
    settle();
  }

  log_index propose_text(replica_id id, std::string text) {
    return step(id, propose{entry_kind::batches, std::make_shared<const std::string>(std::move(text))}).accepted;
  }

  moment now{5'000'000, 1'000'000};
  std::deque<message> wire;
  std::map<replica_id, bool> silent;
  std::function<void(replica_id, const input&, const output&)> watch;

 private:
  members who_;
  std::map<replica_id, one_replica> replicas_;
};

template <class Body>
std::vector<Body> bodies(const std::vector<message>& of) {
  std::vector<Body> out;
  for (const auto& each : of)
    if (const auto* body = std::get_if<Body>(&each.body)) out.push_back(*body);
  return out;
}

}  // namespace fairlead::raft
