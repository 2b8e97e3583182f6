#include "tests/simulation/checker/pace_checker.hpp"
#include "actors/core/task/record.hpp"

#include <algorithm>
#include <cmath>

#include "tests/simulation/world/services.hpp"

namespace fairlead::simulation {

namespace {

// A slow disk, lost hints, and a Supervisor's rest between two looks at what is due.
constexpr std::int64_t late_ms = 15'000;
constexpr std::int64_t slow_commit_ms = 3'000;

/// Attempts to perform count for the rule that names the fault they ended with.
bool has_rules(const v1::StepDefinition& step, v1::Direction direction) {
  return direction == v1::DIRECTION_PERFORM && step.retry_size() != 0;
}

std::uint32_t limit_of(const v1::StepDefinition& step, v1::Direction direction, int rule = rule_tally::no_rule) {
  if (rule != rule_tally::no_rule) return step.retry(rule).attempts();
  return direction == v1::DIRECTION_UNDO ? step.undo().attempts() : step.attempts();
}

std::int64_t patience_of(const v1::StepDefinition& step, v1::Direction direction, int rule = rule_tally::no_rule) {
  if (rule != rule_tally::no_rule) return step.retry(rule).retry_for_ms();
  return direction == v1::DIRECTION_UNDO ? step.undo().retry_for_ms() : step.retry_for_ms();
}

bool cools_off(const v1::StepDefinition& step, const shape& plan) {
  const auto says = step.on_failure() == v1::ON_FAILURE_UNSPECIFIED ? plan.definition().on_failure() : step.on_failure();
  return says == v1::ON_FAILURE_COOL_OFF;
}

std::int64_t cool_off_of(const v1::StepDefinition& step, const shape& plan) {
  return step.cool_off_ms() != 0 ? step.cool_off_ms() : plan.definition().cool_off_ms();
}

/// An attempt that no agent has begun.
bool is_unbegun(const v1::HistoryEvent& event) {
  return event.kind() == v1::EVENT_KIND_STEP_RETRIED && (event.detail().find("has not begun the step") != std::string::npos ||
                                                         event.detail().find("gave the step back") != std::string::npos ||
                                                         event.detail().find("before the step was handed over") != std::string::npos);
}

/// It tells what a callback has said, or that none has come.
bool is_of_callback(const v1::HistoryEvent& event) {
  const auto begins = [&](std::string_view code) { return event.detail().starts_with(std::string{code} + ":"); };
  return begins(code_of_late_transient) || begins(code_of_late_permanent) || begins("callback_timeout");
}

bool is_bad_end(v1::EventKind kind) {
  return kind == v1::EVENT_KIND_STEP_FAILED || kind == v1::EVENT_KIND_STEP_IN_DOUBT || kind == v1::EVENT_KIND_STEP_EXPIRED;
}

}  // namespace

// ---- what it hears ----

void pace_checker::hears(const v1::OperateRequest& what) {
  for (const auto& id : what.ids()) ++orders_[id];
}

std::uint64_t pace_checker::orders_of(const std::string& task) const {
  const auto found = orders_.find(task);
  return found == orders_.end() ? 0 : found->second;
}

void pace_checker::outcome_arrived(const step_name& step, const v1::Outcome& what) {
  auto& past = of(step, what.direction());
  // What is given back was no attempt, and nothing waits for it.
  if (past.attempt != what.attempt() || what.not_begun()) return;
  // It is said again until it is heard; what counts is when it was heard first by a Scheduler that has taken it, so not before this.
  past.ended = what.attempt();
  past.fault = what.has_fault() ? what.fault().kind() : v1::FAULT_KIND_UNSPECIFIED;
  past.retry_after_ms = what.fault().retry_after_ms();
  if (past.ended_ms == 0) past.ended_ms = clock_.now_ms();
}

void pace_checker::accepted(const step_name& step, const v1::OutcomeAck& what) {
  auto& past = of(step, what.direction());
  if (past.attempt == what.attempt()) past.accepted = true;
}

// ---- what leaves ----

void pace_checker::decided(const step_name& of, v1::Direction direction, std::uint32_t attempt) {
  // What a crash forgets is decided again, perhaps later.
  const auto& newest = steps_[{of, direction}];
  if (newest.attempt < attempt) decided_orders_[{of, direction, attempt}] = orders_of(of.task);
}

void pace_checker::handed_over(const v1::Perform& what, const v1::TaskRecord& record, const shape& plan, std::int64_t decided_ms) {
  const step_name name{what.task_id(), what.step()};
  const auto direction = what.direction();
  auto& past = of(name, direction);
  const auto known = decided_orders_.find({name, direction, what.attempt()});
  const auto orders = known != decided_orders_.end() ? known->second : orders_of(what.task_id());
  const auto order = ++hand_overs_[name];
  const bool anew = !past.anew_after.empty() && *past.anew_after.begin() < what.attempt();
  // What an operator has said between both decisions may have excused all that were made.
  if (orders != past.orders) {
    past.excused = what.attempt() - 1;
    past.ruled.forget(what.attempt() - 1);
  } else if (const auto limit = limit_of(plan.step(what.step()), direction); anew && limit != 0) {
    // All may have been used up before. This one follows all the same, and no other by itself.
    past.excused = std::max(past.excused, what.attempt() - std::min(limit, what.attempt()));
  }
  // A series of look-ups begins anew whenever the step comes into doubt again, which only the core can count.
  const auto counts = direction != v1::DIRECTION_LOOKUP;
  if (counts) judge_count(what, past, plan.step(what.step()), plan, decided_ms);
  if (counts && past.order + 1 == order && orders == past.orders && !anew) judge_early(what, past, record, plan, decided_ms);
  series next;
  next.attempt = what.attempt();
  next.excused = past.excused;
  next.unbegun = past.unbegun;
  next.rounds = past.rounds;
  next.more_ends = past.more_ends;
  next.mild_ends = past.mild_ends + (past.accepted_for_later && past.bad_ends == 0 ? 1 : 0);
  next.ruled = past.ruled;
  next.waited_ms = orders == past.orders ? past.waited_ms : 0;
  next.unseen_ms = orders == past.orders ? past.unseen_ms : 0;
  next.orders = orders;
  next.decided_ms = decided_ms;
  next.before_ms = past.decided_ms;
  next.order = order;
  // An attempt that the undo had made before it began again may be seen only now.
  next.anew_after.insert(past.anew_after.lower_bound(what.attempt()), past.anew_after.end());
  past = next;
}

void pace_checker::judge_count(const v1::Perform& what, const series& past, const v1::StepDefinition& step, const shape& plan,
                               std::int64_t decided_ms) const {
  const auto ruled = has_rules(step, what.direction());
  const auto rule = past.ruled.last_before(what.attempt());
  if (ruled && !rule) return;
  const auto limit = limit_of(step, what.direction(), rule.value_or(rule_tally::no_rule));
  // Beside what an attempt ended with, what a callback said of it may count.
  const auto made = ruled ? past.ruled.count_before(*rule, what.attempt()) + 1 : what.attempt() - past.excused;
  world_.judges("attempts");
  if (limit == 0 || made <= limit + (ruled ? past.more_ends : 0)) return;
  const auto performs = what.direction() == v1::DIRECTION_PERFORM;
  if (performs && cools_off(step, plan)) {
    if (clock_.settings() != 0 || past.decided_ms == 0 || decided_ms - past.decided_ms >= cool_off_of(step, plan)) return;
  }
  world::broken("attempts", std::string{word(what.direction())} + " attempt " + std::to_string(what.attempt()) + " of step " +
                                what.step_path() + " of " + what.task_id() + " was handed over, and " + std::to_string(limit) +
                                " are allowed" + (ruled ? " of those that end as the one before" : "") +
                                (past.excused == 0 ? "" : " after the " + std::to_string(past.excused) + " before an operator's order"));
}

pace_checker::bounds pace_checker::pause_after(const v1::StepDefinition& step, const shape& plan, const v1::TaskRecord& record,
                                               const pause_place& at, std::int64_t retry_after_ms) const {
  const auto own_backoff = at.rule != rule_tally::no_rule && step.retry(at.rule).has_backoff();
  const auto& backoff = own_backoff                          ? step.retry(at.rule).backoff()
                        : at.direction == v1::DIRECTION_UNDO ? step.undo().backoff()
                                                             : step.backoff();
  const auto most = [&](std::uint32_t failures) {
    auto pause = static_cast<double>(backoff.first_ms());
    for (std::uint32_t i = 1; i < failures; ++i) pause = std::min(pause * backoff.factor(), 1e9);
    return std::min(pause, static_cast<double>(std::max(backoff.max_ms(), backoff.first_ms())));
  };
  bounds out{static_cast<std::int64_t>(most(at.least_ends) / 2) - whole_ms, static_cast<std::int64_t>(most(at.most_ends)) + whole_ms};
  // Of look-ups not all have ended badly.
  if (at.direction == v1::DIRECTION_LOOKUP) out.least_ms = backoff.first_ms() / 2 - whole_ms;
  if (retry_after_ms <= 0) return out;
  out.most_ms = std::max(out.most_ms, retry_after_ms * 11 / 10 + whole_ms);
  // Nobody sleeps through the end of the task's own time.
  const auto ends = plan.definition().timeout_ms() > 0 || record.deadline_unix_ms() != 0;
  if (!ends) out.least_ms = std::max(out.least_ms, retry_after_ms - whole_ms);
  return out;
}

/// Which pause follows the end of the attempt. `ends`: how many of the step have ended badly.
pace_checker::pause_place pace_checker::place_of(const v1::StepDefinition& step, v1::Direction direction, const series& past,
                                                 std::uint32_t attempt, std::uint32_t ends, bool is_ordered) const {
  // Whether an end in doubt counts beside what a callback then says of the same attempt, nobody else can tell.
  if (!has_rules(step, direction)) return {direction, rule_tally::no_rule, ends - std::min(past.mild_ends, ends), ends + past.more_ends};
  const auto rule = past.ruled.rule_at(attempt).value_or(rule_tally::no_rule);
  const auto counted = std::max(past.ruled.count(rule), 1U);
  // What an operator has said may have begun the count anew.
  const auto least = is_ordered || counted <= past.more_ends ? 1 : counted - past.more_ends;
  return {direction, rule, least, is_ordered ? ends + past.more_ends : counted + past.more_ends};
}

std::int64_t pace_checker::waited_ms(const v1::StepDefinition& step, v1::Direction direction, const series& past, int rule) const {
  return has_rules(step, direction) ? past.ruled.waited_ms(rule) : past.waited_ms;
}

/// With what may count beside the waits that could be seen.
std::int64_t pace_checker::most_waited_ms(const v1::StepDefinition& step, v1::Direction direction, const series& past, int rule) const {
  return waited_ms(step, direction, past, rule) + past.unseen_ms + blocked_ms(step.agent());
}

void pace_checker::judge_early(const v1::Perform& what, const series& past, const v1::TaskRecord& record, const shape& plan,
                               std::int64_t decided_ms) const {
  const auto ended = past.attempt + 1 == what.attempt() && past.ended == past.attempt && past.accepted && past.attempt != 0;
  if (ended && past.fault == v1::FAULT_KIND_UNSPECIFIED && past.rounds == past.attempt && !past.out_of_rounds && clock_.settings() == 0) {
    const auto every_ms = plan.step(what.step()).repeat().every_ms();
    world_.judges("round_early");
    if (decided_ms - past.ended_ms + whole_ms < every_ms)
      world::broken("round_early", "the next round of step " + what.step_path() + " of " + what.task_id() + " begins " +
                                       std::to_string(decided_ms - past.ended_ms) + " ms after the one before, and is to wait for " +
                                       std::to_string(every_ms) + " ms");
  }
  // What a callback says counts in place of the outcome.
  const auto& step = plan.step(what.step());
  const auto by_rule = has_rules(step, what.direction()) && past.ruled.rule_at(past.attempt).value_or(rule_tally::no_rule) >= 0;
  const auto said = ended && !past.called &&
                    (past.fault == v1::FAULT_KIND_TRANSIENT || past.fault == v1::FAULT_KIND_IN_DOUBT ||
                     (by_rule && past.fault == v1::FAULT_KIND_PERMANENT));
  if (!said || clock_.settings() != 0) return;
  const auto place =
      place_of(step, what.direction(), past, past.attempt, past.attempt - past.rounds - past.unbegun, orders_of(record.id()) != 0);
  auto pause = pause_after(step, plan, record, place, past.retry_after_ms);
  // The last pause is only as long as what the workflow leaves. Where an operator has said something, nobody else can tell what that is.
  const auto patience_ms = patience_of(step, what.direction(), place.rule);
  const auto waited = most_waited_ms(step, what.direction(), past, place.rule);
  if (patience_ms != 0 && (orders_of(record.id()) != 0 || waited >= patience_ms)) return;
  // The long wait behind the last attempt is as long as the workflow says, whatever the service asks for.
  if (cools_off(step, plan)) pause.least_ms = std::min(pause.least_ms, cool_off_of(step, plan));
  world_.judges("early_recovery");
  if (decided_ms - past.ended_ms < pause.least_ms)
    world::broken("early_recovery",
                  std::string{word(what.direction())} + " attempt " + std::to_string(what.attempt()) + " of step " + what.step_path() +
                      " of " + what.task_id() + " was decided " + std::to_string(decided_ms - past.ended_ms) +
                      " ms after the end of the one before, and the pause is " + std::to_string(pause.least_ms) + " ms at least");
}

// ---- what is stored ----

void pace_checker::breaker_moved(const std::string& agent, bool keeps_waiting) {
  auto& one = blocked_[agent];
  if (keeps_waiting == (one.since_us != 0)) return;
  if (!keeps_waiting) one.us += world_.now_us() - one.since_us;
  one.since_us = keeps_waiting ? world_.now_us() : 0;
}

/// How long the breaker may have kept steps waiting, by any steady clock. It is known here once it is durable.
std::int64_t pace_checker::blocked_ms(const std::string& agent) const {
  const auto found = blocked_.find(agent);
  if (found == blocked_.end()) return 0;
  const auto us = found->second.us + (found->second.since_us != 0 ? world_.now_us() - found->second.since_us : 0);
  return us == 0 ? 0 : us / millisecond * 21 / 20 + slow_commit_ms;
}

void pace_checker::became_durable(const v1::TaskRecord* before, const v1::TaskRecord& now, const shape& plan) {
  const auto seen = before == nullptr ? 0 : before->history_size();
  std::map<std::uint32_t, const v1::HistoryEvent*> newest;  // that was an end or a wait, by step
  // A dropped step whose undo was given up gets no attempt from an undo that is its own workflow's answer.
  bool asked = now.has_parent();
  for (const auto& event : now.recent()) {
    if (event.sequence() <= seen) continue;
    if (event.kind() == v1::EVENT_KIND_OPERATOR_UNDO || event.kind() == v1::EVENT_KIND_OPERATOR_CANCEL) asked = true;
    if (event.kind() == v1::EVENT_KIND_TASK_UNDOING && asked) note_undone_anew(now, event.sequence());
    if (event.step() == 0) continue;
    const auto index = event.step() - 1;
    // Its items have attempts of their own.
    if (plan.has_items(index)) continue;
    if (is_unbegun(event)) {
      auto& past = of({now.id(), index}, event.direction());
      ++past.excused;
      ++past.unbegun;
      past.returned = event.attempt();
      if (past.attempt == event.attempt()) past.decided_ms = past.before_ms;
      if (on_return && event.detail().find("gave the step back") != std::string::npos)
        on_return({now.number(), index, event.direction(), event.attempt()});
    }
    if (event.kind() == v1::EVENT_KIND_STEP_REPEATED) {
      // A round has attempts, pauses and patience of its own.
      auto& past = of({now.id(), index}, v1::DIRECTION_PERFORM);
      past.rounds = past.excused = past.attempt;
      past.unbegun = past.more_ends = past.mild_ends = past.bad_ends = 0;
      past.accepted_for_later = false;
      past.waited_ms = past.unseen_ms = 0;
      past.ruled.forget(std::max(past.attempt, event.attempt()));
      newest.erase(index);
    }
    if (auto& past = of({now.id(), index}, v1::DIRECTION_PERFORM);
        event.kind() == v1::EVENT_KIND_STEP_ACCEPTED && past.attempt == event.attempt())
      past.accepted_for_later = true;
    if (event.kind() == v1::EVENT_KIND_STEP_ANSWERED) of({now.id(), index}, v1::DIRECTION_PERFORM).called = true;
    // No attempt has ended so.
    const auto unmade = event.detail().starts_with("join:") || event.detail().starts_with("expression:");
    if (event.kind() == v1::EVENT_KIND_STEP_FAILED && unmade) {
      newest.erase(index);
      continue;
    }
    if (auto& past = of({now.id(), index}, event.direction()); is_bad_end(event.kind()) && past.attempt == event.attempt())
      past.more_ends += ++past.bad_ends > 1 || past.returned == event.attempt() ? 1 : 0;
    if (is_bad_end(event.kind()) && has_rules(plan.step(index), event.direction())) {
      const auto rule = rule_tally::rule_of(plan.step(index), event);
      if (rule != rule_tally::no_rule) world_.count("ends that count for a rule");
      of({now.id(), index}, event.direction()).ruled.ended(event.attempt(), rule);
    }
    if (event.kind() == v1::EVENT_KIND_STEP_FAILED && event.detail().starts_with("repeat_exhausted:"))
      of({now.id(), index}, v1::DIRECTION_PERFORM).out_of_rounds = true;
    if (event.kind() == v1::EVENT_KIND_STEP_RETRIED && !is_unbegun(event) && newest.count(index) != 0)
      note_unseen_wait(now, *newest.at(index), event, plan);
    if (event.kind() == v1::EVENT_KIND_STEP_GIVEN_UP)
      judge_given_up(now, event, newest.count(index) != 0 ? newest.at(index) : nullptr, plan);
    if (is_bad_end(event.kind()) || event.kind() == v1::EVENT_KIND_STEP_COOLING_OFF || event.kind() == v1::EVENT_KIND_STEP_KEY_EXPIRED)
      newest[index] = &event;
  }
  for (const auto& [index, event] : newest) {
    const auto& step = now.steps(static_cast<int>(index));
    const auto was = before == nullptr ? 0 : before->steps(static_cast<int>(index)).not_before_unix_ms();
    // It waits for its signal again.
    if (plan.own(index) && step.state() != v1::STEP_STATE_FAILED) continue;
    if (step.not_before_unix_ms() != 0 && step.not_before_unix_ms() != was) judge_pause(now, index, *event, plan);
  }
}

/// Its undo may have been given up, or have waited for another attempt, before it ended, or while it went forward. Its parent or an operator
/// begins it again: that is an order to try, and nothing is waited for. The attempts made before that may be handed over after it, or never:
/// so it is where the undo begins, is terminated, and begins again in one commit.
void pace_checker::note_undone_anew(const v1::TaskRecord& now, std::uint64_t sequence) {
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(now.steps_size()); ++i) {
    const auto known = steps_.find({{now.id(), i}, v1::DIRECTION_UNDO});
    auto made = known == steps_.end() ? 0 : known->second.attempt;
    for (const auto& event : now.recent())
      if (event.sequence() < sequence && event.step() == i + 1 && event.direction() == v1::DIRECTION_UNDO &&
          event.kind() == v1::EVENT_KIND_STEP_STARTED)
        made = std::max(made, event.attempt());
    if (made == 0) continue;
    of({now.id(), i}, v1::DIRECTION_UNDO).anew_after.insert(made);
    world_.count("undos that are begun again");
  }
}

/// While a disk is slow an attempt ends and the wait behind it is over in one commit: nobody sees how long it was to be. It was no longer
/// than it took, and than the workflow or the service asks for.
void pace_checker::note_unseen_wait(const v1::TaskRecord& now, const v1::HistoryEvent& end, const v1::HistoryEvent& next,
                                    const shape& plan) {
  const auto direction = next.direction();
  if (!is_bad_end(end.kind()) || end.direction() != direction || end.attempt() != next.attempt()) return;
  const auto& step = plan.step(end.step() - 1);
  auto& past = of({now.id(), end.step() - 1}, direction);
  const auto others = past.rounds + past.unbegun;
  const auto ends = end.attempt() - std::min(others, end.attempt());
  const auto place = place_of(step, direction, past, end.attempt(), ends, orders_of(now.id()) != 0);
  const auto most_ms = pause_after(step, plan, now, place, past.ended == end.attempt() ? past.retry_after_ms : 0).most_ms;
  const auto took_ms = std::max<std::int64_t>(next.at_unix_ms() - end.at_unix_ms(), 0);
  past.unseen_ms += std::min(took_ms, most_ms);
  if (took_ms != 0) world_.count("waits that were over when their beginning was stored");
}

void pace_checker::judge_pause(const v1::TaskRecord& now, std::uint32_t index, const v1::HistoryEvent& why, const shape& plan) {
  const auto& record = now.steps(static_cast<int>(index));
  const auto& step = plan.step(index);
  const auto waits_ms = record.not_before_unix_ms() - why.at_unix_ms();
  // An undo after `terminate --now` waits for the end of a lease, not for another attempt.
  if (why.detail().starts_with("terminated:")) return;
  // An operator who has it tried again at once, in the same commit, ends the wait.
  const auto ends_wait = [&](const v1::HistoryEvent& event) {
    return event.kind() == v1::EVENT_KIND_OPERATOR_RETRY && event.sequence() > why.sequence() &&
           event.at_unix_ms() == record.not_before_unix_ms();
  };
  if (std::any_of(now.recent().begin(), now.recent().end(), ends_wait)) return;
  bounds pause;
  const auto failures = core::failures_of(record, why.direction());
  const auto lost = why.kind() == v1::EVENT_KIND_STEP_IN_DOUBT && why.detail().starts_with("agent_lost:");
  if (lost && failures == 1) {
    // Nothing says that the service is at fault.
    pause = {0, 0};
  } else if (why.kind() == v1::EVENT_KIND_STEP_COOLING_OFF) {
    if (!cools_off(step, plan))
      world::broken("backoff", "step " + record.path() + " of " + now.id() + " cools off, and its workflow does not say so");
    pause = {cool_off_of(step, plan), cool_off_of(step, plan)};
  } else {
    const auto direction = why.direction();
    const auto& past = of({now.id(), index}, direction);
    // A former leader handed it over, so late that what its agent says of it counts for another: handed_over_late().
    if (past.attempt < why.attempt() && why.kind() == v1::EVENT_KIND_STEP_FAILED) return;
    const auto said = past.ended == why.attempt() && why.kind() != v1::EVENT_KIND_STEP_EXPIRED && !lost && !is_of_callback(why);
    const auto ends = core::attempt_of(record, direction) - past.rounds - past.unbegun;
    const auto place = place_of(step, direction, past, why.attempt(), ends, orders_of(now.id()) != 0);
    pause = pause_after(step, plan, now, place, said ? past.retry_after_ms : 0);
    if (said && place.rule != rule_tally::no_rule && past.fault == v1::FAULT_KIND_PERMANENT)
      world_.count("permanent faults that are retried");
    // A process that died is at once taken for dead, also where it had said something that nobody has taken.
    judge_patience(now, index, why, waits_ms, place.rule, pause, plan);
    if (!said || !past.accepted) pause.most_ms = std::max(pause.most_ms, past.retry_after_ms * 11 / 10 + whole_ms);
  }
  // What a clock was ahead by is not waited for once it is right.
  if (clock_.settings() != 0 && waits_ms < 0) return;
  world_.judges("backoff");
  if (waits_ms < pause.least_ms || waits_ms > pause.most_ms)
    world::broken("backoff", "step " + record.path() + " of " + now.id() + " waits " + std::to_string(waits_ms) +
                                 " ms for its next attempt, and " + std::to_string(pause.least_ms) + " to " +
                                 std::to_string(pause.most_ms) + " ms are right");
}

/// A wait counts against what the workflow allows, and the last one is only as long as what is left of it.
void pace_checker::judge_patience(const v1::TaskRecord& now, std::uint32_t index, const v1::HistoryEvent& why, std::int64_t waits_ms,
                                  int rule, bounds& pause, const shape& plan) {
  const auto& step = plan.step(index);
  const auto patience_ms = patience_of(step, why.direction(), rule);
  if (patience_ms == 0) return;
  // Of look-ups only the core can count when they began.
  if (why.direction() == v1::DIRECTION_LOOKUP) pause.least_ms = std::min<std::int64_t>(pause.least_ms, 1 - whole_ms);
  if (why.direction() == v1::DIRECTION_LOOKUP) return;
  auto& past = of({now.id(), index}, why.direction());
  if (orders_of(now.id()) != past.orders) {
    past.waited_ms = past.unseen_ms = 0;
    past.ruled.forget_waits();
  }
  const auto waited = waited_ms(step, why.direction(), past, rule);
  if (clock_.settings() == 0) {
    world_.judges("retried_too_long");
    if (waited >= patience_ms)
      world::broken("retried_too_long", "step " + now.steps(static_cast<int>(index)).path() + " of " + now.id() + " has waited for " +
                                            std::to_string(waited) + " ms of " + std::to_string(patience_ms) +
                                            " ms, and waits for another attempt");
  }
  // What a breaker kept it waiting counts as well, so as little as nothing may be left.
  pause.least_ms = std::min<std::int64_t>(pause.least_ms, 1 - whole_ms);
  past.waited_ms += waits_ms;
  past.ruled.waits(rule, waits_ms);
}

void pace_checker::judge_given_up(const v1::TaskRecord& now, const v1::HistoryEvent& what, const v1::HistoryEvent* before,
                                  const shape& plan) {
  const auto direction = what.direction();
  // What an operator has said may have excused some of them; how many nobody else can tell.
  if (direction == v1::DIRECTION_LOOKUP || orders_of(now.id()) != 0) return;
  if (before == nullptr || !is_bad_end(before->kind()) || before->attempt() != what.attempt() || before->direction() != direction) return;
  // `until` was never true: own/round_contents.cpp.
  if (before->detail().starts_with("repeat_exhausted:")) return;
  const auto& step = plan.step(what.step() - 1);
  const auto& past = of({now.id(), what.step() - 1}, direction);
  const auto ruled = has_rules(step, direction);
  const auto rule = ruled ? past.ruled.rule_at(what.attempt()).value_or(rule_tally::no_rule) : rule_tally::no_rule;
  const auto made =
      ruled ? past.ruled.count(rule) + past.more_ends : what.attempt() - (direction == v1::DIRECTION_PERFORM ? past.rounds : 0);
  const auto said = past.ended == what.attempt();
  const auto permanent = before->detail().starts_with(code_of_late_permanent) || (said && past.fault == v1::FAULT_KIND_PERMANENT);
  if (permanent && rule == rule_tally::no_rule) return;
  if (direction == v1::DIRECTION_PERFORM && !core::may_be_repeated(step.in_doubt()) && before->kind() != v1::EVENT_KIND_STEP_FAILED) return;
  const auto limit = limit_of(step, direction, rule);
  if (const auto patience_ms = patience_of(step, direction, rule); patience_ms != 0) {
    if (clock_.settings() != 0) return;
    world_.judges("gave_up_early");
    if (limit != 0 && made >= limit) return;
    const auto waited = most_waited_ms(step, direction, past, rule);
    if (waited < patience_ms)
      world::broken("gave_up_early", "step " + step.name() + " of " + now.id() + " was given up after " + std::to_string(waited) + " of " +
                                         std::to_string(patience_ms) + " ms");
    return;
  }
  if (limit == 0) return;
  world_.judges("gave_up_early");
  if (made < limit)
    world::broken("gave_up_early", "step " + step.name() + " of " + now.id() + " was given up after " + std::to_string(made) + " of " +
                                       std::to_string(limit) + " attempts");
}

// ---- what does not come ----

void pace_checker::look_for_late(const v1::TaskRecord& record, std::int64_t since_us) {
  const auto runs = record.state() == v1::TASK_STATE_RUNNING || record.state() == v1::TASK_STATE_UNDOING;
  const auto for_us = world_.now_us() - since_us;
  if (!runs || for_us < late_ms * millisecond || clock_.set_since(world_.now_us() - 2 * late_ms * millisecond)) return;
  const auto stopped = record.parked() || record.paused() || record.undo_held() || record.failing();
  // A pause may have been over while the task was stopped.
  auto& stopped_us = stopped_us_[record.id()];
  if (stopped) stopped_us = world_.now_us();
  for (const auto& step : record.steps()) {
    // A lease ends whatever holds the task.
    const auto lease_ms =
        step.heartbeat_by_unix_ms() != 0 ? std::min(step.heartbeat_by_unix_ms(), step.complete_by_unix_ms()) : step.complete_by_unix_ms();
    const auto at_ms = lease_ms != 0 ? lease_ms : stopped ? 0 : step.not_before_unix_ms();
    if (at_ms == 0) continue;
    world_.judges("late_recovery");
    const auto went_us = lease_ms != 0 ? for_us : std::min(for_us, world_.now_us() - stopped_us);
    const auto over_ms = std::min(clock_.now_ms() - at_ms, went_us / millisecond);
    if (over_ms > late_ms)
      world::broken("late_recovery", "the " + std::string{lease_ms != 0 ? "lease" : "pause"} + " of step " + step.path() + " of " +
                                         record.id() + " is over for " + std::to_string(over_ms) + " ms, and nothing has come of it");
  }
}

}  // namespace fairlead::simulation
