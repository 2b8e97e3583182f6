#include "app/metrics/metrics_text.hpp"

#include <algorithm>
#include <map>

#include "actors/core/task/task.hpp"
#include "app/metrics/metric_page.hpp"
#include "messages/task_states.hpp"

namespace fairlead::app {

namespace {

using labels = metric_page::labels;

constexpr double ms = 1e3;      // in a second
constexpr double micros = 1e6;  // in a second

double number(std::uint64_t value) { return static_cast<double>(value); }

/// `more` after `of`.
labels with(labels of, std::initializer_list<std::pair<std::string, std::string>> more) {
  of.insert(of.end(), more.begin(), more.end());
  return of;
}

/// Seconds since then; never negative, though other clocks may be ahead a little.
double age(moment now, std::int64_t since_unix_ms) {
  return static_cast<double>(std::max<std::int64_t>(0, to_unix_ms(now) - since_unix_ms)) / ms;
}

void add_peers(metric_page& page, const v1::StatusReply& status) {
  std::map<std::string, std::pair<bool, std::uint64_t>> by_name;
  double connected = 0;
  double refused = 0;
  for (const auto& peer : status.peers()) {
    (peer.connected() ? connected : refused) += peer.connected() || peer.refused() ? 1 : 0;
    auto& entry = by_name[peer.node().empty() ? peer.address() : peer.node()];
    entry.first = entry.first || peer.connected();
    entry.second += peer.connects();
  }
  const auto lost = static_cast<double>(status.peers_size()) - connected - refused;
  for (const auto& [state, count] : {std::pair{"connected", connected}, {"refused", refused}, {"lost", lost}})
    page.gauge("fairlead_peers", "Other nodes by the state of the connection to them", {{"state", state}}, count);
  for (const auto& [name, entry] : by_name) {
    page.gauge("fairlead_peer_connected", "1 while the other node is connected", {{"peer", name}}, entry.first ? 1 : 0);
    page.counter("fairlead_peer_connects_total", "Connections made to the other node", {{"peer", name}}, number(entry.second));
  }
}

void add_api(metric_page& page, const api_figures& api, moment now) {
  const auto left = [&](std::int64_t ends_unix_ms) { return static_cast<double>(ends_unix_ms - to_unix_ms(now)) / ms; };
  if (api.certificate_ends_unix_ms != 0)
    page.gauge("fairlead_certificate_expires_seconds", "Time until the certificate of the API ends; negative once it has", {},
               left(api.certificate_ends_unix_ms));
  for (const auto& [name, ends_unix_ms] : api.token_ends)
    page.gauge("fairlead_token_expires_seconds", "Time until the last token of this name expires; negative once it has", {{"token", name}},
               left(ends_unix_ms));
  for (const auto& one : api.answers)
    page.counter("fairlead_api_requests_total", "Answers of the API by method and status",
                 {{"method", one.method}, {"code", std::to_string(one.status)}}, number(one.count));
  page.histogram("fairlead_api_request_duration_seconds", "Time from the head of a request to its answer, or to the begin of a stream", {},
                 api.answer_micros, micros);
  page.gauge("fairlead_api_requests_in_progress", "Requests whose answer has not ended, streams too", {},
             static_cast<double>(api.requests));
  page.gauge("fairlead_api_connections", "Open connections to the API", {}, static_cast<double>(api.connections));
  page.gauge("fairlead_api_streams", "Open streams of events", {}, static_cast<double>(api.streams));
  page.gauge("fairlead_api_workers", "Workers over HTTP that the node carries", {}, static_cast<double>(api.workers));
  page.counter("fairlead_audit_entries_total", "Entries that were written to the audit", {}, number(api.audit_entries));
  page.counter("fairlead_audit_entries_lost_total", "Entries that could not be written to the audit", {}, number(api.audit_entries_lost));
}

void add_node(metric_page& page, const node_figures& all) {
  const auto& status = all.told.status.reply;
  page.gauge("fairlead_build_info", "Always 1; the labels name the version that runs",
             {{"version", all.version}, {"node", all.node}, {"cluster", status ? status->cluster() : ""}}, 1);
  page.gauge("fairlead_healthy", "1 while /healthz answers 200", {}, healthy(all).good() ? 1 : 0);
  page.gauge("fairlead_ready", "1 while /readyz answers 200", {}, ready(all).good() ? 1 : 0);
  page.gauge("fairlead_stores_set_aside", "Folders with a damaged store or journal that the node has set aside", {}, number(all.set_aside));
  if (all.api) add_api(page, *all.api, all.now);
  if (!status) return;
  page.gauge("fairlead_node_start_time_seconds", "When the node started, in seconds since 1970", {},
             static_cast<double>(status->started_at_unix_ms()) / ms);
  page.gauge("fairlead_node_incarnation", "Incarnation of the node; increases with each start", {}, number(status->incarnation()));
  page.gauge("fairlead_node_draining", "1 while the node's agents take no new steps", {}, status->draining() ? 1 : 0);
  page.counter("fairlead_messages_refused_total", "Messages that the gateway refused as invalid", {}, number(status->refused_messages()));
  add_peers(page, *status);
}

void add_tree(metric_page& page, const v1::InspectReply& tree) {
  for (const auto& actor : tree.actors()) {
    const labels of{{"actor", actor.path()}};
    page.gauge("fairlead_actor_running", "1 while the actor runs", of, actor.state() == "running" ? 1 : 0);
    page.counter("fairlead_actor_restarts_total", "Restarts of the actor by its guardian", of, actor.restarts());
    page.gauge("fairlead_actor_mailbox_messages", "Messages in the actor's mailbox when it last took one", of, number(actor.mailbox()));
    page.counter("fairlead_actor_handled_total", "Messages handled since the actor was last started", of, number(actor.handled()));
  }
  page.gauge("fairlead_actors_outside_tree", "Live actors outside the supervision tree; always 0", {}, tree.outside());
}

void add_process(metric_page& page, const process_figures& process) {
  page.counter("fairlead_process_cpu_seconds_total", "Processor time used, user and system", {}, process.cpu_seconds);
  page.gauge("fairlead_process_resident_bytes", "Memory in use, including mapped pages of the store", {}, number(process.resident_bytes));
  page.gauge("fairlead_process_open_fds", "Open files and sockets", {}, number(process.open_files));
  page.gauge("fairlead_process_max_fds", "Limit on open files and sockets", {}, number(process.most_open_files));
  page.gauge("fairlead_process_threads", "Threads", {}, number(process.threads));
}

void add_counts(metric_page& page, const labels& shard, const v1::ShardState& counts) {
  const auto tasks = [&](const char* state, std::uint64_t count) {
    page.gauge("fairlead_tasks", "Tasks in the store by state", with(shard, {{"state", state}}), number(count));
  };
  for (const auto& one : task_states) tasks(core::state_word(one.state), one.count(counts));
  page.gauge("fairlead_tasks_parked", "Parked tasks (they wait for an operator); also counted under their state", shard,
             number(counts.parked()));
  page.gauge("fairlead_tasks_paused", "Tasks that an operator has paused; also counted under their state", shard, number(counts.paused()));
  page.gauge("fairlead_tasks_scheduled", "Pending tasks that wait for the start that their submission gave", shard,
             number(counts.scheduled()));
  page.gauge("fairlead_tasks_archived", "Tasks in the archives", shard, number(counts.archived()));
  page.gauge("fairlead_alerts_unresolved", "Alerts that are open or acknowledged", shard, number(counts.unresolved_alerts()));
  page.gauge("fairlead_undo_brake_on", "1 while the brake on mass undo is on", shard, counts.undo_brake_since_unix_ms() != 0 ? 1 : 0);
  page.gauge("fairlead_undo_brake_held_tasks", "Tasks that the brake on mass undo holds", shard, number(counts.undo_held()));
  page.gauge("fairlead_status_events_waiting", "Status events that no receiver has accepted yet", shard, number(counts.outbox_events()));
  page.gauge("fairlead_jobs", "Jobs, including paused jobs", shard, number(counts.jobs()));
  page.gauge("fairlead_jobs_paused", "Jobs that an operator has paused", shard, number(counts.jobs_paused()));
  page.gauge("fairlead_launches_in_flight", "Tasks of jobs that have not ended and are not parked", shard,
             number(counts.launches_in_flight()));
  const auto waiting = [&](const char* reason, std::uint64_t count) {
    page.gauge("fairlead_launches_waiting", "Launches whose start is delayed, by reason", with(shard, {{"reason", reason}}), number(count));
  };
  waiting("room", counts.launches_waiting_room());
  waiting("agents", counts.launches_waiting_agents());
  // Stored durably: these counters go on over a restart.
  page.counter("fairlead_launches_total", "Launches of jobs that became tasks", shard, number(counts.launches()));
  page.counter("fairlead_launches_skipped_total", "Nominal times of jobs that were skipped", shard, number(counts.launches_skipped()));
  page.gauge("fairlead_wake_ups", "Tasks with a wake-up, due or not", shard, number(counts.due_entries()));
}

void add_traffic(metric_page& page, const labels& shard, const v1::Traffic& traffic) {
  page.counter("fairlead_submissions_total", "Tasks taken", shard, number(traffic.submitted()));
  const auto tasks = [&](const char* outcome, std::uint64_t count) {
    page.counter("fairlead_task_outcomes_total", "Tasks that ended or were parked", with(shard, {{"outcome", outcome}}), number(count));
  };
  tasks("completed", traffic.completed());
  tasks("undone", traffic.undone());
  tasks("failed", traffic.failed());
  tasks("parked", traffic.parked());
  const auto steps = [&](const char* outcome, std::uint64_t count) {
    page.counter("fairlead_step_outcomes_total", "Attempts at steps by how they ended", with(shard, {{"outcome", outcome}}), number(count));
  };
  steps("completed", traffic.steps_completed());
  steps("failed", traffic.steps_failed());
  steps("expired", traffic.steps_expired());
  steps("undone", traffic.steps_undone());
  page.counter("fairlead_hand_overs_total", "Attempts handed to agents", shard, number(traffic.handed_over()));
  page.counter("fairlead_messages_misdirected_total", "Messages from agents that were refused as invalid", shard,
               number(traffic.misdirected()));
  page.histogram("fairlead_step_duration_seconds", "Time from the hand-over of an attempt to its recorded outcome", shard,
                 traffic.step_ms(), ms);
  page.histogram("fairlead_task_duration_seconds", "Time from the submission of a task to its end", shard, traffic.task_ms(), ms);
}

void add_store(metric_page& page, const labels& shard, const v1::ShardStatus& status) {
  if (status.has_store()) {
    page.gauge("fairlead_store_used_bytes", "Used bytes of the store", shard, number(status.store().used_bytes()));
    page.gauge("fairlead_store_reserved_bytes", "Bytes of the store that are reserved for running tasks", shard,
               number(status.store().reserved_bytes()));
    page.gauge("fairlead_store_max_bytes", "Largest size of the store in bytes; new tasks are refused once 90 % are used or reserved",
               shard, number(status.store().max_bytes()));
    page.gauge("fairlead_store_unapplied_bytes", "Bytes that are durable in the journal and not in the store yet", shard,
               number(status.store().unapplied_bytes()));
    page.gauge("fairlead_shard_time_ahead_seconds", "How far the time of the shard is ahead of the wall clock", shard,
               static_cast<double>(status.store().shard_time_ahead_ms()) / ms);
  }
  if (!status.has_commits()) return;
  const auto& commits = status.commits();
  page.counter("fairlead_commits_total", "Commits of the store", shard, number(commits.commits()));
  page.histogram("fairlead_commit_batches", "Batches in one commit", shard, commits.batches(), 1);
  page.histogram("fairlead_commit_bytes", "Bytes written by one commit", shard, commits.bytes(), 1);
  page.histogram("fairlead_commit_duration_seconds", "Time of a commit, including the sync", shard, commits.micros(), micros);
}

void add_journal(metric_page& page, const v1::JournalStatus& journal) {
  page.gauge("fairlead_journal_segments", "Files of the journal that are in use", {}, number(journal.segments()));
  if (journal.most_segments() != 0)
    page.gauge("fairlead_journal_most_segments", "Files of the journal that may be in use", {}, number(journal.most_segments()));
  if (journal.has_kept_by_shard())
    page.gauge("fairlead_journal_kept_by_shard", "1 for the shard that needs entries of the oldest file in use",
               {{"shard", std::to_string(journal.kept_by_shard())}}, 1);
  page.counter("fairlead_journal_groups_total", "Writes to the journal, each with one sync", {}, number(journal.groups()));
  page.counter("fairlead_journal_written_bytes_total", "Bytes written to the journal", {}, number(journal.written_bytes()));
}

void add_agents(metric_page& page, const labels& shard, const v1::StatusReply& reply) {
  for (const auto& agent : reply.agents()) {
    if (agent.instance().empty()) continue;  // the entry is for steps that wait for an agent without instances
    const auto of = with(shard, {{"agent", agent.agent()}, {"instance", agent.instance()}});
    page.gauge("fairlead_agent_capacity", "Capacity of the instance: attempts at a time", of, agent.capacity());
    page.gauge("fairlead_agent_held", "Attempts that the instance holds", of, agent.held());
    page.gauge("fairlead_agent_sick", "1 while the instance is sick and gets single probe attempts only", of, agent.sick() ? 1 : 0);
    page.gauge("fairlead_agent_away", "1 while the instance's node is not connected", of, agent.away() ? 1 : 0);
    page.gauge("fairlead_agent_silent", "1 while nothing is heard of the worker over HTTP, which takes no new steps then", of,
               agent.silent() ? 1 : 0);
    page.gauge("fairlead_agent_draining", "1 while the instance is drained and takes no new steps", of, agent.draining() ? 1 : 0);
    page.gauge("fairlead_agent_error_ratio", "Share of the instance's latest attempts that failed", of, agent.error_percent() / 100.0);
    page.gauge("fairlead_agent_latency_seconds", "Time of the instance's latest tries, smoothed", of,
               static_cast<double>(agent.latency_ms()) / ms);
    page.counter("fairlead_agent_handed_over_total", "Attempts handed to the instance", of, number(agent.handed_over()));
  }
}

void add_limits(metric_page& page, const labels& service, const v1::ServiceStatus& status) {
  for (int i = 0; i < status.limits_size(); ++i) {
    const auto& limit = status.limits(i);
    const auto& policy = limit.policy();
    // Two limits may have the same call and key.
    const auto of = with(service, {{"limit", std::to_string(i + 1)}, {"call", policy.call()}, {"key", policy.key()}});
    page.gauge("fairlead_limit_held", "Attempts that count under the limit", of, number(limit.held()));
    page.gauge("fairlead_limit_waiting_steps", "Steps that wait because of the limit", of, number(limit.waiting()));
    if (!policy.key().empty()) page.gauge("fairlead_limit_keys", "Keys in use under the limit", of, number(limit.keys()));
    if (policy.concurrency() > 0)
      page.gauge("fairlead_limit_concurrency", "Attempts that the limit allows at a time, for each key", of, policy.concurrency());
    if (policy.rate() > 0 && policy.rate_per_ms() > 0)
      page.gauge("fairlead_limit_rate", "Hand-overs a second that the limit allows, for each key", of,
                 policy.rate() * ms / static_cast<double>(policy.rate_per_ms()));
  }
}

void add_services(metric_page& page, const labels& shard, const v1::StatusReply& reply, moment now) {
  for (const auto& service : reply.services()) {
    const auto& record = service.record();
    const auto of = with(shard, {{"agent", record.agent()}});
    page.gauge("fairlead_service_waiting_steps", "Steps that wait for the service", of, number(service.waiting()));
    page.gauge("fairlead_service_oldest_wait_seconds", "Age of the longest wait of a step for the service", of,
               service.oldest_wait_unix_ms() != 0 ? age(now, service.oldest_wait_unix_ms()) : 0);
    page.gauge("fairlead_service_absent", "1 while steps wait and no instance that could take them is registered", of,
               record.absent_since_unix_ms() != 0 ? 1 : 0);
    const auto breaker = [&](const char* state, bool is) {
      page.gauge("fairlead_service_breaker", "1 for the state that the service's breaker is in", with(of, {{"state", state}}), is ? 1 : 0);
    };
    breaker("closed", record.breaker() == v1::BREAKER_STATE_CLOSED || record.breaker() == v1::BREAKER_STATE_UNSPECIFIED);
    breaker("open", record.breaker() == v1::BREAKER_STATE_OPEN);
    breaker("half_open", record.breaker() == v1::BREAKER_STATE_HALF_OPEN);
    const auto window = [&](const char* kind, std::uint32_t count) {
      page.gauge("fairlead_service_window_tries", "Tries in the window of the breaker", with(of, {{"kind", kind}}), count);
    };
    window("all", service.window_tries());
    window("failed", service.window_failed());
    window("slow", service.window_slow());
    add_limits(page, of, service);
  }
}

void add_replica(metric_page& page, const labels& shard, const v1::ShardStatus& here, moment now) {
  const auto& own = here.replication();
  const auto leads = own.role() == "leader";
  page.gauge("fairlead_replica_leads", "1 while this node leads the shard", shard, leads ? 1 : 0);
  page.gauge("fairlead_replica_knows_leader", "1 while this node leads the shard or follows one that does", shard,
             own.leader().empty() ? 0 : 1);
  page.gauge("fairlead_replica_stands_aside", "1 once the replica takes no part in its shard any more", shard,
             own.trouble().empty() ? 0 : 1);
  page.gauge("fairlead_replica_term", "The term of the replica; each election of a leader has another", shard, number(own.term()));
  page.gauge("fairlead_replica_last_index", "Index of the newest entry of the replica", shard, number(own.last_index()));
  page.gauge("fairlead_replica_shown_index", "Index of the newest entry that readers see", shard, number(own.shown_index()));
  if (own.contact_ms_ago() >= 0)
    page.gauge("fairlead_replica_contact_seconds", "Age of the last contact: of a leader with a majority, of others with the leader", shard,
               static_cast<double>(own.contact_ms_ago()) / ms);
  page.gauge("fairlead_replica_clock_ahead_seconds", "How far the time of the shard is ahead of the wall clock of this node", shard,
             static_cast<double>(own.clock_ahead_ms()) / ms);
  page.gauge("fairlead_replica_format", "The format that the shard is written in", shard, own.format());
  if (const auto ended_ms = own.comparison().ended_at_unix_ms(); ended_ms != 0)
    page.gauge("fairlead_replica_compared_seconds", "How long ago the states of all replicas were compared last", shard,
               age(now, ended_ms));
  // That of a leader is told with the shard.
  if (!leads) return add_store(page, shard, here);
  page.gauge("fairlead_replica_may_lose_nodes", "How many more nodes may fail while the shard goes on; told by its leader", shard,
             own.may_lose());
  for (const auto& one : own.others()) {
    const auto of = with(shard, {{"peer", one.node()}});
    page.gauge("fairlead_replica_needs_help", "1 while the other replica does not catch up by itself", of, one.trouble().empty() ? 0 : 1);
    page.gauge("fairlead_replica_needs_copy", "1 while the other replica waits for a copy of the state, or gets one", of,
               one.needs_copy() ? 1 : 0);
    page.gauge("fairlead_replica_copied_bytes", "So many bytes of a copy of the state the other replica has asked for", of,
               number(one.copied_bytes()));
    page.gauge("fairlead_replica_copy_bytes", "Size of the copy of the state that the other replica gets; 0: it gets none", of,
               number(one.copy_bytes()));
    if (one.heard_ms_ago() < 0) continue;
    page.gauge("fairlead_replica_behind_entries", "Entries of the leader that the other replica has not confirmed", of,
               number(one.behind_entries()));
    page.gauge("fairlead_replica_behind_bytes", "Bytes of these entries", of, number(one.behind_bytes()));
    page.gauge("fairlead_replica_behind_seconds", "Age of the oldest of these entries", of, static_cast<double>(one.behind_ms()) / ms);
    page.gauge("fairlead_replica_heard_seconds", "How long ago the leader heard of the other replica", of,
               static_cast<double>(one.heard_ms_ago()) / ms);
  }
}

void add_shard(metric_page& page, const node_figures& all, std::uint32_t number_of_shard) {
  const labels shard{{"shard", std::to_string(number_of_shard)}};
  const auto& reply = all.told.shards.at(number_of_shard).reply;
  const auto status = reply ? shard_status_of(*reply, number_of_shard) : v1::ShardStatus{};
  page.gauge("fairlead_shard_up", "1 while the shard's Scheduler answers", shard, reply && status.up() ? 1 : 0);
  if (!reply) return;
  page.gauge("fairlead_shard_epoch", "Starts of the shard so far", shard, number(status.epoch()));
  page.gauge("fairlead_shard_resuming", "1 while the shard loads open tasks after a start", shard, status.resuming() ? 1 : 0);
  page.gauge("fairlead_shard_resumed_tasks", "Open tasks that the shard loaded at its start", shard, number(status.resumed_tasks()));
  if (status.has_counts()) add_counts(page, shard, status.counts());
  page.gauge("fairlead_wake_up_overdue_seconds", "Delay of the earliest due wake-up; 0 while none is due", shard,
             status.oldest_due_unix_ms() != 0 ? age(all.now, status.oldest_due_unix_ms()) : 0);
  page.gauge("fairlead_stalest_task_seconds", "Longest time without progress of a live task", shard,
             status.stalest_task().empty() ? 0 : age(all.now, status.stalest_since_unix_ms()));
  page.gauge("fairlead_receivers_failing", "Receivers that do not accept their status events; more than 20 count as 20", shard,
             reply->replies_failing_size());
  if (status.has_traffic()) add_traffic(page, shard, status.traffic());
  add_store(page, shard, status);
  if (const auto found = all.full_in_seconds.find(number_of_shard); found != all.full_in_seconds.end())
    page.gauge("fairlead_store_days_until_full", "Days until the store refuses new tasks, if it keeps growing as in the last hour", shard,
               found->second / 86'400);
  add_agents(page, shard, *reply);
  add_services(page, shard, *reply, all.now);
}

/// The journal is the node's: each of its shards tells the same. nullptr: there is none.
const v1::JournalStatus* journal_of(const node_figures& all) {
  for (const auto& [shard, own] : all.replicas)
    if (own.store().has_journal()) return &own.store().journal();
  for (const auto& [shard, part] : all.told.shards) {
    if (!part.reply) continue;
    for (const auto& one : part.reply->shards())
      if (one.store().has_journal()) return &one.store().journal();
    if (part.reply->store().has_journal()) return &part.reply->store().journal();
  }
  return nullptr;
}

}  // namespace

std::string metrics_text(const node_figures& all) {
  metric_page page;
  add_node(page, all);
  for (const auto& [shard, own] : all.replicas) add_replica(page, {{"shard", std::to_string(shard)}}, own, all.now);
  for (const auto& [shard, part] : all.told.shards) add_shard(page, all, shard);
  if (const auto* const journal = journal_of(all)) add_journal(page, *journal);
  if (all.told.tree.reply) add_tree(page, *all.told.tree.reply);
  add_process(page, all.process);
  return page.text();
}

}  // namespace fairlead::app
