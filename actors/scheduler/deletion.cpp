// An operator deletes the record of an ended task.

#include "actors/core/task/task.hpp"
#include "actors/scheduler/books/deletions.hpp"
#include "actors/scheduler/scheduler.hpp"

namespace fairlead {

std::optional<error> scheduler::delete_task(const std::string& id, std::uint64_t number, const v1::OperatorAction& action,
                                            v1::OperateResult& out) {
  const error leaving{v1::ERROR_CODE_UNAVAILABLE, "task " + id + " is being written, archived or deleted at this moment",
                      "try again in a moment"};
  if (is_leaving(number)) return leaving;
  const deletion by{action.who(), world_.time->now()};
  if (auto* task = load(number); task != nullptr) {
    const auto& record = task->record;
    if (!has_ended(record.state()) && !faults_.delete_alive)
      return error{v1::ERROR_CODE_WRONG_STATE,
                   "task " + id + " is " + core::state_word(record.state()) + ", and only an ended task can be deleted",
                   "end it first: fairlead task cancel " + id + ", or fairlead task terminate " + id};
    // Rows that the snapshot does not hold yet would stay.
    if (!batches_.durable(task->last_sequence)) return leaving;
    out.set_state(record.state());
    if (const auto erased = by.of_stored(record, committed(), batches_.counts(), batches_.rows()); !erased.ok()) fail(erased.failure());
    live_.erase(number);
  } else {
    if (fatal_) return fatal_;
    auto tombstone = store::find_task(committed(), id);
    if (!tombstone) fail(tombstone.failure());
    if (fatal_) return fatal_;
    // Nothing more is decided about a task while a crashed decision about it is dealt with.
    if (!*tombstone || !has_ended((*tombstone)->final_state())) return leaving;
    out.set_state((*tombstone)->final_state());
    if ((*tombstone)->deleted_at_unix_ms() != 0) {
      out.set_repeated(true);
      return std::nullopt;
    }
    by.of_archived(id, std::move(**tombstone), batches_.counts(), batches_.rows());
  }
  archive_.deleted(number, batches_.sequence());
  world_.log->on_note(
      note_level::info, "scheduler",
      "the record of task " + id + " was deleted by " + action.who() + (action.reason().empty() ? "" : ": " + action.reason()));
  return std::nullopt;
}

}  // namespace fairlead
