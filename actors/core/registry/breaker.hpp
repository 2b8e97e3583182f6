#pragma once
// The circuit breaker of a service: counts its tries in a sliding window and decides whether more attempts may be handed over. Pure: the
// time is an argument.
//
// Every change of state begins a new era. Attempts handed over in an earlier era do not count: late failures must not open a breaker that
// was closed since, and a late success must not close one whose canaries (probes) have not been judged.

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
  /// An attempt, as the breaker counts it.
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

  // A bool result says whether the state has changed and must become durable.

  bool set_policy(const v1::BreakerPolicy& policy, moment now);
  bool switched_off() const noexcept { return off_; }

  /// The state at the end of the earlier process. An open breaker goes on waiting; a half-open one starts its canaries anew. The clock may
  /// have been set back in between: see `clock_fell`.
  void restore(const v1::ServiceRecord& from);
  void store(v1::ServiceRecord& to) const;

  /// Time has passed: an open breaker may be due for canaries.
  bool advance(moment now);
  /// If the clock shows less than when the breaker opened, the breaker stays open for its full time from now on, not until the clock has
  /// caught up. True: the moment of the canaries has changed. `advance` does this too.
  bool clock_fell(moment now);
  /// When `advance` will change something.
  std::optional<moment> canaries_from() const;

  /// Whether an attempt may be handed over.
  bool admits() const noexcept { return state_ == v1::BREAKER_STATE_CLOSED || (state_ == v1::BREAKER_STATE_HALF_OPEN && !canary_out_); }
  /// The next attempt handed over would be a canary.
  bool wants_canary() const noexcept { return state_ == v1::BREAKER_STATE_HALF_OPEN; }
  /// An attempt is handed over; call only while `admits`.
  ticket admit();
  /// For an attempt in progress that was not admitted here: never a canary.
  ticket adopt() const { return {state_ == v1::BREAKER_STATE_CLOSED ? era_ : 0, false}; }
  bool ended(const ticket& of, const slot_outcome& how, moment now);

  /// Opens the breaker until an operator closes it.
  void open_by(const std::string& who, const std::string& reason, moment now);
  /// Also clears the counts.
  void close_by(const std::string& who, moment now);

  v1::BreakerState state() const noexcept { return state_; }
  /// An operator keeps it open.
  bool kept_open() const noexcept { return state_ == v1::BREAKER_STATE_OPEN && open_until_ms_ == 0; }
  counts window(moment now) const;
  /// The faults of tries that failed within the window: `http_503 (12)`. Empty: none failed.
  std::string faults(moment now) const;
  /// Why the breaker is not closed: `12 of 20 tries failed within 30s: http_503 (12)`.
  const std::string& reason() const noexcept { return reason_; }
  /// `breaker of payment is open until 12:03:04Z: 12 of 20 tries failed within 30s`; empty while the breaker is closed.
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
