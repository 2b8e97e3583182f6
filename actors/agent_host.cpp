#include "actors/agent_host.hpp"

#include <thread>
#include <utility>

namespace fairlead {

namespace {

constexpr duration resend_after = std::chrono::seconds{2};

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
  if (complete_by <= time_.now()) return;

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
    report(key, std::move(*at_once_));
    at_once_.reset();
    return;
  }
  held_.emplace(key, complete_by);
  leases_.emplace(complete_by, key);
}

void agent_host::finished(const agents::attempt_key& key, agents::attempt_result result) {
  const auto found = held_.find(key);
  if (found == held_.end()) return;
  forget_lease(key);
  report(key, std::move(result));
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

void agent_host::report(const agents::attempt_key& key, agents::attempt_result result) {
  v1::Outcome outcome;
  outcome.set_task_number(key.task_number);
  outcome.set_step(key.step);
  outcome.set_direction(key.direction);
  outcome.set_attempt(key.attempt);
  outcome.set_tries(result.tries);
  if (result.fault)
    *outcome.mutable_fault() = std::move(*result.fault);
  else
    outcome.set_output(std::move(result.output));
  *gathered_.add_items() = outcome;
  const auto now = time_.now();
  outcomes_[key] = {std::move(outcome), now};
  if (!resend_at_) resend_at_ = now + resend_after;
}

void agent_host::acknowledged(const v1::OutcomeAckBatch& what) {
  for (const auto& item : what.items()) outcomes_.erase({item.task_number(), item.step(), item.direction(), item.attempt()});
  if (outcomes_.empty()) resend_at_.reset();
}

void agent_host::expire() {
  const auto now = time_.now();
  while (!leases_.empty() && leases_.begin()->first <= now) {
    const auto key = leases_.begin()->second;
    leases_.erase(leases_.begin());
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
