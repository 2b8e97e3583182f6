// Pauses a job about which no decision can be made.

#include <algorithm>
#include <utility>

#include "actors/core/job/machine.hpp"
#include "actors/core/job/transitions.hpp"

namespace fairlead::core {

job_decision give_up(v1::JobRecord& record, const std::vector<launch_ended>& ended, const job_context& ctx) {
  job_decision out;
  out.changed = true;
  const auto& name = record.spec().name();
  out.alert = failing_alert(record.spec(), "job " + name + " is stopped because of an internal error",
                            "read the node's log; fairlead job resume " + name + " tries again");
  pause(record, "scheduler", "internal error", ctx.now);
  record.set_due_indexed_unix_ms(0);
  record.set_next_unix_ms(0);
  for (int i = record.open_size() - 1; i >= 0; --i) {
    auto& launch = *record.mutable_open(i);
    const auto task =
        std::find_if(ended.begin(), ended.end(), [&](const launch_ended& one) { return one.nominal_unix_ms == launch.nominal_unix_ms(); });
    const auto waits = launch.state() == v1::LAUNCH_STATE_WAITING;
    // Launches that wait for room or agents would come up again at once, and fail again.
    const auto comes_up = waits && (launch.waits_for() == v1::LAUNCH_WAIT_ROOM || launch.waits_for() == v1::LAUNCH_WAIT_AGENTS);
    if (!comes_up && (waits || task == ended.end())) continue;
    auto row = ctx.rows->at(launch.nominal_unix_ms());
    if (!row) {
      out.fatal = row.failure();
      return out;
    }
    if (comes_up) {
      launch.set_waits_for(v1::LAUNCH_WAIT_PAUSE);
      if (*row) (*row)->set_waits_for(v1::LAUNCH_WAIT_PAUSE);
    } else {
      if (*row) {
        move_launch(**row, launch_moves::of_end(task->end));
        (*row)->set_ended_at_unix_ms(to_unix_ms(ctx.now));
      }
      count_end(record, task->end);
      record.mutable_open()->DeleteSubrange(i, 1);
    }
    if (*row) out.rows.push_back(std::move(**row));
  }
  return out;
}

}  // namespace fairlead::core
