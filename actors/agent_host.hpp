#pragma once
// Hosts one agent instance of any kind: keeps leases, drops duplicates, and keeps each outcome until the Scheduler has recorded or
// refused it. A shell over ports. One thread at a time.
//
// What it promises: at complete_by it stops an attempt and never speaks of it again unless it had finished before; the same attempt
// handed over twice is carried out once; a lookup that its backend does not offer is answered (it is not known) and never performed.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "actors/agents/backend.hpp"
#include "actors/core/planted_faults.hpp"
#include "actors/ports.hpp"

namespace fairlead {

struct attempt_key_hash {
  std::size_t operator()(const agents::attempt_key& key) const noexcept {
    const auto low = (static_cast<std::uint64_t>(key.step) << 40) ^ (static_cast<std::uint64_t>(key.attempt) << 8) ^
                     static_cast<std::uint64_t>(key.direction);
    return std::hash<std::uint64_t>{}(key.task_number * 0x9e3779b97f4a7c15ULL ^ low);
  }
};

/// Where a host's messages go.
class agent_outbox {
 public:
  virtual ~agent_outbox() = default;
  virtual void outcomes(v1::OutcomeBatch what) = 0;
  /// From any thread: have `agent_host::finished` called with this on the host's thread.
  virtual void finish_later(agents::attempt_key key, agents::attempt_result result) = 0;
};

class agent_host {
 public:
  struct identity {
    std::string agent;
    std::string instance;
    std::uint64_t incarnation = 0;
    std::string kind;
  };

  agent_host(identity who, agents::backend& backend, const clock& time, agent_outbox& out);

  v1::RegisterAgent registration() const;

  /// Faults that tests switch on; never in production.
  void plant(const core::planted_faults& faults) { planted_ = &faults; }

  void perform(v1::PerformBatch what);
  void acknowledged(const v1::OutcomeAckBatch& what);
  void finished(const agents::attempt_key& key, agents::attempt_result result);

  /// Ends leases that are over and sends again what was not acknowledged for long.
  void expire();
  /// When `expire` has something to do.
  std::optional<moment> next_expiry() const;

  /// Sends the outcomes that have gathered.
  void flush();
  bool wants_flush() const { return !gathered_.items().empty(); }

 private:
  struct unacknowledged {
    v1::Outcome outcome;
    moment sent;
    moment complete_by;
  };
  void remember_over(const agents::attempt_key& key, moment complete_by);
  void start(const v1::Perform& what);
  bool can_look_up(const std::string& call) const;
  void report(const agents::attempt_key& key, moment complete_by, agents::attempt_result result);
  void forget_lease(const agents::attempt_key& key);

  identity who_;
  agents::backend& backend_;
  const clock& time_;
  agent_outbox& out_;
  std::uint64_t epoch_ = 0;  // the highest seen; commands of a lower one are stale

  std::unordered_map<agents::attempt_key, moment, attempt_key_hash> held_;  // until complete_by
  std::multimap<moment, agents::attempt_key> leases_;                       // the same by time
  std::unordered_map<agents::attempt_key, unacknowledged, attempt_key_hash> outcomes_;
  // Attempts that are over and acknowledged lately: the message that handed them over may come a second time.
  std::unordered_set<agents::attempt_key, attempt_key_hash> over_;
  std::deque<agents::attempt_key> over_order_;  // the same, oldest first
  const core::planted_faults* planted_ = nullptr;
  std::optional<moment> resend_at_;
  v1::OutcomeBatch gathered_;

  // An attempt that a backend completes inside `start` is taken here, without a detour through the mailbox.
  const agents::attempt_key* starting_ = nullptr;
  std::optional<agents::attempt_result> at_once_;
};

}  // namespace fairlead
