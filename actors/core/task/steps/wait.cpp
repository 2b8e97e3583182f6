// Steps that wait for a while or until a moment.

#include "actors/core/workflow/wait.hpp"
#include "actors/core/task/machine.hpp"
#include "actors/core/text/json.hpp"
#include "actors/core/text/text.hpp"

namespace fairlead::core {

namespace {

/// The text of the value of a `wait`; nullopt: it is no text.
std::optional<std::string> wait_text(std::string_view json) {
  const auto text = trim_json(json);
  if (text.empty() || text.front() != '"') return std::nullopt;
  return decode_json_string(text);
}

}  // namespace

void task_machine::start_wait(std::uint32_t index) {
  const auto value = value_of(index);
  if (!value) return;
  auto& step = at(index);
  const auto text = wait_text(*value);
  if (!text)
    return cannot_render(index, v1::EXPRESSION_PART_WITH,
                         "`wait` gave " + clean_text(*value, 60) + ", and not a text with a duration or a time");
  // While its task was to fail, a step that waited was let go: the time since it began counts.
  const auto since_ms = step.started_at_unix_ms() == 0 ? now_ms() : step.started_at_unix_ms();
  const auto end_ms = wait_end(*text, since_ms);
  if (!end_ms) return cannot_render(index, v1::EXPRESSION_PART_WITH, "`wait`: " + end_ms.failure().sentence);
  step.set_started_at_unix_ms(since_ms);
  if (planted(&planted_faults::short_wait) || *end_ms <= now_ms()) return complete(index, "null");
  wait_until(index, *end_ms);
}

/// Not until a moment.
bool task_machine::waits_for_so_long(std::uint32_t index) {
  if (at(index).kind() == v1::STEP_KIND_SIGNAL) return true;
  const auto value = value_of(index);
  const auto text = value ? wait_text(*value) : std::nullopt;
  return text && is_wait_duration(*text);
}

}  // namespace fairlead::core
