#pragma once
// What processes may believe of their leases, in true time, which none of them knows. Filled from the messages of the shards as they arrive; the
// judges of agents go by it.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

#include "actors/agents/backend.hpp"
#include "tests/simulation/agents/agents.hpp"

namespace fairlead::simulation {

/// It counts from when the message left, and learns of a clock that was set by what comes later.
struct lease_end {
  std::int64_t at_us = 0;
  std::int64_t ahead_us = 0;       // the shard's clock then,
  std::int64_t most_ahead_us = 0;  // and at most, as far as has been heard
  std::int64_t now_us() const;
};

struct lease {
  lease_end complete_by;
  std::optional<lease_end> by_heartbeat;
  std::optional<std::int64_t> finished_us;
  std::int64_t then_until_us = 0;  // what it could believe when it had finished
  v1::Perform as_handed_over;
  v1::Lineage of;
  std::uint32_t tries = 0;
  std::map<std::uint64_t, std::int64_t> beats;  // by sequence: when it was sent
  std::int64_t until_us() const;
  void finish(std::int64_t at_us);
};

class lease_book {
 public:
  explicit lease_book(const world& in) : world_(in) {}

  /// Null: no message has handed it over.
  lease* find(const fairlead::agents::attempt_key& key);
  lease& at(const fairlead::agents::attempt_key& key) { return begun_.at(key); }
  /// The attempt begins by this message.
  void begin(const fairlead::agents::attempt_key& key, const v1::Perform& sent, const v1::PerformBatch& by, const stamp& when);
  /// The message has come to whoever carries the worker; the worker may have the attempt by an earlier one.
  void arrived(const fairlead::agents::attempt_key& key, const v1::Perform& sent, const v1::PerformBatch& by, const stamp& when);
  /// A message of the shard shows its clock.
  void heard(std::uint32_t shard, const stamp& when);
  void renewed(const fairlead::agents::attempt_key& key, std::uint64_t sequence);

 private:
  const world& world_;
  std::unordered_map<fairlead::agents::attempt_key, lease, fairlead::agents::attempt_key_hash> begun_;
};

}  // namespace fairlead::simulation
