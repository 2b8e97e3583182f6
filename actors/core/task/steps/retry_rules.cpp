// Steps with `retry`: an attempt to perform that ends with a fault of a rule counts for that rule alone. All other bad ends count for what
// the step says for all faults. Undo and look-up have no rules.

#include "actors/core/workflow/retry_rules.hpp"

#include <algorithm>

#include "actors/core/task/machine.hpp"
#include "actors/core/task/record.hpp"
#include "actors/core/task/task.hpp"
#include "messages/time.hpp"

namespace fairlead::core {

/// What the step's last fault counts for.
int task_machine::rule_of(const v1::StepRecord& step) const {
  const auto& definition = definition_of(step);
  if (definition.retry_size() == 0 || step.direction() != v1::DIRECTION_PERFORM || planted(&planted_faults::ignore_rule)) return no_rule;
  return rule_for(definition, step.fault().code());
}

/// An attempt has ended with the fault in the record.
void task_machine::count_by_rule(v1::StepRecord& step) {
  const auto rule = rule_of(step);
  if (rule == no_rule) return;
  while (step.retried_size() <= rule) step.add_retried();
  auto& count = *step.mutable_retried(rule);
  count.set_failed(count.failed() + 1);
}

/// The bad end of the step's latest attempt is to be counted anew: it was another one.
void task_machine::uncount_by_rule(v1::StepRecord& step) {
  const auto looked_up =
      step.direction() == v1::DIRECTION_LOOKUP && attempt_of(step, step.direction()) != excused_of(step, step.direction());
  // One in progress has not been counted. A look-up may have left its own fault in the record.
  if (step.state() == v1::STEP_STATE_RUNNING || looked_up || planted(&planted_faults::ignore_rule)) return;
  const auto rule = rule_for(definition_of(step), step.fault().code());
  if (rule == no_rule || rule >= step.retried_size() || step.retried(rule).failed() == 0) return;
  step.mutable_retried(rule)->set_failed(step.retried(rule).failed() - 1);
  const auto is_zero = [](const v1::RetryCount& one) { return one.failed() == 0 && one.waited_ms() == 0; };
  while (step.retried_size() > 0 && is_zero(step.retried(step.retried_size() - 1))) step.mutable_retried()->RemoveLast();
}

/// Attempts to perform that count for no rule.
std::uint32_t task_machine::without_rule(const v1::StepRecord& step) {
  auto out = step.attempt() - step.excused();
  for (const auto& one : step.retried()) out -= std::min(out, one.failed());
  return out;
}

/// Attempts that count for the rule, since the step was granted attempts.
std::uint32_t task_machine::counted_of(const v1::StepRecord& step, int rule) const {
  if (rule == no_rule) {
    if (step.direction() == v1::DIRECTION_PERFORM) return without_rule(step);
    return attempt_of(step, step.direction()) - excused_of(step, step.direction());
  }
  if (planted(&planted_faults::count_rules_together)) return step.attempt() - step.excused();
  return rule < step.retried_size() ? step.retried(rule).failed() : 0;
}

/// How many pauses have come so far, this one included.
std::uint32_t task_machine::pauses_of(const v1::StepRecord& step, int rule) const {
  const auto ruled = step.direction() == v1::DIRECTION_PERFORM && definition_of(step).retry_size() != 0;
  return ruled ? counted_of(step, rule) : failures_of(step, step.direction());
}

std::int64_t task_machine::waited_for(const v1::StepRecord& step, int rule) const {
  if (rule == no_rule) return waited_of(step, step.direction());
  return rule < step.retried_size() ? step.retried(rule).waited_ms() : 0;
}

/// A wait behind the last fault counts as the fault does.
void task_machine::add_wait(v1::StepRecord& step, std::int64_t wait_ms) {
  const auto rule = rule_of(step);
  if (rule == no_rule || rule >= step.retried_size())
    return set_waited(step, step.direction(), waited_of(step, step.direction()) + wait_ms);
  step.mutable_retried(rule)->set_waited_ms(step.retried(rule).waited_ms() + wait_ms);
}

/// 0: as many as there is time for.
std::uint32_t task_machine::limit_of(const v1::StepRecord& step, int rule) const {
  const auto& definition = definition_of(step);
  if (rule != no_rule) return definition.retry(rule).attempts();
  return step.direction() == v1::DIRECTION_UNDO ? definition.undo().attempts() : definition.attempts();
}

/// 0: the waits have no limit.
std::int64_t task_machine::retry_for_of(const v1::StepRecord& step, int rule) const {
  const auto& definition = definition_of(step);
  const auto undo = step.direction() == v1::DIRECTION_UNDO;
  const auto says_ms = rule != no_rule ? definition.retry(rule).retry_for_ms()
                       : undo          ? definition.undo().retry_for_ms()
                                       : definition.retry_for_ms();
  if (planted(&planted_faults::half_retry_for)) return says_ms / 2;
  return planted(&planted_faults::double_retry_for) ? says_ms * 2 : says_ms;
}

const v1::Backoff& task_machine::backoff_of(const v1::StepRecord& step, int rule) const {
  const auto& definition = definition_of(step);
  if (rule != no_rule && definition.retry(rule).has_backoff()) return definition.retry(rule).backoff();
  return step.direction() == v1::DIRECTION_UNDO ? definition.undo().backoff() : definition.backoff();
}

/// No further attempt follows one that counts for the rule.
bool task_machine::is_used_up(const v1::StepRecord& step, int rule) const {
  const auto limit = limit_of(step, rule);
  if (limit != 0 && counted_of(step, rule) + (planted(&planted_faults::one_attempt_less) ? 1 : 0) >=
                        limit + (planted(&planted_faults::one_attempt_more) ? 1 : 0))
    return true;
  const auto patience_ms = retry_for_of(step, rule);
  return patience_ms != 0 && waited_for(step, rule) >= patience_ms;
}

/// Another attempt may follow whatever the last one has ended with: a look-up that failed has left its own fault in the record.
bool task_machine::all_left(const v1::StepRecord& step) const {
  for (int rule = 0; rule < definition_of(step).retry_size(); ++rule)
    if (is_used_up(step, rule)) return false;
  return !is_used_up(step, no_rule);
}

/// Which rule is used up, for the sentence that says why the step is given up; empty: none.
std::string task_machine::words_of_rule(const v1::StepRecord& step) const {
  const auto& definition = definition_of(step);
  auto rule = rule_for(definition, step.fault().code());
  if (rule == no_rule || !is_used_up(step, rule)) {
    // A look-up that failed has left its own fault.
    if (step.direction() != v1::DIRECTION_LOOKUP) return {};
    for (rule = 0; rule < definition.retry_size() && !is_used_up(step, rule);) ++rule;
    if (rule == definition.retry_size()) return {};
  }
  const auto& says = definition.retry(rule);
  const auto named =
      std::find_if(says.on().begin(), says.on().end(), [&](const auto& one) { return names_code(one, step.fault().code()); });
  const auto of_rule = " of its retry rule for " + (named != says.on().end() ? *named : says.on(0));
  const auto made = counted_of(step, rule);
  if (says.attempts() == 0 || made < says.attempts())
    return " and was retried for " + format_duration(says.retry_for_ms()) + " in " + std::to_string(made) +
           (made == 1 ? " attempt" : " attempts") + of_rule;
  return says.attempts() == 1 ? " on the only attempt" + of_rule
                              : " on the last of " + std::to_string(says.attempts()) + " attempts" + of_rule;
}

}  // namespace fairlead::core
