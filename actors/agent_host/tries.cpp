#include "actors/agent_host/tries.hpp"

#include <algorithm>

namespace fairlead {

namespace {

constexpr std::uint32_t most_made = 1'000'000;  // a backend's own count may be nonsense
constexpr duration least_needed{10};
constexpr std::uint32_t tries_of_one_attempt = 1'000;  // keeps the jitter of one attempt's tries apart from that of the next

/// Common defaults for the fields left at zero.
v1::Backoff filled(v1::Backoff policy) {
  if (policy.first_ms() <= 0) policy.set_first_ms(100);
  if (policy.factor() <= 0) policy.set_factor(2);
  if (policy.max_ms() <= 0) policy.set_max_ms(5'000);
  return policy;
}

}  // namespace

void attempt_tries::begin(moment now) {
  began_ = now;
  ++number_;
  under_way_ = true;
}

moment attempt_tries::until() const {
  if (policy_->try_timeout_ms <= 0 || duration{policy_->try_timeout_ms} >= end_ - began_) return end_;
  return began_ + duration{policy_->try_timeout_ms};
}

void attempt_tries::finish(std::uint32_t made, moment now) {
  under_way_ = false;
  made_ += std::clamp<std::uint32_t>(made, 1, most_made);
  // A clock that was set back must not give a try a negative duration.
  last_took_ = std::max(now - began_, duration{0});
  longest_ = std::max(longest_, last_took_);
}

duration attempt_tries::needed() const {
  if (policy_->try_timeout_ms > 0) return duration{policy_->try_timeout_ms};
  return std::max(longest_, least_needed);
}

std::optional<moment> attempt_tries::next(const v1::Fault& fault, moment now) const {
  // A spent key gives the same answer again, whoever asks.
  if (fault.kind() != v1::FAULT_KIND_TRANSIENT || fault.key_spent() || number_ >= policy_->tries) return std::nullopt;
  auto seed = seed_;
  seed.attempt = seed.attempt * tries_of_one_attempt + number_;
  const auto wait_ms = std::max({core::backoff_ms(filled(policy_->backoff), number_, seed), fault.retry_after_ms(), std::int64_t{1}});
  // The service's Retry-After may be huge: compared before it is added to anything.
  const auto left = end_ - now - needed();
  if (left < duration{0} || wait_ms > left.count()) return std::nullopt;
  return now + duration{wait_ms};
}

}  // namespace fairlead
