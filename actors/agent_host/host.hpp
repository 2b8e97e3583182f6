#pragma once
// Hosts one agent instance of any kind: keeps leases, repeats tries, drops duplicates, sends heartbeats, and keeps each outcome until the
// Scheduler has recorded or refused it. A shell over ports. One thread at a time.
//
// What it promises: at the end of its lease (complete_by, or before that the moment by which its heartbeat had to be renewed) it stops an
// attempt and never speaks of it again unless it had finished before; the same attempt handed over twice is carried out once; every try of an
// attempt carries the same key and the same input, and none is begun that could not end before complete_by; a lookup that its backend does
// not offer is answered (it is not known) and never performed; no secret leaves it in an outcome or in progress.
//
// Of two lineages of a shard it obeys the later one. What the earlier one had handed over it stops, and says no more of it but what had been done
// or may have been, with each registration until that is acknowledged, so that people can be told of effects without a task.
//
// It serves any number of shards, and what it has of one never mixes with what it has of another. It counts by its own monotonic clock alone:
// agent_times.* translates what shards say. Backends are told the time by this machine's wall clock.
//
// Its parts: host.cpp takes attempts and reports their ends, leases.cpp looks after those under way, shards.cpp
// speaks with the shards, agent_tries.* counts tries, agent_heartbeats.* keeps heartbeats.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "actors/agent_host/heartbeats.hpp"
#include "actors/agent_host/times.hpp"
#include "actors/agent_host/tries.hpp"
#include "actors/agents/backend.hpp"
#include "actors/agents/secrets/secrets.hpp"
#include "actors/agents/settings.hpp"
#include "actors/core/planted_faults.hpp"
#include "actors/protocol/ports.hpp"

namespace fairlead {

/// Where a host's messages go: to the shard that the batch names. One that cannot be reached gets nothing; the host says it again.
class agent_outbox {
 public:
  virtual ~agent_outbox() = default;
  virtual void outcomes(v1::OutcomeBatch what) = 0;
  virtual void heartbeats(v1::HeartbeatBatch what) = 0;
  /// Of what has just been handed over the host has begun nothing: for whoever handed it over.
  virtual void refused(v1::OutcomeBatch what) = 0;
  /// From any thread: have `agent_host::finished` called with this on the host's thread.
  virtual void finish_later(agents::attempt_key key, agents::attempt_result result) = 0;
  /// From any thread: have `agent_host::progressed` called with this on the host's thread.
  virtual void progress_later(agents::attempt_key key) = 0;
};

class agent_host {
 public:
  struct identity {
    std::string agent;
    std::string instance;
    std::uint64_t incarnation = 0;
    std::string kind;
    agents::agent_settings settings;
    std::shared_ptr<const agents::secrets> secrets;  // null: it has none
  };

  agent_host(identity who, agents::backend& backend, const clock& time, agent_outbox& out);
  agent_host(const agent_host&) = delete;
  agent_host& operator=(const agent_host&) = delete;

  /// As the instance registers with a shard: what it is, and what it has obeyed of that shard so far.
  v1::RegisterAgent registration(std::uint32_t shard) const;

  /// Faults that tests switch on; never in production.
  void plant(const core::planted_faults& faults) { planted_ = &faults; }

  /// A shard (of this lineage and epoch) knows the instance: it is told at once what has waited for it. False: a later one has been obeyed.
  bool welcomed(const v1::AgentWelcome& what);
  /// A shard says what the time is.
  void acknowledged(const v1::BeaconAck& what);

  void perform(v1::PerformBatch what);
  void acknowledged(const v1::OutcomeAckBatch& what);
  void acknowledged(const v1::HeartbeatAckBatch& what);
  void finished(const agents::attempt_key& key, agents::attempt_result result);
  /// An attempt has something to tell; it waits in the host.
  void progressed(const agents::attempt_key& key);

  /// Ends leases that are over, begins tries and sends heartbeats whose time has come, and sends again what was not acknowledged for long.
  void expire();
  /// When `expire` has something to do.
  std::optional<moment> next_expiry() const;
  /// It holds attempts: a clock that is set while it does must not surprise it for long.
  bool holds_any() const noexcept { return !held_.empty(); }
  std::size_t held() const noexcept { return held_.size(); }
  /// Of one shard.
  std::uint32_t held(std::uint32_t shard) const;

  /// Sends the heartbeats and outcomes that have gathered.
  void flush();
  bool wants_flush() const noexcept { return gathered_any_; }

 private:
  using reminders = std::multimap<moment, agents::attempt_key>;
  // Moments are those of the own monotonic clock.
  struct held_attempt {
    duration offset;  // to the shard's wall clock, as complete_by counts
    moment complete_by;
    moment lease_end;       // complete_by, or earlier with a heartbeat
    duration lease_offset;  // what was known of that clock when lease_end was given
    attempt_tries tries;
    std::int64_t budget_ms = 0;           // as it was left,
    moment received;                      // then
    std::unique_ptr<v1::Perform> kept{};  // for another try; null when there will be none
    std::optional<moment> next_try{};     // set exactly while it waits for one,
    v1::Fault last_fault{};               // because of this
    std::unique_ptr<attempt_pulse> pulse{};
    reminders::iterator reminder{};  // in reminders_, once it is held
    std::string idempotency_key{};
  };
  using held_attempts = std::unordered_map<agents::attempt_key, held_attempt, agents::attempt_key_hash>;
  struct unacknowledged {
    v1::Outcome outcome;
    moment sent;
    std::string idempotency_key;
  };
  struct shard_side {
    std::vector<v1::Lineage> met;  // each later than the one before; the last is obeyed. Empty: the shard has told none
    std::uint64_t epoch = 0;       // the highest seen of that one; commands of a lower one are stale
    shard_times times;
    std::uint32_t held = 0;
    v1::OutcomeBatch gathered;
    v1::HeartbeatBatch beats;
    std::vector<v1::OutcomeBatch> left_over;  // what earlier lineages have not acknowledged, a batch each, oldest first
    bool tell_left_over = false;              // with the next flush
    bool welcome = false;                     // by the lineage that is obeyed

    std::uint32_t lineage() const { return met.empty() ? 0 : static_cast<std::uint32_t>(met.size() - 1); }
  };
  /// Attempts that are over, so many of them: what handed them over may come a second time.
  class memory {
   public:
    explicit memory(std::size_t limit) : limit_(limit) {}
    void add(const agents::attempt_key& key);
    bool has(const agents::attempt_key& key) const { return keys_.count(key) != 0; }

   private:
    std::size_t limit_;
    std::unordered_set<agents::attempt_key, agents::attempt_key_hash> keys_;
    std::deque<agents::attempt_key> order_;  // the same, oldest first
  };

  std::uint32_t own(std::uint32_t shard) const;
  /// Whether to do as the shard says; a later lineage begins here.
  bool obeys(std::uint32_t shard, shard_side& side, const v1::Lineage& lineage, std::uint64_t epoch);
  void begin_lineage(std::uint32_t shard, shard_side& side, const v1::Lineage& later);
  void let_go(std::uint32_t shard, v1::OutcomeBatch& left);
  void acknowledged_late(const v1::OutcomeAckBatch& what);
  /// Whether what is acknowledged is that of the lineage that is obeyed; null: it is not.
  const shard_side* side_of_ack(std::uint32_t shard, const v1::Lineage& lineage) const;
  void refuse(const v1::PerformBatch& what, const shard_side& side);
  bool knows(const agents::attempt_key& key) const;
  shard_side& side_of(const agents::attempt_key& key) { return shards_[key.shard]; }
  void gather(const agents::attempt_key& key, const v1::Outcome& what);
  void forget_late(std::uint32_t shard, v1::HeartbeatBatch& what) const;
  std::optional<duration> take_stamp(std::uint32_t shard, shard_side& side, const shard_stamp& stamp);
  void shorten(std::uint32_t shard, duration offset, duration by);
  std::int64_t to_wall_ms(moment at, moment now) const;

  const agents::retry_policy& policy_of(const std::string& call) const;
  void start(v1::Perform& what, duration offset);
  bool can_look_up(const std::string& call) const;
  /// Begins a try; its end, when the backend has it at once.
  std::optional<agents::attempt_result> begin(const agents::attempt_key& key, held_attempt& one, v1::Perform& what, moment now);
  /// The input with its secrets, in a copy; nullopt: there are none in it. An error ends the attempt.
  result<std::optional<v1::Perform>> with_secrets(const v1::Perform& what) const;
  /// A try has ended. False: the attempt goes on.
  bool ended(const agents::attempt_key& key, held_attempt& one, agents::attempt_result result);
  void report(const agents::attempt_key& key, held_attempt& one, agents::attempt_result result);

  bool lease_over(const held_attempt& one, moment now) const;
  void look_after(held_attempts::iterator which, moment now);
  bool try_again(const agents::attempt_key& key, held_attempt& one, moment now);
  void remind(const agents::attempt_key& key, held_attempt& one, moment now);
  void beat(const agents::attempt_key& key, held_attempt& one, moment now);
  void stop(held_attempts::iterator which);
  void drop(held_attempts::iterator which);
  bool speaks_for(const held_attempt& one) const { return !beats_itself_ || !one.tries.under_way(); }
  std::string redacted(std::string text) const;

  identity who_;
  agents::backend& backend_;
  const clock& time_;
  agent_outbox& out_;
  const bool beats_itself_;
  std::map<std::uint32_t, shard_side> shards_;

  held_attempts held_;
  reminders reminders_;  // one for each of them: when it has to be looked after next
  std::unordered_map<agents::attempt_key, unacknowledged, agents::attempt_key_hash> outcomes_;
  memory told_{1'024};  // and the shard has acknowledged it: a second message comes soon or not at all
  memory cut_{16'384};  // and nothing was said: as long as its record says that it is out, it may be sent again with each registration
  const core::planted_faults* planted_ = nullptr;
  std::optional<moment> resend_at_;
  bool gathered_any_ = false;
  progress_inbox inbox_;

  // A try that a backend ends inside `start` is taken here, without a detour through the mailbox.
  agents::attempt_key starting_;
  std::optional<agents::attempt_result> at_once_;
};

}  // namespace fairlead
