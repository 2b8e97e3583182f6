#pragma once
// Hosts one agent instance of any kind: keeps leases, repeats tries, drops duplicates, sends heartbeats, and keeps each outcome until the
// Scheduler has recorded or refused it. A shell over ports. One thread at a time.
//
// Promises: at the end of its lease an attempt is stopped and never reported again, unless it had finished before. The lease ends at
// complete_by, or earlier, when its heartbeat had to be renewed. The same attempt handed over twice is carried out once. Every try of an
// attempt has the same key and input, and no try begins that could not end before complete_by. A look-up that the backend does not offer is
// answered (not known) and never performed. No secret and no callback leaves the host in an outcome or in progress.
//
// Of two lineages of a shard the host obeys the later one. It stops the attempts of the earlier one. Of these it reports only work that was
// done or may have been done, with each registration until acknowledged, so that operators learn of effects without a task.
//
// The host serves any number of shards and never mixes their data. It counts by its own monotonic clock alone: times.* translates the
// shards' moments. Backends get this machine's wall clock.
//
// Files: host.cpp takes attempts and reports their ends, leases.cpp looks after attempts in progress, shards.cpp speaks with the shards,
// lineages.cpp obeys lineages, tries.* counts tries, heartbeats.* keeps heartbeats.

#include <cstdint>
#include <deque>
#include <functional>
#include <future>
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

/// Takes a host's messages, each for the shard that its batch names. A shard that cannot be reached gets nothing; the host sends again.
class agent_outbox {
 public:
  virtual ~agent_outbox() = default;
  virtual void outcomes(v1::OutcomeBatch what) = 0;
  virtual void heartbeats(v1::HeartbeatBatch what) = 0;
  /// Hand-overs of which the host has begun nothing: the answer to their sender.
  virtual void refused(v1::OutcomeBatch what) = 0;
  /// From any thread: have `agent_host::finished` called with this on the host's thread.
  virtual void finish_later(agents::attempt_key key, agents::attempt_result result) = 0;
  /// From any thread: have `agent_host::progressed` called with this on the host's thread.
  virtual void progress_later(agents::attempt_key key) = 0;
};

class agent_host {
 public:
  /// What the node file says of the agent, besides what its backend is made of.
  struct definition {
    std::string kind;
    agents::agent_settings settings;
    std::shared_ptr<const agents::secrets> secrets;  // null: none
  };
  struct identity {
    std::string agent;
    std::string instance;
    std::uint64_t incarnation = 0;
    definition as;
    /// Heartbeats are numbered from here. A later host of the process numbers above those before it: shards drop what is older.
    std::uint64_t first_beat = 0;
    /// What the URLs of callbacks begin with; empty: nobody could call back.
    std::string callback_url{};
  };

  agent_host(identity who, agents::backend& backend, const clock& time, agent_outbox& out);
  agent_host(const agent_host&) = delete;
  agent_host& operator=(const agent_host&) = delete;

  /// The node file has changed: attempts begin by `as` and `backend` from now on. Those in progress end by the definition that they began
  /// with, and its backend is shut down after the last of them. The caller registers the instance anew.
  void redefine(definition as, std::shared_ptr<agents::backend> backend);
  /// Shuts down all backends: nothing calls into the host any more.
  void shut_down();

  /// The registration with a shard: the instance, and the lineage and epoch of the shard that it has obeyed so far.
  v1::RegisterAgent registration(std::uint32_t shard) const;

  /// Faults that tests switch on; never in production.
  void plant(const core::planted_faults& faults) { planted_ = &faults; }

  /// A shard (of this lineage and epoch) knows the instance: waiting messages are sent at once. False: a later lineage or epoch has been
  /// obeyed.
  bool welcomed(const v1::AgentWelcome& what);
  /// A shard reports its time.
  void acknowledged(const v1::BeaconAck& what);

  void perform(v1::PerformBatch what);
  void acknowledged(const v1::OutcomeAckBatch& what);
  void acknowledged(const v1::HeartbeatAckBatch& what);
  void finished(const agents::attempt_key& key, agents::attempt_result result);
  /// An attempt has news; the news wait in the inbox.
  void progressed(const agents::attempt_key& key);

  /// Ends leases that are over, begins due tries, sends due heartbeats, and repeats messages that were not acknowledged for long.
  void expire();
  /// When `expire` has something to do.
  std::optional<moment> next_expiry() const;
  /// While attempts are held, a change of the clock must be noticed soon.
  bool holds_any() const noexcept { return !held_.empty(); }
  std::size_t held() const noexcept { return held_.size(); }
  /// Attempts in progress, and those whose outcomes are not acknowledged: these are lost with the host.
  std::size_t unsettled() const noexcept { return held_.size() + outcomes_.size(); }
  /// Nothing is in progress, and every outcome is acknowledged.
  bool idle() const noexcept { return held_.empty() && outcomes_.empty(); }
  /// Attempts held for one shard.
  std::uint32_t held(std::uint32_t shard) const;

  /// Sends the gathered heartbeats and outcomes.
  void flush();
  bool wants_flush() const noexcept { return gathered_any_; }

 private:
  using reminders = std::multimap<moment, agents::attempt_key>;
  struct performer {
    definition as;
    std::shared_ptr<agents::backend> backend;
    bool beats_itself = false;
  };
  // Moments are by the host's monotonic clock.
  struct held_attempt {
    std::shared_ptr<const performer> by;  // that it began with
    duration offset;                      // from the shard's wall clock to host time, for complete_by
    moment complete_by;
    moment lease_end;       // complete_by, or earlier with a heartbeat
    duration lease_offset;  // the offset known when lease_end was given
    attempt_tries tries;
    std::int64_t budget_ms = 0;           // budget left
    moment received;                      // at this moment
    std::unique_ptr<v1::Perform> kept{};  // for another try; null: there will be none
    std::optional<moment> next_try{};     // set exactly while the attempt waits for another try
    v1::Fault last_fault{};               // reason for that try
    std::unique_ptr<attempt_pulse> pulse{};
    reminders::iterator reminder{};  // in reminders_, once the attempt is held
    std::string idempotency_key{};
    std::string callback{};  // of the perform: whoever has it can answer for the step, so it is told to nobody else
  };
  using held_attempts = std::unordered_map<agents::attempt_key, held_attempt, agents::attempt_key_hash>;
  struct unacknowledged {
    v1::Outcome outcome;
    moment sent;
    std::string idempotency_key;
  };
  struct shard_side {
    std::vector<v1::Lineage> met;  // each later than the one before; the last is obeyed. Empty: the shard has named none
    std::uint64_t epoch = 0;       // highest seen of the obeyed lineage; commands of a lower epoch are stale
    shard_times times;
    std::uint32_t held = 0;
    v1::OutcomeBatch gathered;
    v1::HeartbeatBatch beats;
    std::vector<v1::OutcomeBatch> left_over;  // unacknowledged outcomes of earlier lineages, a batch each, oldest first
    bool tell_left_over = false;              // send left_over with the next flush
    bool welcome = false;                     // welcomed by the lineage that is obeyed

    std::uint32_t lineage() const { return met.empty() ? 0 : static_cast<std::uint32_t>(met.size() - 1); }
  };
  /// The latest attempts that are over, up to a limit: their hand-over may arrive a second time.
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
  /// Whether to obey the shard; a later lineage begins here.
  bool obeys(std::uint32_t shard, shard_side& side, const v1::Lineage& lineage, std::uint64_t epoch);
  void begin_lineage(std::uint32_t shard, shard_side& side, const v1::Lineage& later);
  void let_go(std::uint32_t shard, v1::OutcomeBatch& left);
  void acknowledged_late(const v1::OutcomeAckBatch& what);
  /// The shard's side if the acknowledged lineage is the obeyed one; otherwise null.
  const shard_side* side_of_ack(std::uint32_t shard, const v1::Lineage& lineage) const;
  void refuse(const v1::PerformBatch& what, const shard_side& side);
  bool knows(const agents::attempt_key& key) const;
  shard_side& side_of(const agents::attempt_key& key) { return shards_[key.shard]; }
  void gather(const agents::attempt_key& key, const v1::Outcome& what);
  void forget_late(std::uint32_t shard, v1::HeartbeatBatch& what) const;
  std::optional<duration> take_stamp(std::uint32_t shard, shard_side& side, const shard_stamp& stamp);
  void shorten(std::uint32_t shard, duration offset, duration by);
  std::int64_t to_wall_ms(moment at, moment now) const;

  void use(definition as, std::shared_ptr<agents::backend> backend);
  /// Shuts down the backends of former definitions that no attempt needs any more, each on a thread of its own: an attempt that does not
  /// stop must not keep others from their heartbeats.
  void retire();
  const agents::retry_policy& policy_of(const std::string& call) const;
  void start(v1::Perform& what, duration offset);
  bool can_look_up(const std::string& call) const;
  /// Begins a try; returns its end if the backend has it at once.
  std::optional<agents::attempt_result> begin(const agents::attempt_key& key, held_attempt& one, v1::Perform& what, moment now);
  /// A copy of the message with the secrets in its input; nullopt: the input has none. An error ends the attempt.
  result<std::optional<v1::Perform>> with_secrets(const performer& by, const v1::Perform& what) const;
  /// A try has ended. False: the attempt goes on.
  bool ended(const agents::attempt_key& key, held_attempt& one, agents::attempt_result&& result);
  void report(const agents::attempt_key& key, held_attempt& one, agents::attempt_result&& result);

  bool lease_over(const held_attempt& one, moment now) const;
  void look_after(held_attempts::iterator which, moment now);
  bool try_again(const agents::attempt_key& key, held_attempt& one, moment now);
  void remind(const agents::attempt_key& key, held_attempt& one, moment now);
  void beat(const agents::attempt_key& key, held_attempt& one, moment now);
  void stop(held_attempts::iterator which);
  void drop(held_attempts::iterator which);
  static bool speaks_for(const held_attempt& one) { return !one.by->beats_itself || !one.tries.under_way(); }
  /// Without secrets, and without the callback.
  static std::string redacted(const held_attempt& one, std::string text);

  const std::string agent_;
  const std::string instance_;
  const std::uint64_t incarnation_;
  const std::uint64_t first_beat_;
  const std::string callback_url_;
  const clock& time_;
  agent_outbox& out_;
  std::shared_ptr<const performer> now_by_;               // of attempts that begin
  std::vector<std::shared_ptr<const performer>> former_;  // of attempts in progress
  std::map<std::uint32_t, shard_side> shards_;

  held_attempts held_;
  reminders reminders_;  // one for each held attempt: when it must be checked next
  std::unordered_map<agents::attempt_key, unacknowledged, agents::attempt_key_hash> outcomes_;
  memory told_{1'024};  // reported and acknowledged: a second hand-over comes soon or not at all
  memory cut_{16'384};  // stopped without a report: may be handed over with each registration while its record says that it is in progress
  const core::planted_faults* planted_ = nullptr;
  std::optional<moment> resend_at_;
  bool gathered_any_ = false;
  progress_inbox inbox_;

  // The end of a try that a backend ends inside `start`, taken without a detour through the mailbox.
  agents::attempt_key starting_;
  std::optional<agents::attempt_result> at_once_;

  std::vector<std::future<void>> ending_;  // of former backends; destroyed first, because these call into the inbox
};

}  // namespace fairlead
