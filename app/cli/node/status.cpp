#include <algorithm>

#include "actors/core/store_room.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/node/agent_text.hpp"
#include "app/cli/node/journal_text.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/words.hpp"
#include "app/json/node/cluster.hpp"
#include "app/metrics/node_figures.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

/// Empty if there are no jobs and no open launches of deleted jobs.
std::string jobs_text(const v1::ShardState& counts) {
  const auto waiting = counts.launches_waiting_room() + counts.launches_waiting_agents();
  if (counts.jobs() + counts.launches_in_flight() + waiting == 0) return {};
  std::string out = "jobs     " + std::to_string(counts.jobs());
  if (counts.jobs_paused() != 0) out += ", " + std::to_string(counts.jobs_paused()) + " paused";
  if (counts.launches_in_flight() != 0) out += ", " + std::to_string(counts.launches_in_flight()) + " launches in progress";
  if (counts.launches_waiting_room() != 0) out += ", " + std::to_string(counts.launches_waiting_room()) + " wait for room";
  if (counts.launches_waiting_agents() != 0) out += ", " + std::to_string(counts.launches_waiting_agents()) + " wait for agents";
  return out + "\n";
}

/// Empty for a single shard that is up: the lines above already give its state.
std::string shards_text(const v1::StatusReply& reply) {
  if (reply.shards_size() == 1 && reply.shards(0).up() && reply.peers().empty()) return {};
  text_table table{{{"SHARD", align::right},
                    {"NODE"},
                    {"EPOCH", align::right},
                    {"RUNNING", align::right},
                    {"PARKED", align::right},
                    {"USED", align::right, narrow::drop},
                    {"WHY NOT", align::left, narrow::below}}};
  for (const auto& one : reply.shards())
    table.add({std::to_string(one.shard()), printable(one.node()), one.up() ? std::to_string(one.epoch()) : "",
               std::to_string(one.counts().running()), std::to_string(one.counts().parked()), bytes_text(one.store().used_bytes()),
               one.up() ? "" : printable(shortened(one.reason(), 120))});
  return reply.shards().empty() ? std::string{"\nNo shards: no node with a shard is connected.\n"} : "\nShards\n" + table.text();
}

std::string peers_text(const v1::StatusReply& reply) {
  if (reply.peers().empty()) return {};
  text_table table{
      {{"NODE"}, {"ADDRESS", align::left, narrow::drop}, {"CONNECTED"}, {"SINCE"}, {"VERSION"}, {"WHY NOT", align::left, narrow::below}}};
  for (const auto& one : reply.peers())
    table.add({printable(one.node()), printable(one.address()),
               one.connected() ? "yes"
               : one.refused() ? "refused"
                               : "no",
               time_cell(one.since_unix_ms()), printable(one.version()), one.connected() ? "" : printable(shortened(one.reason(), 120))});
  return "\nOther nodes\n" + table.text();
}

/// `6.1 MiB of 16.0 MiB used, 9.2 MiB reserved for running tasks, 95 % in all: new tasks are refused`
std::string store_text(const v1::StoreStatus& store) {
  const core::store_room room{store.used_bytes(), store.reserved_bytes(), store.max_bytes(), 0};
  auto out = bytes_text(room.used_bytes) + " of " + bytes_text(room.max_bytes) + " used";
  if (room.reserved_bytes != 0)
    out += ", " + bytes_text(room.reserved_bytes) + " reserved for running tasks, " + std::to_string(room.percent()) + " % in all";
  return out + (room.max_bytes != 0 && room.percent() >= full_at_percent ? ": new tasks are refused" : "");
}

// The time of a shard follows the wall clock slowly. A smaller difference needs nobody's eye.
constexpr std::int64_t told_shard_time_ms = 500;

/// `data/journal, 2 files of 64.0 MiB in use, 1.2 MiB not applied yet, written through the page cache`
std::string journal_text(const v1::StoreStatus& store) {
  const auto& journal = store.journal();
  auto out = printable(journal.path()) + ", " + journal_files_text(journal);
  if (store.unapplied_bytes() != 0) out += ", " + bytes_text(store.unapplied_bytes()) + " not applied yet";
  const auto ahead_ms = store.shard_time_ahead_ms();
  if (ahead_ms > told_shard_time_ms || ahead_ms < -told_shard_time_ms)
    out += ", shard time " + format_duration(std::abs(ahead_ms)) + (ahead_ms > 0 ? " ahead of" : " behind") + " the wall clock";
  return out + (journal.direct() ? "" : ", written through the page cache");
}

std::string status_text(const v1::StatusReply& reply) {
  const auto& store = reply.store();
  std::string out = "node     " + printable(reply.node()) + ", fairlead " + printable(reply.version()) + ", up since " +
                    time_text(reply.started_at_unix_ms()) + ", epoch " + std::to_string(reply.epoch()) + "\n";
  out += "store    " + printable(store.path()) + ", " + store_text(store) + ", " + std::to_string(store.commits()) + " commits\n";
  if (store.has_journal()) out += "journal  " + journal_text(store) + "\n";
  out += "resumed  " + std::to_string(reply.resumed_tasks()) + " open tasks loaded at the start" +
         (reply.resuming() ? ", still loading" : "") + "\n";
  if (reply.oldest_due_unix_ms() != 0) out += "due      next wake-up at " + time_text(reply.oldest_due_unix_ms()) + "\n";

  if (!reply.stalest_task().empty())
    out += "stalest  " + printable(reply.stalest_task()) + ", no progress for " + age_text(now_unix_ms() - reply.stalest_since_unix_ms()) +
           "\n";

  const auto& counts = reply.counts();
  if (counts.unresolved_alerts() != 0)
    out += "alerts   " + std::to_string(counts.unresolved_alerts()) + " unresolved, see fairlead alert list\n";
  if (counts.undo_brake_since_unix_ms() != 0)
    out += "brake    mass undo is stopped since " + time_text(counts.undo_brake_since_unix_ms()) + ", " +
           std::to_string(counts.undo_held()) + (counts.undo_held() == 1 ? " task waits" : " tasks wait") +
           "; fairlead brake release undoes them\n";
  out += jobs_text(counts);
  for (const auto& one : reply.replies_failing())
    out += "replies  " + printable(reply_receiver(one)) + " has not accepted its events since " + time_text(one.failing_since_unix_ms()) +
           ": " + printable(shortened(one.last_failure(), 80)) + "\n";
  text_table tasks{{{"PENDING", align::right},
                    {"RUNNING", align::right},
                    {"COMPLETED", align::right},
                    {"UNDOING", align::right},
                    {"UNDONE", align::right},
                    {"FAILED", align::right},
                    {"PARKED", align::right},
                    {"PAUSED", align::right},
                    {"ARCHIVED", align::right}}};
  tasks.add({std::to_string(counts.pending()), std::to_string(counts.running()), std::to_string(counts.completed()),
             std::to_string(counts.undoing()), std::to_string(counts.undone()), std::to_string(counts.failed()),
             std::to_string(counts.parked()), std::to_string(counts.paused()), std::to_string(counts.archived())});
  out += "\nTasks\n" + tasks.text();
  if (counts.scheduled() > 0)
    out += counts.scheduled() == 1 ? std::string{"One pending task waits for its start.\n"}
                                   : std::to_string(counts.scheduled()) + " pending tasks wait for their start.\n";

  const auto services = troubled_services_text(reply);
  if (!services.empty()) out += "\nServices with waiting steps or a breaker that is not closed\n" + services;
  const auto instances = instances_text(reply);
  out += instances.empty() ? "\nNo agent is registered: steps wait until one registers.\n" : "\nAgents\n" + instances;
  return out + shards_text(reply) + peers_text(reply);
}

}  // namespace

void add_status_command(CLI::App& app, cli_context& context) {
  auto* command = app.add_subcommand("status", "Show the state of a node: tasks by state, agents, jobs, alerts and the store");
  add_client_options(*command, context);
  command->callback([&context] {
    run_request(
        context, [](client& to) { return to.status_of_node({}); }, status_json, status_text);
  });
}

}  // namespace fairlead::app
