// What people and clients are told in the middle of a run: alerts that have had their day, ends, outcomes that are refused, and leases that are
// longer than anybody was promised.

#include <algorithm>
#include <utility>

#include "actors/core/task/record.hpp"
#include "store/rows/alert_rows.hpp"
#include "store/rows/task_rows.hpp"
#include "tests/simulation/checker/checker.hpp"

namespace fairlead::simulation {

namespace {

v1::EventKind event_of(v1::OperatorVerb verb) {
  switch (verb) {
    case v1::OPERATOR_VERB_RETRY: return v1::EVENT_KIND_OPERATOR_RETRY;
    case v1::OPERATOR_VERB_SKIP: return v1::EVENT_KIND_OPERATOR_SKIP;
    case v1::OPERATOR_VERB_UNDO: return v1::EVENT_KIND_OPERATOR_UNDO;
    case v1::OPERATOR_VERB_CANCEL: return v1::EVENT_KIND_OPERATOR_CANCEL;
    case v1::OPERATOR_VERB_PAUSE: return v1::EVENT_KIND_OPERATOR_PAUSE;
    case v1::OPERATOR_VERB_RESUME: return v1::EVENT_KIND_OPERATOR_RESUME;
    case v1::OPERATOR_VERB_SIGNAL: return v1::EVENT_KIND_TASK_SIGNALED;
    case v1::OPERATOR_VERB_CALLBACK: return v1::EVENT_KIND_STEP_ANSWERED;
    case v1::OPERATOR_VERB_TERMINATE: return v1::EVENT_KIND_OPERATOR_TERMINATE;
    case v1::OPERATOR_VERB_MIGRATE: return v1::EVENT_KIND_OPERATOR_MIGRATE;
    default: return v1::EVENT_KIND_OPERATOR_SETTLE;
  }
}

}  // namespace

// ---- alerts ----

void checker::judge_gone(std::uint64_t number, v1::AlertKind kind, const std::string& cause, const store::snapshot& durable) const {
  if (number == 0) return;
  const auto alert = store::load_alert(durable, number);
  if (!alert.ok()) world::broken("store_check", "alert " + std::to_string(number) + " cannot be read: " + alert.failure().sentence);
  world_.judges("stale_alert");
  if (*alert && store::is_unresolved(**alert) && (*alert)->kind() == kind)
    world::broken("stale_alert", "alert " + std::to_string(number) + " is open, and " + cause + ": " + (*alert)->sentence());
}

void checker::judge_alerts_of(const v1::TaskRecord& record, const store::snapshot& durable) {
  auto& known = parked_alerts_[record.number()];
  if (record.parked()) {
    if (known != record.alert()) judge_gone(known, v1::ALERT_KIND_TASK_PARKED, record.id() + " has another", durable);
    known = record.alert();
    return;
  }
  judge_gone(std::exchange(known, 0), v1::ALERT_KIND_TASK_PARKED, record.id() + " goes on", durable);
}

void checker::judge_alerts_of(const v1::ServiceRecord& before, const v1::ServiceRecord& now, const store::snapshot& durable) const {
  if (before.breaker_alert() != now.breaker_alert())
    judge_gone(before.breaker_alert(), v1::ALERT_KIND_BREAKER_OPEN, "the breaker of " + now.agent() + " is closed", durable);
  if (before.absent_alert() != now.absent_alert())
    judge_gone(before.absent_alert(), v1::ALERT_KIND_AGENT_ABSENT, now.agent() + " is there", durable);
}

/// What the shard counts is what its tables hold.
void checker::judge_shard(const store::snapshot& durable) {
  const auto shard = durable.get_progress().shard;
  world_.judges("outbox_count");
  if (const auto rows = durable.count(store::table::outbox); rows != shard.outbox_events())
    world::broken("outbox_count", "the shard counts " + std::to_string(shard.outbox_events()) +
                                      " status events in its outbox, and there are " + std::to_string(rows));
  if (brake_alert_ != shard.undo_brake_alert()) judge_gone(brake_alert_, v1::ALERT_KIND_UNDO_BRAKE, "the brake is off", durable);
  brake_alert_ = shard.undo_brake_alert();
}

// ---- outcomes and leases ----

/// Its agent forgets it now: nobody may wait for it.
void checker::judge_refused(const std::string& instance, const v1::OutcomeAck& what) {
  // Of an attempt that is given back nothing may be known.
  if (const auto* const one = find(what.task_number(), what.step(), what.direction(), what.attempt()); one != nullptr && one->given_back)
    return;
  const auto view = reads_->read();
  const auto stored = store::load_task(*view, what.task_number());
  if (!stored.ok() || !*stored || static_cast<int>(what.step()) >= (*stored)->steps_size()) return;
  const auto& step = (*stored)->steps(static_cast<int>(what.step()));
  world_.judges("refused_outcome");
  const auto out =
      step.complete_by_unix_ms() != 0 && step.direction() == what.direction() && core::attempt_of(step, what.direction()) == what.attempt();
  if (out && step.instance() == instance)
    world::broken("refused_outcome", "the outcome of attempt " + std::to_string(what.attempt()) + " of step " + step.path() + " of " +
                                         (*stored)->id() + " was refused, and the step waits for it");
}

void checker::judge_leases(const v1::TaskRecord* before, const v1::TaskRecord& record, const shape& plan) const {
  for (int i = 0; i < record.steps_size(); ++i) {
    const auto& step = record.steps(i);
    if (step.complete_by_unix_ms() == 0) continue;
    const auto* was = before == nullptr ? nullptr : &before->steps(i);
    if (was != nullptr && was->complete_by_unix_ms() == step.complete_by_unix_ms() &&
        was->heartbeat_by_unix_ms() == step.heartbeat_by_unix_ms())
      continue;
    const auto& definition = plan.step(static_cast<std::uint32_t>(i));
    const auto undo = step.direction() == v1::DIRECTION_UNDO;
    const auto latest_ms = clock_.latest_ms(world_.now_us() - longest_to_disk_us) + whole_ms;
    world_.judges("lease_too_long");
    if (step.complete_by_unix_ms() > latest_ms + (undo ? definition.undo().timeout_ms() : definition.timeout_ms()))
      world::broken("lease_too_long", "complete_by of step " + step.path() + " of " + record.id() + " is later than its timeout");
    if (step.heartbeat_by_unix_ms() > latest_ms + definition.heartbeat_ms())
      world::broken("lease_too_long", "step " + step.path() + " of " + record.id() + " need not be heard from for " +
                                          std::to_string(step.heartbeat_by_unix_ms() - latest_ms) + " ms, and its heartbeat is " +
                                          std::to_string(definition.heartbeat_ms()) + " ms");
  }
}

// ---- orders ----

void checker::order_heard(std::uint64_t ticket, const v1::OperateRequest& what) {
  // Whoever sends a signal or calls back orders nothing about attempts.
  const auto is_signal = what.action().verb() == v1::OPERATOR_VERB_SIGNAL;
  const auto is_callback = what.action().verb() == v1::OPERATOR_VERB_CALLBACK;
  const auto orders = !is_signal && !is_callback;
  if (orders) restores_.ordered(what);
  if (is_callback) restores_.called(ticket, what.action().callback());
  if (restores_.on()) return;
  if (is_signal) contents_.of_signals().hears(ticket, what, signaled_task(what.ids(0)));
  if (is_callback) contents_.of_callbacks().hears(ticket, what, called_task(what.ids(0)));
  if (orders) contents_.hears(ticket, what);
  if (orders) pace_.hears(what);
  if (what.ids_size() == 1) heard_[ticket] = {what.ids(0), event_of(what.action().verb())};
}

/// As a reader sees it now.
signal_book::task checker::signaled_task(const std::string& id) const {
  const auto number = numbers_.find(id);
  const auto seen = number == numbers_.end() ? seen_.end() : seen_.find(number->second);
  if (seen == seen_.end() || archives_.has(id)) return {};
  return {&seen->second, shape_of(seen->second)};
}

callback_book::task checker::called_task(const std::string& id) const {
  const auto seen = signaled_task(id);
  return {seen.record, seen.plan};
}

/// What an operator is told to be done stands in the task's history, as often as it was done.
void checker::order_answered(std::uint64_t ticket, const v1::OperateReply& what) {
  if (what.results_size() == 1) restores_.answered(ticket, what.results(0));
  if (restores_.on()) return;
  const auto view = reads_->read();
  contents_.answers(ticket, what, *view);
  if (what.results_size() == 1) {
    const auto& result = what.results(0);
    contents_.of_signals().answers(ticket, result, signaled_task(result.id()));
    contents_.of_callbacks().answers(ticket, result, called_task(result.id()));
  }
  const auto heard = heard_.extract(ticket);
  if (heard.empty() || what.results_size() != 1 || what.results(0).error().code() != v1::ERROR_CODE_OK) return;
  const auto& [id, kind] = heard.mapped();
  if (archives_.has(id) || what.results(0).repeated()) return;
  const auto number = numbers_.find(id);
  const auto stored =
      number == numbers_.end() ? result<std::optional<v1::TaskRecord>>{std::nullopt} : store::load_task(*view, number->second);
  if (!stored.ok() || !*stored) world::broken("durable_before_effect", "an order for " + id + " was confirmed, and the task is not there");
  const auto confirmed = ++confirmed_[{id, kind}];
  const auto& record = **stored;
  // Older events stand elsewhere.
  if (static_cast<std::uint64_t>(record.recent_size()) != record.history_size()) return;
  const auto noted =
      std::count_if(record.recent().begin(), record.recent().end(), [kind = kind](const auto& one) { return one.kind() == kind; });
  world_.judges("durable_before_effect");
  if (static_cast<std::uint64_t>(noted) < confirmed)
    world::broken("durable_before_effect", "an order for " + id + " was confirmed, and its history does not know it");
}

// ---- ends ----

void checker::subscription_heard(std::uint64_t ticket, const std::string& id, std::uint64_t epoch) { subscribing_[ticket] = {id, epoch}; }

void checker::submission_answered(std::uint64_t ticket, const v1::SubmitReply& what) {
  const auto found = subscribing_.find(ticket);
  if (found == subscribing_.end()) return;
  const auto [id, epoch] = std::move(found->second);
  subscribing_.erase(found);
  if (what.results_size() != 1 || what.results(0).error().code() != v1::ERROR_CODE_OK) return;
  // Who asks about a task that is parked is told that, and nothing more.
  if (const auto parked = told_parked_.find(id); parked != told_parked_.end() && parked->second == world_.now_us()) return;
  // It may have been told before its answer left.
  const auto told = told_ends_.find(id);
  if (told == told_ends_.end() || told->second != epoch) following_[id] = epoch;
}

void checker::note_end(const v1::TaskEnd& what, std::uint64_t epoch) {
  following_.erase(what.id());
  if (has_ended(what.state()))
    told_ends_[what.id()] = epoch;
  else
    told_parked_[what.id()] = world_.now_us();
}

void checker::look_for_untold(std::uint64_t epoch) {
  for (auto at = following_.begin(); at != following_.end();) {
    // A Scheduler that has gone took its subscribers with it.
    if (at->second != epoch) {
      at = following_.erase(at);
      continue;
    }
    const auto number = numbers_.find(at->first);
    const auto seen = number == numbers_.end() ? seen_.end() : seen_.find(number->second);
    world_.judges("notice_lost");
    if (seen != seen_.end() && has_ended(seen->second.state()))
      world::broken("notice_lost", at->first + " has ended, and the client that wanted to know has not been told");
    ++at;
  }
}

}  // namespace fairlead::simulation
