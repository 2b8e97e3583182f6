// The output of a task: once nothing is left to perform, it is evaluated, and the task ends in the commit that stores it.

#include "actors/core/request_limits.hpp"
#include "actors/core/task/machine.hpp"
#include "actors/core/task/record.hpp"
#include "actors/core/text/json.hpp"

namespace fairlead::core {

namespace {

constexpr std::size_t most_told_bytes = 4'096;  // in a status event

}  // namespace

/// Nothing is left to perform. False: the output is awaited, or the task is parked.
bool task_machine::has_given_output() {
  const auto* output = ctx_.definition->output();
  if (output == nullptr || record_.has_output()) return true;
  if (!output->plain()) {
    ask_for(0, v1::EXPRESSION_PART_OUTPUT);
    return false;
  }
  auto rendered = render(0, v1::EXPRESSION_PART_OUTPUT, {});
  return rendered && keep_output(std::move(*rendered));
}

bool task_machine::keep_output(std::string json) {
  if (json.size() > max_output_bytes) {
    cannot_render(0, v1::EXPRESSION_PART_OUTPUT,
                  "it has " + std::to_string(json.size()) + " bytes, and at most " + std::to_string(max_output_bytes) + " are kept");
    return false;
  }
  set_payload(record_, *record_.mutable_output(), std::move(json), out_);
  out_.changed = true;
  return true;
}

/// The status event of the end that was just added says the output, if it is small.
void task_machine::tell_output() {
  if (!record_.has_reply() || !record_.has_output()) return;
  const auto text = text_of(record_.output());
  if (text && text->size() <= most_told_bytes) out_.statuses.back().set_output(std::string{*text});
}

/// An operator says what the output of the task is.
void task_machine::settle_output(const v1::OperatorAction& action) {
  next_steps next;
  ctx_.engine->next(*ctx_.definition, record_, next);
  if (ctx_.definition->output() == nullptr)
    return refuse("workflow " + record_.workflow() + " has no output", "name the step to be settled", v1::ERROR_CODE_INVALID_ARGUMENT);
  if (record_.state() != v1::TASK_STATE_RUNNING || record_.failing() || !next.over)
    return refuse("task " + record_.id() + " is not at its end, so its output cannot be settled", look_at_it());
  if (const auto checked = check_json(action.json()); !checked.ok())
    return refuse("the output of the task is not JSON: " + checked.failure().sentence, "correct the JSON", v1::ERROR_CODE_INVALID_ARGUMENT);
  note_operator(v1::EVENT_KIND_OPERATOR_SETTLE, action, 0);
  // Of a task that is paused: the output was settled before, and the task has not ended yet.
  drop_payload(record_.output(), out_);
  set_payload(record_, *record_.mutable_output(), minify_json(action.json()), out_);
  go_on();
}

}  // namespace fairlead::core
