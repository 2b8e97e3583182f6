#pragma once
// The tries of one attempt: their number and duration, and when another try may begin. Knows no clock.

#include <cstdint>
#include <optional>

#include "actors/agents/settings.hpp"
#include "actors/core/retry.hpp"
#include "messages/common.pb.h"
#include "messages/time.hpp"

namespace fairlead {

class attempt_tries {
 public:
  /// `policy` must outlive the object. The attempt must be over by `end`.
  attempt_tries(const agents::retry_policy& policy, const core::jitter_seed& attempt, moment end)
      : policy_(&policy), seed_(attempt), end_(end) {}

  /// A try begins: the first, or at the moment given by `next`.
  void begin(moment now);
  /// The latest end of the try that began last.
  moment until() const;
  /// The try is over; the backend counts `made` tries of its own in it.
  void finish(std::uint32_t made, moment now);

  /// The attempt must be over sooner by so much.
  void shorten(duration by) { end_ -= by; }

  bool under_way() const noexcept { return under_way_; }
  /// Number of the try that began last: 1, 2, …
  std::uint32_t number() const noexcept { return number_; }
  /// All tries, including those that backends have made by themselves.
  std::uint32_t made() const noexcept { return made_; }
  duration last_took() const noexcept { return last_took_; }

  /// Whether more than one try is allowed.
  bool may_repeat() const noexcept { return policy_->tries > 1; }
  /// When to begin another try after one that ended with `fault`; nullopt: none. A try that could not end before the attempt must end is
  /// never begun: its service would be left with half of it.
  std::optional<moment> next(const v1::Fault& fault, moment now) const;
  /// Whether a try that begins now can end in time.
  bool fits(moment now) const { return duration{0} <= end_ - now && needed() <= end_ - now; }

 private:
  duration needed() const;

  const agents::retry_policy* policy_;
  core::jitter_seed seed_;
  moment end_;
  moment began_{};
  duration longest_{0};
  duration last_took_{0};
  std::uint32_t number_ = 0;
  std::uint32_t made_ = 0;
  bool under_way_ = false;
};

}  // namespace fairlead
