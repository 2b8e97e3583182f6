#pragma once
// The interface of one kind of agent: it carries out single attempts. Leases, duplicates, keeping of outcomes until acknowledged and
// batching belong to the agent host (actors/agent_host/host.*), the same for every kind.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "messages/agent.pb.h"
#include "messages/error.hpp"
#include "messages/time.hpp"

namespace fairlead::agents {

/// The end of an attempt: an output (JSON text) or a fault. A look-up without fault also has its verdict on the perform; `output` is then
/// the perform's, and only set if the perform is done.
struct attempt_result {
  std::string output;
  std::optional<v1::Fault> fault;
  std::uint32_t tries = 1;
  v1::LookupVerdict verdict = v1::LOOKUP_VERDICT_UNSPECIFIED;
  std::uint32_t try_number = 0;                   // written by the host: the try that ended so
  std::optional<std::string> log = std::nullopt;  // UTF-8, at most core::kept_log_bytes; nullopt: no log is kept
  bool log_cut = false;                           // its beginning is missing
  bool not_begun = false;                         // nobody has begun the attempt: it is given back, with a transient fault
};

/// Identifies an attempt inside one agent instance. Task numbers are those of one lineage of a shard.
struct attempt_key {
  std::uint64_t task_number = 0;
  std::uint32_t step = 0;
  v1::Direction direction = v1::DIRECTION_PERFORM;
  std::uint32_t attempt = 0;
  std::uint32_t shard = 0;
  std::uint32_t lineage = 0;  // number of earlier lineages of the shard that the host has met
  friend bool operator==(const attempt_key& a, const attempt_key& b) {
    return a.task_number == b.task_number && a.step == b.step && a.direction == b.direction && a.attempt == b.attempt &&
           a.shard == b.shard && a.lineage == b.lineage;
  }
};

struct attempt_key_hash {
  std::size_t operator()(const attempt_key& key) const noexcept {
    const auto low = (static_cast<std::uint64_t>(key.step) << 40) ^ (static_cast<std::uint64_t>(key.attempt) << 8) ^
                     (static_cast<std::uint64_t>(key.lineage) << 56) ^ (static_cast<std::uint64_t>(key.shard) << 2) ^
                     static_cast<std::uint64_t>(key.direction);
    return std::hash<std::uint64_t>{}(key.task_number * 0x9e3779b97f4a7c15ULL ^ low);
  }
};

inline attempt_key key_of(const v1::Perform& what) {
  return {what.task_number(), what.step(), what.direction(), what.attempt(), what.shard(), what.lineage()};
}

/// Called once for each started attempt, from any thread, unless the attempt was stopped before.
using completion = std::function<void(const attempt_key&, attempt_result)>;

/// Progress reported by a long attempt.
struct attempt_progress {
  std::optional<std::uint32_t> percent;  // 0..100
  std::string note;
  std::string checkpoint;  // JSON text; empty: unchanged
  bool at_once = false;    // a heartbeat is sent for it without delay: see backend::beat_sent
};

/// May be called any number of times for an attempt in progress, from any thread.
using progress_sink = std::function<void(const attempt_key&, attempt_progress)>;

class backend {
 public:
  virtual ~backend() = default;

  /// Starts one try of an attempt and returns at once. Never more than `capacity()` at a time. `try_number` is the number of the try; key
  /// and input are the same for each. At `try_until_unix_ms` (0: complete_by) the try has failed. If that is before the end of the lease,
  /// the backend itself ends the try then, with a fault that says whether it can have had an effect.
  virtual void start(const v1::Perform& what, completion done) = 0;

  /// The lease has ended: stop the attempt (cancel the transfer) and do not complete it. Unknown keys are ignored.
  virtual void stop(const attempt_key& which) = 0;

  /// Calls that the agent knows; a step with another call is refused with a permanent fault (code unknown_call).
  virtual std::vector<std::string> calls() const = 0;

  /// The ones of `calls()` whose performs can be looked up. A look-up arrives as an attempt of that same call with direction LOOKUP: a
  /// backend must never take it for the call itself. The host answers look-ups of other calls without starting them.
  virtual std::vector<std::string> lookups() const { return {}; }

  virtual std::uint32_t capacity() const = 0;

  /// The calls' promises; calls without a policy may be left out.
  virtual std::vector<v1::CallPolicy> policies() const { return {}; }

  /// Sets the receiver of progress. Called once, before the first start.
  virtual void report_progress_to(progress_sink) {}

  /// True: `start` gets an input with its references to secrets in place, because some targets of input values must not hold a secret.
  /// False: `start` gets the secrets' values.
  virtual bool puts_secrets_in() const { return false; }

  /// True: only reports of the attempt itself keep its heartbeat alive (a handler can hang). False: the host sends heartbeats while the
  /// attempt is in progress (a transfer and a process have their own limits).
  virtual bool beats_itself() const { return false; }

  /// Ends all threads; nothing completes after it returns. Bounded in time (2 s).
  virtual void shut_down() = 0;

  // For backends whose attempts are carried out by a process that has to be told. All are called on the host's thread.

  /// The Scheduler has recorded the outcome of an attempt, or (`accepted` false) has refused it, or its lease had ended before it was reported.
  virtual void recorded(const attempt_key&, bool /*accepted*/) {}
  /// Progress that was reported `at_once` has been sent with this heartbeat.
  virtual void beat_sent(const attempt_key&, std::uint64_t /*sequence*/) {}
  /// The heartbeat, and each one before it, is durable (0: it is about none), and the lease ends at this moment of the host's steady clock.
  virtual void renewed(const attempt_key&, std::uint64_t /*sequence*/, moment /*lease_end*/) {}
  /// The shard has answered a registration. It hands over again the `held` attempts, or more, that the instance holds by its records.
  virtual void welcomed(std::uint32_t /*shard*/, std::uint32_t /*held*/) {}
};

}  // namespace fairlead::agents
