// Steps that wait for a signal. A signal is kept in the task's row until a step takes it, also if it comes before the step is ready or the
// task has started; it leaves the row in the commit that completes the step.

#include <algorithm>
#include <set>

#include "actors/core/request_limits.hpp"
#include "actors/core/task/machine.hpp"
#include "actors/core/task/record.hpp"
#include "actors/core/task/task.hpp"
#include "actors/core/text/json.hpp"
#include "messages/time.hpp"

namespace fairlead::core {

namespace {

constexpr std::string_view no_signal_code = "signal_timeout";
constexpr std::size_t most_words_bytes = 500;

/// The step may still take a signal, now or after an operator's retry.
bool takes_signals(const v1::StepRecord& step) {
  const auto open = step.state() == v1::STEP_STATE_PENDING || step.state() == v1::STEP_STATE_FAILED;
  return step.kind() == v1::STEP_KIND_SIGNAL && open && !step.passed_over();
}

}  // namespace

std::ptrdiff_t kept_signals(const v1::TaskRecord& record, std::string_view name) {
  const auto& all = record.signals();
  return std::count_if(all.begin(), all.end(), [&](const v1::Signal& one) { return one.name() == name; });
}

void task_machine::start_signal(std::uint32_t index) {
  if (take_signal(index)) return;
  auto& step = at(index);
  if (step.started_at_unix_ms() == 0 || step.started_at_unix_ms() > now_ms()) step.set_started_at_unix_ms(now_ms());
  const auto end_ms = step.started_at_unix_ms() + definition_of(step).timeout_ms();
  end_ms <= now_ms() ? miss_signal(index) : wait_until(index, end_ms);
}

/// The oldest signal of the step's name completes it. False: there is none.
bool task_machine::take_signal(std::uint32_t index) {
  auto& signals = *record_.mutable_signals();
  const auto& name = definition_of(at(index)).signal();
  const auto found = std::find_if(signals.begin(), signals.end(), [&](const v1::Signal& one) { return one.name() == name; });
  if (found == signals.end()) return false;
  const auto data = text_of(found->data());
  if (!data) return true;
  if (at(index).started_at_unix_ms() == 0) at(index).set_started_at_unix_ms(now_ms());
  complete(index, planted(&planted_faults::lose_signal_data) ? std::string{"null"} : std::string{*data});
  if (planted(&planted_faults::keep_taken_signal)) return true;
  drop_payload(found->data(), out_);
  signals.erase(found);
  return true;
}

/// No signal has come in time.
void task_machine::miss_signal(std::uint32_t index) {
  auto& step = at(index);
  const auto& definition = definition_of(step);
  const auto why = "no signal " + definition.signal() + " came within " + format_duration(definition.timeout_ms());
  step.set_ended_at_unix_ms(now_ms());
  if (definition.goes_on_untimely()) {
    step.set_timed_out(true);
    move_step(record_, index, step_moves::skip, ctx_.now, out_);
    note(v1::EVENT_KIND_STEP_TIMED_OUT, index, why);
    return;
  }
  step.set_failure_count(step.failure_count() + 1);
  fail_for_good(index, no_signal_code, why);
}

// ---- a signal comes ----

/// A remedy.
std::string task_machine::known_signals() const {
  std::set<std::string_view> known;
  for (const auto& step : record_.steps())
    if (step.kind() == v1::STEP_KIND_SIGNAL) known.insert(definition_of(step).signal());
  if (known.empty()) return "its workflow has no signals";
  std::string out;
  for (const auto name : known) {
    out += (out.empty() ? "its signals are: " : ", ") + std::string{name};
    if (out.size() > most_words_bytes) return out + " …";
  }
  return out;
}

void task_machine::operator_signal(const v1::OperatorAction& action) {
  const auto& name = action.signal();
  const auto waits = [&](const v1::StepRecord& step) {
    return step.kind() == v1::STEP_KIND_SIGNAL && definition_of(step).signal() == name;
  };
  if (std::none_of(record_.steps().begin(), record_.steps().end(), waits))
    return refuse("no step of task " + record_.id() + " waits for a signal " + name, known_signals(), v1::ERROR_CODE_NOT_FOUND);
  const auto undone = record_.state() == v1::TASK_STATE_UNDOING;
  const auto may_come = [&](const v1::StepRecord& step) { return waits(step) && (!undone || of_end(step)); };
  if (std::none_of(record_.steps().begin(), record_.steps().end(), may_come))
    return refuse("task " + record_.id() + " is being undone", look_at_it());
  if (std::none_of(record_.steps().begin(), record_.steps().end(), [&](const auto& step) { return may_come(step) && takes_signals(step); }))
    return refuse("no step of task " + record_.id() + " takes a signal " + name + " any more", look_at_it());
  const std::string data = action.has_json() ? action.json() : "null";
  if (data.size() > max_signal_bytes)
    return refuse("the data of the signal have more than " + std::to_string(max_signal_bytes) + " bytes", "send a reference to them",
                  v1::ERROR_CODE_INVALID_ARGUMENT);
  if (const auto checked = check_json(data); !checked.ok())
    return refuse("the data of the signal are not JSON: " + checked.failure().sentence, "correct the JSON",
                  v1::ERROR_CODE_INVALID_ARGUMENT);
  const auto many_of_name = kept_signals(record_, name) >= most_kept_signals;
  if (many_of_name || record_.signals_size() >= most_signals_of_task)
    return refuse(
        "task " + record_.id() + " keeps " +
            (many_of_name ? std::to_string(most_kept_signals) + " signals " + name : std::to_string(most_signals_of_task) + " signals") +
            " that no step has taken",
        "wait until a step takes one: fairlead task watch " + record_.id(), v1::ERROR_CODE_OVERLOADED);
  add_event(record_, v1::EVENT_KIND_TASK_SIGNALED, 0, 0, ctx_.now, name).set_who(action.who());
  out_.changed = true;
  if (!planted(&planted_faults::lose_early_signal) || std::any_of(record_.steps().begin(), record_.steps().end(), waits_itself)) {
    auto& signal = *record_.add_signals();
    signal.set_name(name);
    set_payload(record_, *signal.mutable_data(), minify_json(data), out_);
  }
  advance();
}

}  // namespace fairlead::core
