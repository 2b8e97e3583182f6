// Steps that wait for a while or until a moment.

#include "actors/core/workflow/wait.hpp"

#include <algorithm>

#include "actors/core/task/machine.hpp"
#include "actors/core/text/json.hpp"

namespace fairlead::core {

/// As the JSON value of a `wait` says.
result<std::int64_t> task_machine::end_of_wait(std::string_view json, std::int64_t from_ms) {
  const auto text = trim_json(json);
  if (text.empty() || text.front() != '"')
    return error{v1::ERROR_CODE_EXPRESSION,
                 std::string{"the wait is "} + json_kind_words(text) + ", and not a text with a duration or a time", ""};
  return wait_end(decode_json_string(text), from_ms);
}

void task_machine::start_wait(std::uint32_t index) {
  const auto value = value_of(index);
  if (!value) return;
  auto& step = at(index);
  // While its task was to fail, a step that waited was let go: the time since it began counts, by a clock that was not set back since.
  const auto since_ms = step.started_at_unix_ms() == 0 ? now_ms() : std::min(step.started_at_unix_ms(), now_ms());
  const auto end_ms = end_of_wait(*value, since_ms);
  if (!end_ms) return cannot_render(index, v1::EXPRESSION_PART_WITH, end_ms.failure().sentence);
  step.set_started_at_unix_ms(since_ms);
  if (planted(&planted_faults::short_wait) || *end_ms <= now_ms()) return complete(index, "null");
  wait_until(index, *end_ms);
}

/// Not until a moment.
bool task_machine::waits_for_so_long(std::uint32_t index) {
  if (at(index).kind() == v1::STEP_KIND_SIGNAL) return true;
  const auto value = value_of(index);
  return value && is_wait_duration(decode_json_string(trim_json(*value)));
}

}  // namespace fairlead::core
