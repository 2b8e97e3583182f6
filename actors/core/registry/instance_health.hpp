#pragma once
// The health of an agent instance: its smoothed error rate and latency, and whether it is sick, that is, gets single attempts only. Pure.
//
// The latency is a geometric mean: services mix calls of a millisecond with calls of seconds, and one long call must not make an instance
// look sick. A sick instance gets few attempts, so each of them weighs more.

#include <cstdint>
#include <optional>
#include <string>

#include "actors/core/task/decision.hpp"
#include "messages/time.hpp"

namespace fairlead::core {

class instance_health {
 public:
  /// One attempt has ended; `elapsed` since it was handed over.
  void note(const slot_outcome& how, duration elapsed);

  /// Whether the peers' latency may change the result of `judge`: finding it out costs the caller something.
  bool wants_peers() const noexcept;
  /// Decides whether the instance is sick, given the median latency of its healthy peers (nullopt: too few). True: the result has changed.
  bool judge(std::optional<double> peers_ms);

  bool sick() const noexcept { return sick_; }
  std::uint32_t error_percent() const;
  double latency() const;
  std::int64_t latency_ms() const;
  /// How many of the latest attempts have failed, one after the other.
  std::uint32_t failed_in_a_row() const noexcept { return failed_in_a_row_; }
  /// The fault code of the latest of them.
  const std::string& last_fault() const noexcept { return last_fault_; }
  bool has_latency() const noexcept { return latencies_ > 0; }
  /// Why the instance is sick, with current figures; empty while it is healthy.
  std::string sickness() const;

 private:
  bool sick_ = false;
  std::uint32_t attempts_ = 0;
  std::uint32_t latencies_ = 0;
  std::uint32_t failed_in_a_row_ = 0;
  std::string last_fault_;
  double error_ = 0;        // 0..1
  double log_latency_ = 0;  // of 1 + ms
  bool drags_ = false;      // sick because of its latency alone
  double peers_ms_ = 0;     // latency of the peers at the last judgement
};

}  // namespace fairlead::core
