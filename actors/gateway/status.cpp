#include "actors/gateway/status.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "actors/core/cluster/alert_numbers.hpp"
#include "actors/core/distribution.hpp"
#include "messages/holds.hpp"
#include "messages/task_states.hpp"

namespace fairlead {

namespace {

constexpr int most_failing = 20;
constexpr int most_reasons = 10;

/// The earlier of two moments; 0 is none.
std::int64_t earlier(std::int64_t a, std::int64_t b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

void add(v1::ShardState& to, const v1::ShardState& more, std::uint32_t shard, std::uint32_t count) {
  for (const auto& one : task_states) one.count(to, one.count(to) + one.count(more));
  for (const auto& one : holds) one.count(to, one.count(to) + one.count(more));
  to.set_archived(to.archived() + more.archived());
  to.set_scheduled(to.scheduled() + more.scheduled());
  to.set_due_entries(to.due_entries() + more.due_entries());
  to.set_unresolved_alerts(to.unresolved_alerts() + more.unresolved_alerts());
  to.set_outbox_events(to.outbox_events() + more.outbox_events());
  to.set_jobs(to.jobs() + more.jobs());
  to.set_jobs_paused(to.jobs_paused() + more.jobs_paused());
  to.set_launches_in_flight(to.launches_in_flight() + more.launches_in_flight());
  to.set_launches_waiting_room(to.launches_waiting_room() + more.launches_waiting_room());
  to.set_launches_waiting_agents(to.launches_waiting_agents() + more.launches_waiting_agents());
  to.set_latest_mark_unix_ms(std::max(to.latest_mark_unix_ms(), more.latest_mark_unix_ms()));
  if (to.clock_alert() == 0) to.set_clock_alert(core::alert_number({shard, more.clock_alert()}, count));
  to.set_launches(to.launches() + more.launches());
  to.set_launches_skipped(to.launches_skipped() + more.launches_skipped());
  if (to.undo_brake_alert() == 0) to.set_undo_brake_alert(core::alert_number({shard, more.undo_brake_alert()}, count));
  to.set_undo_brake_since_unix_ms(earlier(to.undo_brake_since_unix_ms(), more.undo_brake_since_unix_ms()));
}

void add(v1::Traffic& to, const v1::Traffic& more) {
  to.set_submitted(to.submitted() + more.submitted());
  to.set_completed(to.completed() + more.completed());
  to.set_undone(to.undone() + more.undone());
  to.set_failed(to.failed() + more.failed());
  to.set_parked(to.parked() + more.parked());
  to.set_steps_completed(to.steps_completed() + more.steps_completed());
  to.set_steps_failed(to.steps_failed() + more.steps_failed());
  to.set_steps_expired(to.steps_expired() + more.steps_expired());
  to.set_steps_undone(to.steps_undone() + more.steps_undone());
  to.set_handed_over(to.handed_over() + more.handed_over());
  to.set_misdirected(to.misdirected() + more.misdirected());
  core::merge(*to.mutable_step_ms(), more.step_ms());
  core::merge(*to.mutable_task_ms(), more.task_ms());
}

/// An instance serves each shard with a part of its capacity.
void add(v1::AgentStatus& to, const v1::AgentStatus& more) {
  to.set_capacity(to.capacity() + more.capacity());
  to.set_held(to.held() + more.held());
  to.set_waiting(to.waiting() + more.waiting());
  to.set_handed_over(to.handed_over() + more.handed_over());
  to.set_incarnation(std::max(to.incarnation(), more.incarnation()));
  if (to.drained_by().empty()) to.set_drained_by(more.drained_by());
  to.set_draining(to.draining() || more.draining());
  if (to.sickness().empty()) to.set_sickness(more.sickness());
  to.set_sick(to.sick() || more.sick());
  if (more.failed_in_a_row() > to.failed_in_a_row()) {
    to.set_failed_in_a_row(more.failed_in_a_row());
    to.set_last_fault(more.last_fault());
  }
  to.set_error_percent(std::max(to.error_percent(), more.error_percent()));
  to.set_latency_ms(std::max(to.latency_ms(), more.latency_ms()));
  to.set_heard_unix_ms(std::max(to.heard_unix_ms(), more.heard_unix_ms()));
  to.set_silent(to.silent() && more.silent());
  to.set_away(to.away() && more.away());  // any shard that is connected to it counts
}

/// Each shard has its own breaker; the state that blocks most is shown.
int severity(v1::BreakerState state) {
  switch (state) {
    case v1::BREAKER_STATE_UNSPECIFIED: return 0;
    case v1::BREAKER_STATE_CLOSED: return 1;
    case v1::BREAKER_STATE_OPEN: return 3;
    default: return 2;
  }
}

void add(v1::ServiceStatus& to, const v1::ServiceStatus& more) {
  const auto absent_since = earlier(to.record().absent_since_unix_ms(), more.record().absent_since_unix_ms());
  if (severity(more.record().breaker()) > severity(to.record().breaker())) *to.mutable_record() = more.record();
  to.mutable_record()->set_absent_since_unix_ms(absent_since);
  if (to.record().breaker_reason().empty()) to.mutable_record()->set_breaker_reason(more.record().breaker_reason());
  if (to.record().absent_alert() == 0) to.mutable_record()->set_absent_alert(more.record().absent_alert());
  to.set_waiting(to.waiting() + more.waiting());
  to.set_oldest_wait_unix_ms(earlier(to.oldest_wait_unix_ms(), more.oldest_wait_unix_ms()));
  to.set_window_tries(to.window_tries() + more.window_tries());
  to.set_window_failed(to.window_failed() + more.window_failed());
  to.set_window_slow(to.window_slow() + more.window_slow());
  for (int i = 0; i < more.limits_size(); ++i) {
    if (i >= to.limits_size()) {
      *to.add_limits() = more.limits(i);
      continue;
    }
    auto* limit = to.mutable_limits(i);
    limit->set_held(limit->held() + more.limits(i).held());
    limit->set_keys(limit->keys() + more.limits(i).keys());
    limit->set_waiting(limit->waiting() + more.limits(i).waiting());
  }
  for (const auto& reason : more.reasons())
    if (to.reasons_size() < most_reasons && std::find(to.reasons().begin(), to.reasons().end(), reason) == to.reasons().end())
      to.add_reasons(reason);
}

v1::ShardStatus absent(const shard_answer& from) {
  v1::ShardStatus out;
  out.set_shard(from.shard);
  out.set_node(from.holder);
  out.set_here(from.here);
  out.set_reason(from.reply.error().sentence());
  return out;
}

}  // namespace

v1::StatusReply merge_status(std::vector<shard_answer> answers) {
  v1::StatusReply out;
  const auto count = static_cast<std::uint32_t>(answers.size());
  // By name, so that every node shows the instances in the same order.
  std::map<std::string, v1::AgentStatus> agents;
  std::map<std::string, v1::ServiceStatus> services;
  bool any_here = false;
  bool any_up = false;
  bool shown = false;  // epoch and store are those of the first shard here
  for (auto& one : answers) {
    any_here = any_here || one.here;
    auto& reply = one.reply;
    if (reply.error().code() != v1::ERROR_CODE_OK || reply.shards_size() != 1) {
      // The store's values hold even while the Scheduler does not answer.
      auto* line = out.add_shards();
      if (reply.shards_size() == 1) *line = reply.shards(0);
      line->MergeFrom(absent(one));
      line->set_up(false);
      if (one.here && !shown) *out.mutable_store() = reply.store();
      continue;
    }
    any_up = true;
    auto* line = out.add_shards();
    line->Swap(reply.mutable_shards(0));
    line->set_shard(one.shard);
    line->set_here(one.here);
    line->set_node(one.holder);
    if (count == 1)
      *out.mutable_counts() = reply.counts();
    else
      add(*out.mutable_counts(), reply.counts(), one.shard, count);
    add(*out.mutable_traffic(), reply.traffic());
    out.set_oldest_due_unix_ms(earlier(out.oldest_due_unix_ms(), reply.oldest_due_unix_ms()));
    out.set_resumed_tasks(out.resumed_tasks() + reply.resumed_tasks());
    out.set_resuming(out.resuming() || reply.resuming());
    if (!reply.stalest_task().empty() && (out.stalest_task().empty() || reply.stalest_since_unix_ms() < out.stalest_since_unix_ms())) {
      out.set_stalest_task(reply.stalest_task());
      out.set_stalest_since_unix_ms(reply.stalest_since_unix_ms());
    }
    for (auto& receiver : *reply.mutable_replies_failing())
      if (out.replies_failing_size() < most_failing) *out.add_replies_failing() = std::move(receiver);
    if (one.here && !shown) {
      shown = true;
      out.set_epoch(reply.epoch());
      *out.mutable_store() = reply.store();
    }
    for (auto& agent : *reply.mutable_agents()) {
      const auto [known, first] = agents.try_emplace(agent.instance(), agent);
      if (!first) add(known->second, agent);
    }
    for (auto& service : *reply.mutable_services()) {
      auto* record = service.mutable_record();
      record->set_breaker_alert(core::alert_number({one.shard, record->breaker_alert()}, count));
      record->set_absent_alert(core::alert_number({one.shard, record->absent_alert()}, count));
      const auto [known, first] = services.try_emplace(service.record().agent(), service);
      if (!first) add(known->second, service);
    }
  }
  for (auto& [name, agent] : agents) *out.add_agents() = std::move(agent);
  for (auto& [name, service] : services) *out.add_services() = std::move(service);
  if (any_here && !any_up)
    for (const auto& one : answers)
      if (one.here) {
        *out.mutable_error() = one.reply.error();
        break;
      }
  return out;
}

}  // namespace fairlead
