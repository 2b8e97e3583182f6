#pragma once
// The circuit breaker of a service: how its tries went within a sliding window, and whether more may be handed over. Pure: the moment comes in.
//
// Every change of state begins a new era. What was handed over in an earlier era says nothing about this one: failures that come in late
// must not open what has been found good since, nor a lucky one close what canaries are about to judge.

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "actors/core/registry/fault_counts.hpp"
#include "actors/core/task/decision.hpp"
#include "messages/agent.pb.h"
#include "messages/task.pb.h"
#include "messages/time.hpp"

namespace fairlead::core {

class breaker {
 public:
  /// What one attempt is to the breaker.
  struct ticket {
    std::uint32_t era = 0;
    bool canary = false;
  };
  struct counts {
    std::uint32_t tries = 0;
    std::uint32_t failed = 0;
    std::uint32_t slow = 0;
  };

  explicit breaker(moment now) : since_(now) {}

  // Those that give a bool say whether the state has changed, which has to become durable.

  bool set_policy(const v1::BreakerPolicy& policy, moment now);
  bool switched_off() const noexcept { return off_; }

  /// As it was when the process before this one ended. An open one goes on waiting; a half-open one begins with its canaries anew. The clock may
  /// have been set back in between: see `clock_fell`.
  void restore(const v1::ServiceRecord& from);
  void store(v1::ServiceRecord& to) const;

  /// Time has passed: an open one may be due for canaries.
  bool advance(moment now);
  /// The clock shows less than when it opened: it then stays open from now on for as long as was meant, not until the clock has caught up. True:
  /// that has changed when canaries are due. `advance` does it too.
  bool clock_fell(moment now);
  /// When `advance` will change something.
  std::optional<moment> canaries_from() const;

  /// Whether an attempt may be handed over.
  bool admits() const noexcept { return state_ == v1::BREAKER_STATE_CLOSED || (state_ == v1::BREAKER_STATE_HALF_OPEN && !canary_out_); }
  /// The attempt that is handed over next would be a canary.
  bool wants_canary() const noexcept { return state_ == v1::BREAKER_STATE_HALF_OPEN; }
  /// One is handed over; only while `admits`.
  ticket admit();
  /// Of an attempt that is out already and was not asked about: never a canary.
  ticket adopt() const { return {state_ == v1::BREAKER_STATE_CLOSED ? era_ : 0, false}; }
  bool ended(const ticket& of, const slot_outcome& how, moment now);

  /// Until an operator closes it.
  void open_by(const std::string& who, const std::string& reason, moment now);
  /// Also forgets what has been counted.
  void close_by(const std::string& who, moment now);

  v1::BreakerState state() const noexcept { return state_; }
  counts window(moment now) const;
  /// What the tries that failed within the window failed with: `http_503 (12)`. Empty: none did.
  std::string faults(moment now) const;
  /// Why it is not closed: `12 of 20 tries failed within 30s: http_503 (12)`.
  const std::string& reason() const noexcept { return reason_; }
  /// `breaker of payment is open until 12:03:04Z: 12 of 20 tries failed within 30s`; empty while it is closed.
  std::string sentence(const std::string& service) const;

 private:
  static constexpr std::int64_t slice_count = 10;

  void come_into(v1::BreakerState state, moment now);
  void open(std::string reason, moment now);
  void roll(moment now);
  std::string counted_faults() const;
  void clear_window();
  bool judge_window(moment now);
  bool judge_canary(const slot_outcome& how, moment now);
  bool is_slow(const slot_outcome& how) const;

  bool off_ = false;
  std::uint32_t failure_percent_ = 50;
  std::int64_t slow_ms_ = 0;
  std::uint32_t slow_percent_ = 80;
  std::int64_t window_ms_ = 30'000;
  std::uint32_t at_least_ = 20;
  std::int64_t open_ms_ = 10'000;
  std::uint32_t canaries_ = 3;

  v1::BreakerState state_ = v1::BREAKER_STATE_CLOSED;
  std::uint32_t era_ = 1;
  moment since_;
  std::int64_t open_until_ms_ = 0;
  std::uint32_t openings_ = 0;
  std::string reason_;
  std::string by_;
  bool canary_out_ = false;
  std::uint32_t good_canaries_ = 0;

  struct slice : counts {
    fault_counts faults;
  };
  std::array<slice, slice_count> slices_{};
  std::int64_t newest_ = 0;  // number of the newest slice since 1970
  counts total_;
};

}  // namespace fairlead::core
