#include "actors/core/registry/breaker.hpp"

#include <algorithm>

#include "actors/core/waits.hpp"

namespace fairlead::core {

namespace {

bool is_bad(slot_end how) { return how == slot_end::failed || how == slot_end::expired; }
bool says_nothing(slot_end how) { return how == slot_end::lost || how == slot_end::unused; }

std::uint32_t failed_tries(const slot_outcome& how) { return std::max(how.tries, 1u) - 1 + (is_bad(how.how) ? 1 : 0); }

bool reaches(std::uint64_t part, std::uint64_t whole, std::uint64_t percent) { return part > 0 && part * 100 >= percent * whole; }

/// `12:03:04Z`; with the day if more than 12 hours away.
std::string short_time(std::int64_t unix_ms, moment since) {
  auto text = format_utc(unix_ms);
  if (unix_ms - to_unix_ms(since) > 12 * 3'600'000) return text;
  return text.substr(11, 8) + "Z";
}

template <class T>
T or_default(T given, T standard) {
  return given > 0 ? given : standard;
}

}  // namespace

bool breaker::set_policy(const v1::BreakerPolicy& policy, moment now) {
  off_ = policy.off();
  failure_percent_ = std::min(or_default(policy.failure_percent(), 50u), 100u);
  slow_ms_ = std::max<std::int64_t>(policy.slow_ms(), 0);
  slow_percent_ = std::min(or_default(policy.slow_percent(), 80u), 100u);
  const auto window_ms = std::max(or_default<std::int64_t>(policy.window_ms(), 30'000), slice_count);
  at_least_ = or_default(policy.at_least(), 20u);
  // Ten years; tenfold that is still far from the end of time.
  open_ms_ = std::min<std::int64_t>(or_default<std::int64_t>(policy.open_ms(), 10'000), 315'360'000'000);
  canaries_ = or_default(policy.canaries(), 3u);
  if (window_ms != window_ms_) {
    window_ms_ = window_ms;
    clear_window();
  }
  if (!off_ || state_ == v1::BREAKER_STATE_CLOSED) return false;
  come_into(v1::BREAKER_STATE_CLOSED, now);
  return true;
}

void breaker::restore(const v1::ServiceRecord& from) {
  state_ = from.breaker() == v1::BREAKER_STATE_UNSPECIFIED ? v1::BREAKER_STATE_CLOSED : from.breaker();
  since_ = from_unix_ms(from.breaker_since_unix_ms());
  open_until_ms_ = from.open_until_unix_ms();
  openings_ = from.openings();
  reason_ = from.breaker_reason();
  by_ = from.breaker_by();
  canary_out_ = false;
  good_canaries_ = 0;
  ++era_;
}

void breaker::store(v1::ServiceRecord& to) const {
  to.set_breaker(state_);
  to.set_breaker_since_unix_ms(to_unix_ms(since_));
  to.set_open_until_unix_ms(open_until_ms_);
  to.set_openings(openings_);
  to.set_breaker_reason(reason_);
  to.set_breaker_by(by_);
}

bool breaker::clock_fell(moment now) {
  const auto meant = from_unix_ms(open_until_ms_) - since_;
  if (state_ != v1::BREAKER_STATE_OPEN || open_until_ms_ == 0 || !set_back_since(from_unix_ms(open_until_ms_), now, meant)) return false;
  open_until_ms_ = to_unix_ms(now + meant);
  since_ = now;
  return true;
}

bool breaker::advance(moment now) {
  if (clock_fell(now)) return true;
  if (state_ != v1::BREAKER_STATE_OPEN || open_until_ms_ == 0 || to_unix_ms(now) < open_until_ms_) return false;
  come_into(v1::BREAKER_STATE_HALF_OPEN, now);
  return true;
}

std::optional<moment> breaker::canaries_from() const {
  if (state_ != v1::BREAKER_STATE_OPEN || open_until_ms_ == 0) return std::nullopt;
  return from_unix_ms(open_until_ms_);
}

breaker::ticket breaker::admit() {
  if (state_ != v1::BREAKER_STATE_HALF_OPEN) return {era_, false};
  canary_out_ = true;
  return {era_, true};
}

bool breaker::ended(const ticket& of, const slot_outcome& how, moment now) {
  if (off_ || of.era != era_ || state_ == v1::BREAKER_STATE_OPEN) return false;
  if (state_ == v1::BREAKER_STATE_HALF_OPEN) {
    if (!of.canary) return false;
    canary_out_ = false;
    return !says_nothing(how.how) && judge_canary(how, now);
  }
  if (says_nothing(how.how)) return false;
  roll(now);
  const counts more{std::max(how.tries, 1u), failed_tries(how), is_slow(how) ? 1u : 0u};
  auto& newest = slices_[static_cast<std::size_t>(newest_ % slice_count)];
  // An attempt reports only its last fault, which stands for the earlier ones; a successful attempt reports none.
  newest.faults.add(is_bad(how.how) ? how.code : std::string_view{}, more.failed);
  for (auto* to : {&total_, static_cast<counts*>(&newest)}) {
    to->tries += more.tries;
    to->failed += more.failed;
    to->slow += more.slow;
  }
  return (more.failed > 0 || more.slow > 0) && judge_window(now);
}

bool breaker::judge_window(moment now) {
  if (total_.tries < at_least_) return false;
  const auto within = " within " + format_duration(window_ms_);
  const auto of_tries = " of " + std::to_string(total_.tries) + " tries ";
  if (reaches(total_.failed, total_.tries, failure_percent_)) {
    const auto faults = counted_faults();
    open(std::to_string(total_.failed) + of_tries + "failed" + within + (faults.empty() ? "" : ": " + faults), now);
    return true;
  }
  if (!reaches(total_.slow, total_.tries, slow_percent_)) return false;
  open(std::to_string(total_.slow) + of_tries + "took longer than " + format_duration(slow_ms_) + within, now);
  return true;
}

bool breaker::judge_canary(const slot_outcome& how, moment now) {
  if (reaches(failed_tries(how), std::max(how.tries, 1u), failure_percent_) || is_bad(how.how)) {
    open("a probe attempt failed" + (how.code.empty() ? "" : ": " + std::string{how.code}), now);
    return true;
  }
  if (is_slow(how)) {
    open("a probe attempt took longer than " + format_duration(slow_ms_), now);
    return true;
  }
  if (++good_canaries_ < canaries_) return false;
  come_into(v1::BREAKER_STATE_CLOSED, now);
  return true;
}

bool breaker::is_slow(const slot_outcome& how) const { return slow_ms_ > 0 && (how.how == slot_end::expired || how.busy_ms > slow_ms_); }

void breaker::open(std::string reason, moment now) {
  come_into(v1::BREAKER_STATE_OPEN, now);
  reason_ = std::move(reason);
  if (openings_ < 1'000'000) ++openings_;
  const std::int64_t times = std::min<std::int64_t>(std::int64_t{1} << std::min(openings_ - 1, 4u), 10);
  open_until_ms_ = to_unix_ms(now) + open_ms_ * times;
}

void breaker::open_by(const std::string& who, const std::string& reason, moment now) {
  come_into(v1::BREAKER_STATE_OPEN, now);
  by_ = who;
  reason_ = "opened by " + (who.empty() ? std::string{"an operator"} : who) + (reason.empty() ? "" : ": " + reason);
}

void breaker::close_by(const std::string& who, moment now) {
  if (state_ == v1::BREAKER_STATE_CLOSED) {
    clear_window();
  } else {
    come_into(v1::BREAKER_STATE_CLOSED, now);
  }
  by_ = who;
}

void breaker::come_into(v1::BreakerState state, moment now) {
  state_ = state;
  since_ = now;
  open_until_ms_ = 0;
  by_.clear();
  canary_out_ = false;
  good_canaries_ = 0;
  // Era 0 is for attempts that never count.
  if (++era_ == 0) ++era_;
  clear_window();
  if (state != v1::BREAKER_STATE_CLOSED) return;
  openings_ = 0;
  reason_.clear();
}

void breaker::clear_window() {
  slices_ = {};
  total_ = {};
}

void breaker::roll(moment now) {
  const auto current = to_unix_ms(now) / std::max<std::int64_t>(window_ms_ / slice_count, 1);
  // If the clock went back a little, the newest slice counts; after a jump the old slices mean nothing.
  if (current <= newest_ && newest_ - current < slice_count) return;
  if (current < newest_ || current - newest_ >= slice_count) {
    clear_window();
    newest_ = current;
    return;
  }
  while (newest_ < current) {
    auto& oldest = slices_[static_cast<std::size_t>(++newest_ % slice_count)];
    total_.tries -= oldest.tries;
    total_.failed -= oldest.failed;
    total_.slow -= oldest.slow;
    oldest = {};
  }
}

breaker::counts breaker::window(moment now) const {
  auto copy = *this;
  copy.roll(now);
  return copy.total_;
}

std::string breaker::counted_faults() const {
  fault_counts all;
  for (const auto& one : slices_) all.add(one.faults);
  return all.text();
}

std::string breaker::faults(moment now) const {
  auto copy = *this;
  copy.roll(now);
  return copy.counted_faults();
}

std::string breaker::sentence(const std::string& service) const {
  const auto why = reason_.empty() ? std::string{} : ": " + reason_;
  if (state_ == v1::BREAKER_STATE_OPEN) {
    const auto until = open_until_ms_ == 0 ? " until an operator closes it" : " until " + short_time(open_until_ms_, since_);
    return "breaker of " + service + " is open" + until + why;
  }
  if (state_ == v1::BREAKER_STATE_HALF_OPEN) return "breaker of " + service + " is half-open: single probe attempts test the service" + why;
  return {};
}

}  // namespace fairlead::core
