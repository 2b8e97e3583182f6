#include "actors/core/task/steps/item_output.hpp"

#include <algorithm>
#include <string_view>

#include "actors/core/task/reason.hpp"
#include "actors/core/task/record.hpp"
#include "actors/core/task/standing.hpp"
#include "actors/core/text/json.hpp"

namespace fairlead::core {

child_changed news_of(const v1::TaskRecord& child) {
  child_changed out;
  out.step = child.parent().step();
  out.id = child.id();
  out.item = child.parent().item();
  out.state = child.state();
  out.parked = child.parked();
  out.reason = reason_of(child);
  // Also of one that an operator has undone since, until that is done.
  if (child.state() == v1::TASK_STATE_FAILED || child.state() == v1::TASK_STATE_UNDOING) {
    const auto left = standing_of(child);
    out.stands = !left.stands.empty() || !left.in_doubt.empty();
  }
  out.untried =
      child.state() == v1::TASK_STATE_UNDONE && std::all_of(child.steps().begin(), child.steps().end(), [](const v1::StepRecord& one) {
        return one.state() == v1::STEP_STATE_PENDING || one.state() == v1::STEP_STATE_FAILED;
      });
  return out;
}

std::optional<item_failure> failure_of_item(const v1::TaskRecord* task) {
  if (task == nullptr) return item_failure{"not_begun", "there is no task of the item"};
  if (task->state() == v1::TASK_STATE_COMPLETED) return std::nullopt;
  const auto failed = std::find_if(task->steps().begin(), task->steps().end(),
                                   [](const v1::StepRecord& one) { return one.state() == v1::STEP_STATE_FAILED || one.given_up(); });
  if (task->parent().call_of() != 0 && failed != task->steps().end() && failed->has_fault())
    return item_failure{failed->fault().code(), failed->fault().message()};
  const auto code = task->state() == v1::TASK_STATE_UNDONE ? child_undone_code : child_failed_code;
  return item_failure{std::string{code}, reason_of(*task)};
}

std::string item_output(const std::string& output, const std::optional<item_failure>& failure, bool collects) {
  if (!collects) return output;
  if (!failure) return R"({"status":"completed","output":)" + output + R"(,"error":null})";
  std::string out = R"({"status":"failed","output":)" + output + R"(,"error":{"code":)";
  append_json_string(out, failure->code);
  out += R"(,"message":)";
  append_json_string(out, failure->message);
  return out + "}}";
}

}  // namespace fairlead::core
