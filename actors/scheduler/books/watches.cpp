#include "actors/scheduler/books/watches.hpp"

#include <algorithm>

#include "actors/core/task/reason.hpp"
#include "actors/core/task/record.hpp"
#include "actors/core/waits.hpp"
#include "store/rows/history_rows.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead {

namespace {

/// Progress of an earlier attempt does not describe the attempt in progress.
bool current(const v1::StepRecord& step) {
  return core::attempt_out(step) && step.progress().at_unix_ms() != 0 && step.progress().direction() == step.direction() &&
         step.progress().attempt() == core::attempt_of(step, step.direction());
}

}  // namespace

bool watches::has_news(const v1::WatchReply& reply, std::int64_t after_progress_unix_ms) {
  if (!reply.events().empty() || reply.has_error()) return true;
  return after_progress_unix_ms != 0 && std::any_of(reply.progress().begin(), reply.progress().end(), [&](const v1::StepProgress& one) {
           return one.progress().at_unix_ms() > after_progress_unix_ms;
         });
}

v1::WatchReply watches::describe(std::uint64_t task_number, std::uint64_t after_sequence, const store::snapshot& from) {
  v1::WatchReply out;
  const auto record = store::load_task(from, task_number);
  if (!record) {
    *out.mutable_error() = record.failure().to_proto();
    return out;
  }
  if (!*record) {
    *out.mutable_error() =
        error{v1::ERROR_CODE_NOT_FOUND, "the task has ended and is not in the store any more", "see fairlead task show"}.to_proto();
    return out;
  }
  const auto& task = **record;
  out.set_state(task.state());
  out.set_parked(task.parked());
  out.set_reason(core::reason_of(task));
  out.set_has_output(task.has_output());
  out.set_latest(task.history_size());
  for (const auto& step : task.steps()) {
    out.add_step_paths(step.path());
    if (!current(step)) continue;
    auto& told = *out.add_progress();
    told.set_step(step.path());
    *told.mutable_progress() = step.progress();
    told.mutable_progress()->clear_checkpoint();
  }
  if (task.history_size() <= after_sequence) return out;
  auto history = store::load_history(from, task, after_sequence);
  if (!history) {
    *out.mutable_error() = history.failure().to_proto();
    return out;
  }
  for (auto& event : *history) *out.add_events() = std::move(event);
  return out;
}

void watches::look(std::uint64_t task_number, const store::snapshot& now_committed, std::vector<answer>& out) {
  const auto found = by_task_.find(task_number);
  if (found == by_task_.end()) return;
  std::erase_if(found->second, [&](const entry& who) {
    auto reply = describe(task_number, who.after_sequence, now_committed);
    if (!has_news(reply, who.after_progress_unix_ms)) return false;
    out.push_back({who.ticket, std::move(reply)});
    return true;
  });
  if (found->second.empty()) by_task_.erase(found);
}

void watches::expire(moment now, const store::snapshot& now_committed, std::vector<answer>& out) {
  for (auto task = by_task_.begin(); task != by_task_.end();) {
    std::erase_if(task->second, [&](const entry& who) {
      if (!core::is_over(who.until, now, longest_wait)) return false;
      out.push_back({who.ticket, describe(task->first, who.after_sequence, now_committed)});
      return true;
    });
    task = task->second.empty() ? by_task_.erase(task) : std::next(task);
  }
}

}  // namespace fairlead
