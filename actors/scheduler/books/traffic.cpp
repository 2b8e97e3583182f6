#include "actors/scheduler/books/traffic.hpp"

#include <algorithm>
#include <variant>

namespace fairlead {

void traffic_counts::count(const core::event& what, const core::decision& made, const v1::TaskRecord& record) {
  steps_expired += made.expired;
  steps_failed += made.lost;
  if (const auto* end = std::get_if<core::attempt_ended>(&what); end != nullptr && made.accepted) {
    step_ms.add(static_cast<std::uint64_t>(made.took_ms));
    if (end->fault || made.misfit) {
      ++steps_failed;
    } else if (end->direction == v1::DIRECTION_PERFORM) {
      ++steps_completed;
    } else if (end->direction == v1::DIRECTION_UNDO) {
      ++steps_undone;
    }
  }
  // Hand-overs repeated after a start or a return have been counted before.
  const auto again = std::holds_alternative<core::task_resumed>(what) || std::holds_alternative<core::agent_returned>(what);
  if (!again) handed_over += made.performs.size();
  if (made.parked) ++parked;
  if (!made.ended) return;
  ++(record.state() == v1::TASK_STATE_UNDONE ? undone : record.state() == v1::TASK_STATE_FAILED ? failed : completed);
  task_ms.add(static_cast<std::uint64_t>(std::max<std::int64_t>(record.finished_at_unix_ms() - record.created_at_unix_ms(), 0)));
}

v1::Traffic traffic_counts::to_proto() const {
  v1::Traffic out;
  out.set_submitted(submitted);
  out.set_completed(completed);
  out.set_undone(undone);
  out.set_failed(failed);
  out.set_parked(parked);
  out.set_steps_completed(steps_completed);
  out.set_steps_failed(steps_failed);
  out.set_steps_expired(steps_expired);
  out.set_steps_undone(steps_undone);
  out.set_handed_over(handed_over);
  out.set_misdirected(misdirected);
  *out.mutable_step_ms() = step_ms.to_proto();
  *out.mutable_task_ms() = task_ms.to_proto();
  return out;
}

}  // namespace fairlead
