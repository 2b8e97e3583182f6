#pragma once
// The places where a run may strike: every durable boundary and every hand-over between processes. All of them must be struck in a
// run over some thousand seeds; `simulate` says so when one was not.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fairlead::simulation {

enum class failpoint_id : std::uint8_t {
  // The node dies.
  commit_asked,      // the batch is handed to the disk
  commit_unwritten,  // before it is written
  commit_unsynced,   // in the middle of the write, and whatever is on the disk
  commit_untold,     // durable, the Scheduler does not know
  commit_told,       // the Scheduler knows, and what follows from it is not written yet
  disk_error,        // the write fails: the process stops, and whatever is on the disk
  effect_perform,    // between the effects of one batch, after one of this kind has left
  effect_acknowledge,
  effect_hint,
  effect_reply,
  effect_notify,
  effect_renew_untold,  // a heartbeat is durable, and its agent has not been told
  effect_renew,
  commit_service_untold,  // what became durable about a service is not known to the Scheduler
  effect_offered,         // time alone has let steps go, and nothing of it is written
  evaluate_asked,
  start_epoch_raised,  // again while starting
  start_opened,
  start_sweeping,
  recover_asked,         // the Supervisor has asked, the Scheduler has not heard
  commit_launch_untold,  // what became durable about launches is not known to the Scheduler
  effect_wake_cron,      // the cron has been sent for
  cron_asked,            // the cron has named jobs that are due, the Scheduler has not heard
  // A cron alone dies and is started again: what it had sent it sends again.
  cron_lost,
  // A Supervisor alone dies and is started again: its hints are gone.
  supervisor_lost,
  // The node's courier has delivered, and dies with the node before that is recorded.
  courier_unrecorded,
  // The same of alerts.
  alert_unrecorded,
  // The archiver has chosen tasks, and dies with the node before anybody knows.
  archive_chosen,
  // Whoever applies a move has copied its tasks, and dies before they leave the store.
  archive_copied,
  // The archiver alone dies and is started again, having told of what it chose.
  archiver_lost,
  // A copy of another replica's state is about to take the place of the node's own, or has taken it.
  copy_unplaced,
  copy_placed,
  // An agent's process dies.
  agent_received,   // before it starts what it was handed
  agent_requested,  // the request to the service is out
  agent_answered,   // the service's answer is there, not reported
  agent_reported,   // reported, not acknowledged
  agent_acknowledged,
  agent_registering,
  agent_beating,   // a heartbeat has left
  agent_retrying,  // between two tries of an attempt
  count
};

inline constexpr std::size_t failpoint_count = static_cast<std::size_t>(failpoint_id::count);

inline constexpr std::array<std::string_view, failpoint_count> failpoint_names{
    "commit.asked",       "commit.unwritten",      "commit.unsynced",      "commit.untold",    "commit.told",        "commit.disk_error",
    "effect.perform",     "effect.acknowledge",    "effect.hint",          "effect.reply",     "effect.notify",      "effect.renew_untold",
    "effect.renew",       "commit.service_untold", "effect.offered",       "evaluate.asked",   "start.epoch_raised", "start.opened",
    "start.sweeping",     "recover.asked",         "commit.launch_untold", "effect.wake_cron", "cron.asked",         "cron.lost",
    "supervisor.lost",    "courier.unrecorded",    "alert.unrecorded",     "archive.chosen",   "archive.copied",     "archiver.lost",
    "copy.unplaced",      "copy.placed",           "agent.received",       "agent.requested",  "agent.answered",     "agent.reported",
    "agent.acknowledged", "agent.registering",     "agent.beating",        "agent.retrying"};

}  // namespace fairlead::simulation
