// How the Scheduler finds work that no message brings: tasks that wait for a slot, pending tasks, and what was running before a start.

#include <string>
#include <vector>

#include "actors/scheduler/scheduler.hpp"
#include "store/keys.hpp"

namespace fairlead {

namespace {

constexpr std::size_t pending_chunk = 256;  // pending tasks read ahead

}  // namespace

void scheduler::serve_waiting() {
  if (draining_) return;
  while (!fatal_) {
    const auto number = slots_.next_waiting();
    if (!number) return;
    auto* task = load(*number);
    if (task == nullptr) continue;
    apply(*task, core::slot_freed{});
    forget_if_idle(*number);
    flush_if_large();
  }
}

void scheduler::admit_pending() {
  while (!draining_ && !fatal_ && batches_.counts().pending() > 0 && active_tasks() < limits_.running_tasks) {
    if (pending_ahead_.empty()) {
      const auto scanned = committed().scan(store::table::pending, {}, {}, [this](std::string_view key, std::string_view) {
        const auto entry = store::keys::decode_pending(key);
        // A task that is live has been admitted already; its index entry only has not been erased durably yet.
        if (entry && find(entry->number) == nullptr) pending_ahead_.push_back(entry->number);
        return pending_ahead_.size() < pending_chunk;
      });
      if (!scanned.ok()) {
        fail(scanned.failure());
        return;
      }
      if (pending_ahead_.empty()) return;  // what is pending is not durable yet
    }
    const auto number = pending_ahead_.front();
    pending_ahead_.pop_front();
    auto* task = load(number);
    if (task == nullptr) continue;
    apply(*task, core::task_admitted{});
    // An operator may have ended it before its turn came.
    forget_if_idle(number);
    flush_if_large();
  }
}

bool scheduler::resume_some() {
  if (!sweep_.under_way() || fatal_) return false;
  const auto chunk = sweep_.next(committed());
  if (!chunk) return fail(chunk.failure());
  for (const auto number : chunk->numbers) {
    load(number);
    forget_if_idle(number);
    if (fatal_) return false;
  }
  if (!chunk->last && !faults_.stop_at_chunk) return true;
  world_.log->on_note(note_level::info, "scheduler", "took up " + std::to_string(sweep_.end()) + " tasks that were running");
  slots_.hold_back(false);
  watch_room();
  serve_waiting();
  admit_pending();
  return false;
}

}  // namespace fairlead
