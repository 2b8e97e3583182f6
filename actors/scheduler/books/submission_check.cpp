#include "actors/scheduler/books/submission_check.hpp"

#include <string>

#include "actors/core/request_limits.hpp"
#include "actors/core/text/json.hpp"
#include "actors/core/text/labels.hpp"
#include "actors/core/text/text.hpp"
#include "actors/replies/outbox.hpp"
#include "messages/ids.hpp"
#include "store/keys.hpp"

namespace fairlead {

namespace {

constexpr std::int32_t max_priority = 1000;
constexpr std::int64_t latest_start_unix_ms = 253'402'300'799'999;  // the end of 9999
constexpr std::int64_t longest_delay_ms = 3'660LL * 24 * 60 * 60 * 1'000;

}  // namespace

std::optional<error> check_submission(const v1::Submission& item, std::uint64_t max_bytes) {
  if (!valid_task_id(item.id()))
    return invalid("the task id '" + core::clean_text(item.id(), 80) + "' is not valid",
                   "use 1 to 256 of the characters A-Z a-z 0-9 . _ : @ / -");
  if (item.workflow().empty() || item.workflow().size() > store::max_workflow_name_bytes)
    return invalid("the workflow's name is missing or too long");
  if (item.input().size() > max_bytes)
    return invalid("the input of task " + item.id() + " has " + std::to_string(item.input().size()) + " bytes, the limit is " +
                       std::to_string(max_bytes),
                   "put large data elsewhere and pass a reference to it");
  if (!item.input().empty()) {
    const auto checked = core::check_json(item.input());
    if (!checked.ok()) return invalid("the input of task " + item.id() + " is not JSON: " + checked.failure().sentence);
  }
  if (item.labels_size() > core::max_labels)
    return invalid("task " + item.id() + " has more than " + std::to_string(core::max_labels) + " labels");
  for (const auto& label : item.labels())
    if (!core::valid_label(label))
      return invalid("label '" + core::clean_text(label.key(), 80) + "' of task " + item.id() + " is not valid",
                     "a key has 1 to 128 bytes without '=', a value at most 256, neither has control characters");
  if (item.priority() > max_priority || item.priority() < -max_priority)
    return invalid("the priority of task " + item.id() + " is " + std::to_string(item.priority()) + ", it must be between -1000 and 1000");
  if (item.start_at_unix_ms() != 0 && item.delay_ms() != 0)
    return invalid("task " + item.id() + " has both a moment and a delay for its start", "give one of the two");
  if (item.start_at_unix_ms() < 0 || item.start_at_unix_ms() > latest_start_unix_ms)
    return invalid("the start of task " + item.id() + " is not a moment between 1970 and 9999");
  if (item.delay_ms() < 0 || item.delay_ms() > longest_delay_ms)
    return invalid("the delay of task " + item.id() + " is " + std::to_string(item.delay_ms()) + " ms, it must be between 0 and 3660 days");
  if (item.has_reply()) {
    if (auto why = check_reply_address(item.reply())) {
      why->sentence = "task " + item.id() + ": " + why->sentence;
      return why;
    }
  }
  return std::nullopt;
}

v1::Origin cleaned(const v1::Origin& said) {
  v1::Origin out;
  out.set_address(core::clean_text(said.address(), who_limit));
  out.set_token(core::clean_text(said.token(), who_limit));
  return out;
}

}  // namespace fairlead
