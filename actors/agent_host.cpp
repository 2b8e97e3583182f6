#include "actors/agent_host.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "actors/agents/attempt_results.hpp"

namespace fairlead {

namespace {

constexpr duration resend_after = std::chrono::seconds{2};
constexpr std::size_t over_limit = 1'024;  // attempts remembered though they are over; a second message comes soon or not at all

agents::attempt_key key_of(const v1::Perform& what) { return {what.task_number(), what.step(), what.direction(), what.attempt()}; }

}  // namespace

agent_host::agent_host(identity who, agents::backend& backend, const clock& time, agent_outbox& out)
    : who_(std::move(who)), backend_(backend), time_(time), out_(out) {}

v1::RegisterAgent agent_host::registration() const {
  v1::RegisterAgent out;
  out.set_agent(who_.agent);
  out.set_instance(who_.instance);
  out.set_incarnation(who_.incarnation);
  out.set_kind(who_.kind);
  out.set_capacity(backend_.capacity());
  for (auto& call : backend_.calls()) out.add_calls(std::move(call));
  for (auto& call : backend_.lookups()) out.add_lookups(std::move(call));
  return out;
}

void agent_host::perform(v1::PerformBatch what) {
  if (what.epoch() < epoch_) return;
  epoch_ = what.epoch();
  for (const auto& item : what.items()) start(item);
}

void agent_host::start(const v1::Perform& what) {
  const auto key = key_of(what);
  if (held_.count(key) != 0) return;
  const auto known = outcomes_.find(key);
  if (known != outcomes_.end()) {
    *gathered_.add_items() = known->second.outcome;
    return;
  }
  const auto complete_by = from_unix_ms(what.complete_by_unix_ms());
  if (complete_by <= time_.now() || over_.count(key) != 0) return;
  if (what.direction() == v1::DIRECTION_LOOKUP && !can_look_up(what.call())) {
    // The Scheduler may know an older registration than ours. Left to the backend, the call itself might be carried out.
    report(key, complete_by, agents::not_known());
    return;
  }

  at_once_.reset();
  starting_ = &key;
  const auto here = std::this_thread::get_id();
  backend_.start(what, [this, here](const agents::attempt_key& done, agents::attempt_result result) {
    // `starting_` is read only on the thread that writes it.
    if (std::this_thread::get_id() == here && starting_ != nullptr && *starting_ == done)
      at_once_ = std::move(result);
    else
      out_.finish_later(done, std::move(result));
  });
  starting_ = nullptr;
  if (at_once_) {
    report(key, complete_by, std::move(*at_once_));
    at_once_.reset();
    return;
  }
  held_.emplace(key, complete_by);
  leases_.emplace(complete_by, key);
}

bool agent_host::can_look_up(const std::string& call) const {
  const auto offered = backend_.lookups();
  return std::find(offered.begin(), offered.end(), call) != offered.end();
}

void agent_host::finished(const agents::attempt_key& key, agents::attempt_result result) {
  const auto found = held_.find(key);
  if (found == held_.end()) return;
  const auto complete_by = found->second;
  forget_lease(key);
  report(key, complete_by, std::move(result));
}

void agent_host::forget_lease(const agents::attempt_key& key) {
  const auto found = held_.find(key);
  if (found == held_.end()) return;
  const auto range = leases_.equal_range(found->second);
  for (auto at = range.first; at != range.second; ++at) {
    if (at->second == key) {
      leases_.erase(at);
      break;
    }
  }
  held_.erase(found);
}

void agent_host::report(const agents::attempt_key& key, moment complete_by, agents::attempt_result result) {
  v1::Outcome outcome;
  outcome.set_task_number(key.task_number);
  outcome.set_step(key.step);
  outcome.set_direction(key.direction);
  outcome.set_attempt(key.attempt);
  outcome.set_tries(result.tries);
  const bool lookup = key.direction == v1::DIRECTION_LOOKUP;
  if (result.fault) {
    *outcome.mutable_fault() = std::move(*result.fault);
  } else {
    // A backend that says nothing has found out nothing.
    if (lookup) outcome.set_verdict(result.verdict == v1::LOOKUP_VERDICT_UNSPECIFIED ? v1::LOOKUP_VERDICT_UNKNOWN : result.verdict);
    if (!lookup || result.verdict == v1::LOOKUP_VERDICT_DONE) outcome.set_output(std::move(result.output));
  }
  *gathered_.add_items() = outcome;
  const auto now = time_.now();
  outcomes_[key] = {std::move(outcome), now, complete_by};
  if (!resend_at_) resend_at_ = now + resend_after;
}

void agent_host::remember_over(const agents::attempt_key& key, moment complete_by) {
  if (complete_by <= time_.now() || !over_.insert(key).second) return;
  over_order_.push_back(key);
  if (over_order_.size() <= over_limit) return;
  over_.erase(over_order_.front());
  over_order_.pop_front();
}

void agent_host::acknowledged(const v1::OutcomeAckBatch& what) {
  for (const auto& item : what.items()) {
    const auto found = outcomes_.find({item.task_number(), item.step(), item.direction(), item.attempt()});
    if (found == outcomes_.end()) continue;
    remember_over(found->first, found->second.complete_by);
    outcomes_.erase(found);
  }
  if (outcomes_.empty()) resend_at_.reset();
}

void agent_host::expire() {
  const auto now = time_.now();
  while (!leases_.empty() && leases_.begin()->first <= now) {
    const auto key = leases_.begin()->second;
    leases_.erase(leases_.begin());
    if (planted_ != nullptr && planted_->speak_after_lease) continue;
    held_.erase(key);
    backend_.stop(key);
  }
  if (!resend_at_ || *resend_at_ > now) return;
  resend_at_ = now + resend_after;
  for (auto& [key, kept] : outcomes_) {
    if (kept.sent + resend_after > now) continue;
    kept.sent = now;
    *gathered_.add_items() = kept.outcome;
  }
}

std::optional<moment> agent_host::next_expiry() const {
  std::optional<moment> next = resend_at_;
  if (!leases_.empty() && (!next || leases_.begin()->first < *next)) next = leases_.begin()->first;
  return next;
}

void agent_host::flush() {
  if (gathered_.items().empty()) return;
  gathered_.set_instance(who_.instance);
  gathered_.set_incarnation(who_.incarnation);
  out_.outcomes(std::exchange(gathered_, {}));
}

}  // namespace fairlead
