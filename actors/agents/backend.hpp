#pragma once
// What one kind of agent must do: carry out single attempts. Leases, duplicates, outcomes kept until acknowledged and batching are the
// agent host's business (actors/agent_host/host.*), the same for every kind.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "messages/agent.pb.h"
#include "messages/error.hpp"

namespace fairlead::agents {

/// How an attempt ended: output (JSON text) or a fault. Of a lookup without fault also what was found out about the perform; then
/// `output` is the perform's, and only there when it is done.
struct attempt_result {
  std::string output;
  std::optional<v1::Fault> fault;
  std::uint32_t tries = 1;
  v1::LookupVerdict verdict = v1::LOOKUP_VERDICT_UNSPECIFIED;
  std::uint32_t try_number = 0;  // written by the host: the try of the attempt that has ended so
};

/// Identifies an attempt inside one agent instance. Task numbers are those of one lineage of a shard.
struct attempt_key {
  std::uint64_t task_number = 0;
  std::uint32_t step = 0;
  v1::Direction direction = v1::DIRECTION_PERFORM;
  std::uint32_t attempt = 0;
  std::uint32_t shard = 0;
  std::uint32_t lineage = 0;  // of the shard, counted from 0 as the host has met them
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

/// What a long attempt says about itself while it is under way.
struct attempt_progress {
  std::optional<std::uint32_t> percent;  // 0..100
  std::string note;
  std::string checkpoint;  // JSON text; empty: as before
};

/// Any number of times for an attempt under way, from any thread.
using progress_sink = std::function<void(const attempt_key&, attempt_progress)>;

class backend {
 public:
  virtual ~backend() = default;

  /// Starts one try of an attempt and returns at once. Never more than `capacity()` at a time. `try_number` says which try of the attempt it
  /// is; key and input are the same for each. At `try_until_unix_ms` (0: complete_by) what is under way has failed: where that is before
  /// the end of the lease, the backend itself ends the try then, with a fault that says whether it can have had an effect.
  virtual void start(const v1::Perform& what, completion done) = 0;

  /// The lease has ended: stop what is under way (cancel the transfer) and do not complete it. Unknown keys are ignored.
  virtual void stop(const attempt_key& which) = 0;

  /// Calls this agent knows; a step that names another one is refused with a permanent fault (code unknown_call).
  virtual std::vector<std::string> calls() const = 0;

  /// Those of `calls()` whose performs can be looked up. A lookup arrives as an attempt of that same call with direction LOOKUP: a
  /// backend must never take it for the call itself. One of a call that is not among these is not started; the host answers for it.
  virtual std::vector<std::string> lookups() const { return {}; }

  virtual std::uint32_t capacity() const = 0;

  /// What the calls promise; those without a policy may be left out.
  virtual std::vector<v1::CallPolicy> policies() const { return {}; }

  /// Where progress goes. Called once, before the first start.
  virtual void report_progress_to(progress_sink) {}

  /// True: `start` is given the references to secrets in an input as they stand there, because not every place that a value of the input goes to
  /// may hold a secret. False: it is given their values.
  virtual bool puts_secrets_in() const { return false; }

  /// True: only what an attempt itself reports keeps its heartbeat alive (a handler can hang). False: the host speaks for it as long as it is
  /// under way (a transfer and a process have limits of their own).
  virtual bool beats_itself() const { return false; }

  /// Ends all threads; nothing completes after it returns. Bounded in time (2 s).
  virtual void shut_down() = 0;
};

}  // namespace fairlead::agents
