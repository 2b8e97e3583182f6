#include <algorithm>

#include "actors/core/store_room.hpp"
#include "actors/core/task/task.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/node/agent_text.hpp"
#include "app/cli/node/journal_text.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/words.hpp"
#include "app/json/writer.hpp"
#include "app/metrics/node_figures.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

const std::string& receiver(const v1::ReplyAddressRecord& of) {
  return of.address().webhook().empty() ? of.address().client() : of.address().webhook();
}

std::string status_json(const v1::StatusReply& reply) {
  json_writer out;
  out.begin_object().key("node").string(reply.node()).key("version").string(reply.version());
  out.key("started_at").moment(reply.started_at_unix_ms()).key("epoch").number(std::uint64_t{reply.epoch()});
  const auto& counts = reply.counts();
  out.key("counts").begin_object();
  for (const auto& one : task_states) out.key(core::state_word(one.state)).number(one.count(counts));
  out.key("parked").number(std::uint64_t{counts.parked()});
  out.key("archived").number(std::uint64_t{counts.archived()}).key("paused").number(std::uint64_t{counts.paused()}).end_object();
  out.key("alerts").begin_object().key("unresolved").number(std::uint64_t{counts.unresolved_alerts()}).end_object();
  out.key("jobs").begin_object().key("all").number(std::uint64_t{counts.jobs()}).key("paused").number(std::uint64_t{counts.jobs_paused()});
  out.key("launches").number(std::uint64_t{counts.launches()}).key("skipped").number(std::uint64_t{counts.launches_skipped()});
  out.key("in_flight").number(std::uint64_t{counts.launches_in_flight()});
  out.key("waiting_for_room").number(std::uint64_t{counts.launches_waiting_room()});
  out.key("waiting_for_agents").number(std::uint64_t{counts.launches_waiting_agents()}).end_object();
  out.key("undo_brake").begin_object().key("since").moment(counts.undo_brake_since_unix_ms());
  out.key("held").number(std::uint64_t{counts.undo_held()}).end_object();
  out.key("agents").begin_array();
  for (const auto& agent : reply.agents()) write_agent(out, agent);
  out.end_array().key("services").begin_array();
  for (const auto& service : reply.services()) write_service(out, service);
  out.end_array();
  const auto& store = reply.store();
  out.key("store").begin_object().key("path").string(store.path()).key("used_bytes").number(std::uint64_t{store.used_bytes()});
  out.key("reserved_bytes").number(std::uint64_t{store.reserved_bytes()});
  out.key("max_bytes").number(std::uint64_t{store.max_bytes()}).key("sequence").number(std::uint64_t{store.sequence()});
  out.key("commits").number(std::uint64_t{store.commits()});
  out.key("unapplied_bytes").number(std::uint64_t{store.unapplied_bytes()});
  out.key("shard_time_ahead_ms").number(std::int64_t{store.shard_time_ahead_ms()}).end_object();
  out.key("journal");
  write_journal(out, store.journal());
  out.key("oldest_due").moment(reply.oldest_due_unix_ms()).key("resumed_tasks").number(std::uint64_t{reply.resumed_tasks()});
  out.key("resuming").boolean(reply.resuming());
  out.key("stalest_task").string(reply.stalest_task()).key("stalest_since").moment(reply.stalest_since_unix_ms());
  out.key("replies").begin_object().key("waiting").number(std::uint64_t{counts.outbox_events()}).key("failing").begin_array();
  for (const auto& one : reply.replies_failing()) {
    out.begin_object().key("receiver").string(receiver(one)).key("since").moment(one.failing_since_unix_ms());
    out.key("failures").number(one.failures()).key("why").string(one.last_failure()).end_object();
  }
  out.end_array().end_object();
  out.key("cluster").string(reply.cluster()).key("incarnation").number(std::uint64_t{reply.incarnation()});
  out.key("draining").boolean(reply.draining()).key("refused_messages").number(std::uint64_t{reply.refused_messages()});
  out.key("shards").begin_array();
  for (const auto& one : reply.shards()) {
    out.begin_object().key("shard").number(std::uint64_t{one.shard()}).key("node").string(one.node()).key("here").boolean(one.here());
    out.key("up").boolean(one.up()).key("reason").string(one.reason()).key("epoch").number(std::uint64_t{one.epoch()});
    out.key("running").number(std::uint64_t{one.counts().running()}).key("parked").number(std::uint64_t{one.counts().parked()});
    out.key("used_bytes").number(std::uint64_t{one.store().used_bytes()});
    out.key("reserved_bytes").number(std::uint64_t{one.store().reserved_bytes()}).end_object();
  }
  out.end_array().key("peers").begin_array();
  for (const auto& one : reply.peers()) {
    out.begin_object().key("node").string(one.node()).key("address").string(one.address()).key("connected").boolean(one.connected());
    out.key("refused").boolean(one.refused()).key("reason").string(one.reason()).key("since").moment(one.since_unix_ms());
    out.key("version").string(one.version()).end_object();
  }
  out.end_array().end_object();
  return out.text();
}

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
    out += "stalest  " + printable(reply.stalest_task()) + ", no progress for " +
           age_text(to_unix_ms(system_clock{}.now()) - reply.stalest_since_unix_ms()) + "\n";

  const auto& counts = reply.counts();
  if (counts.unresolved_alerts() != 0)
    out += "alerts   " + std::to_string(counts.unresolved_alerts()) + " unresolved, see fairlead alert list\n";
  if (counts.undo_brake_since_unix_ms() != 0)
    out += "brake    mass undo is stopped since " + time_text(counts.undo_brake_since_unix_ms()) + ", " +
           std::to_string(counts.undo_held()) + (counts.undo_held() == 1 ? " task waits" : " tasks wait") +
           "; fairlead brake release undoes them\n";
  out += jobs_text(counts);
  for (const auto& one : reply.replies_failing())
    out += "replies  " + printable(receiver(one)) + " has not accepted its events since " + time_text(one.failing_since_unix_ms()) + ": " +
           printable(shortened(one.last_failure(), 80)) + "\n";
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
