#include "app/cli/node/agent_text.hpp"

#include <algorithm>

#include "app/cli/screen/screen.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/words.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

bool closed(const v1::ServiceRecord& record) {
  return record.breaker() != v1::BREAKER_STATE_OPEN && record.breaker() != v1::BREAKER_STATE_HALF_OPEN;
}

std::string joined(const google::protobuf::RepeatedPtrField<std::string>& words, const char* between) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

std::string count_text(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

/// `open until 2026-03-29 01:00:00Z: 60 % of 40 tries failed`.
std::string breaker_text(const v1::ServiceRecord& record) {
  if (closed(record)) return record.breaker_by().empty() ? "closed" : "closed by " + record.breaker_by();
  std::string out = "half-open, single probe attempts test the service";
  if (record.breaker() == v1::BREAKER_STATE_OPEN)
    out = record.open_until_unix_ms() == 0 ? "open until an operator closes it" : "open until " + time_text(record.open_until_unix_ms());
  if (!record.breaker_by().empty()) out += ", by " + record.breaker_by();
  if (!record.breaker_reason().empty()) out += ": " + record.breaker_reason();
  return out;
}

std::string waits_text(const v1::ServiceStatus& service) {
  if (service.waiting() == 0) return "nothing";
  return count_text(service.waiting(), "step", "steps") +
         (service.oldest_wait_unix_ms() == 0 ? "" : ", the oldest since " + time_text(service.oldest_wait_unix_ms()));
}

std::string limit_text(const v1::LimitStatus& limit) {
  const auto& policy = limit.policy();
  std::string out = policy.call().empty() ? "all calls" : policy.call();
  if (!policy.key().empty()) out += " for each " + policy.key();
  out += ":";
  if (policy.concurrency() != 0) out += " " + std::to_string(policy.concurrency()) + " at a time";
  if (policy.rate() != 0)
    out += std::string{policy.concurrency() != 0 ? "," : ""} + " " + std::to_string(policy.rate()) + " in " +
           format_duration(policy.rate_per_ms());
  out += "; " + std::to_string(limit.held()) + " held";
  if (!policy.key().empty()) out += " under " + count_text(limit.keys(), "key", "keys");
  return out + ", " + std::to_string(limit.waiting()) + " waiting";
}

std::string latency_text(const v1::AgentStatus& agent) { return std::to_string(agent.latency_ms()) + " ms"; }

text_table instance_table() {
  return text_table{{{"AGENT"},
                     {"INSTANCE"},
                     {"KIND", align::left, narrow::drop},
                     {"HEALTH", align::left, narrow::below},
                     {"HELD", align::right},
                     {"CAPACITY", align::right},
                     {"WAITING", align::right},
                     {"LATENCY", align::right, narrow::drop},
                     {"LABELS", align::left, narrow::drop},
                     {"CALLS", align::left, narrow::drop}}};
}

void add_instance(text_table& table, const v1::AgentStatus& agent) {
  const bool there = !agent.instance().empty();
  table.add({agent.agent(), there ? agent.instance() : "-", there ? agent.kind() : "-", health_text(agent), std::to_string(agent.held()),
             std::to_string(agent.capacity()), std::to_string(agent.waiting()), agent.latency_ms() == 0 ? "-" : latency_text(agent),
             labels_text(agent.labels()), shortened(joined(agent.calls(), " "), 60)});
}

std::string service_text(const v1::ServiceStatus& service) {
  const auto& record = service.record();
  std::string out = "breaker    " + printable(breaker_text(record)) + "\n";
  if (record.breaker_since_unix_ms() != 0) out += "since      " + time_text(record.breaker_since_unix_ms()) + "\n";
  out += "window     " + count_text(service.window_tries(), "try", "tries") + ", " + std::to_string(service.window_failed()) + " failed, " +
         std::to_string(service.window_slow()) + " slow\n";
  if (closed(record) && !record.breaker_reason().empty()) out += "failed     " + printable(record.breaker_reason()) + "\n";
  out += "waiting    " + waits_text(service) + "\n";
  for (const auto& reason : service.reasons()) out += "because    " + printable(reason) + "\n";
  for (const auto& limit : service.limits()) out += "limit      " + printable(limit_text(limit)) + "\n";
  for (const auto alert : {record.breaker_alert(), record.absent_alert()})
    if (alert != 0) out += "alert      " + std::to_string(alert) + ", see fairlead alert show " + std::to_string(alert) + "\n";
  return out;
}

std::string instance_text(const v1::AgentStatus& agent) {
  std::string out = "instance   " + printable(agent.instance()) + ", incarnation " + std::to_string(agent.incarnation()) + "\n";
  out += "kind       " + printable(agent.kind()) + "\n";
  out += "health     " + printable(health_text(agent)) + "\n";
  out += "failing    " + std::to_string(agent.error_percent()) + " % of its latest attempts\n";
  if (agent.latency_ms() != 0) out += "latency    " + latency_text(agent) + "\n";
  out += "heard      " + time_text(agent.heard_unix_ms()) + "\n";
  out += "holds      " + std::to_string(agent.held()) + " of " + std::to_string(agent.capacity()) + ", " +
         std::to_string(agent.handed_over()) + " handed over\n";
  if (!agent.labels().empty()) out += "labels     " + printable(labels_text(agent.labels())) + "\n";
  out += "calls      " + printable(joined(agent.calls(), ", ")) + "\n";
  return out;
}

}  // namespace

std::string health_text(const v1::AgentStatus& agent) {
  if (agent.instance().empty()) return "not registered";
  std::string out;
  const auto add = [&out](const std::string& more) { out += (out.empty() ? "" : ", ") + more; };
  if (agent.away()) add("away: its node is not connected");
  if (agent.silent()) add("silent: it has sent no request for 15 s");
  if (agent.draining()) add(agent.drained_by().empty() ? "draining" : "draining by " + agent.drained_by());
  if (agent.sick()) add(agent.sickness().empty() ? "sick" : "sick: " + agent.sickness());
  if (agent.failed_in_a_row() != 0 && !agent.away()) {
    const auto code = agent.last_fault().empty() ? "" : " (" + agent.last_fault() + ")";
    add("failing: " +
        (agent.failed_in_a_row() == 1 ? "its latest attempt" : "its latest " + std::to_string(agent.failed_in_a_row()) + " attempts") +
        code);
  }
  return out.empty() ? "ok" : out;
}

std::string instances_text(const v1::StatusReply& reply) {
  if (reply.agents().empty()) return "";
  auto table = instance_table();
  for (const auto& agent : reply.agents()) add_instance(table, agent);
  return table.text();
}

std::string troubled_services_text(const v1::StatusReply& reply) {
  text_table table{{{"SERVICE"},
                    {"BREAKER"},
                    {"SINCE", align::left, narrow::drop},
                    {"WAITING", align::right},
                    {"OLDEST", align::left, narrow::drop},
                    {"WHY", align::left, narrow::below}}};
  for (const auto& service : reply.services()) {
    const auto& record = service.record();
    if (closed(record) && service.waiting() == 0) continue;
    const auto why = service.reasons().empty() ? record.breaker_reason() : joined(service.reasons(), "; ");
    table.add({record.agent(), breaker_word(record.breaker()), time_cell(closed(record) ? 0 : record.breaker_since_unix_ms()),
               std::to_string(service.waiting()), time_cell(service.oldest_wait_unix_ms()), shortened(why, 160)});
  }
  return table.empty() ? "" : table.text();
}

std::string agent_list_text(const v1::StatusReply& reply) {
  const auto instances = instances_text(reply);
  // Columns and an order are those of the instances.
  const auto one_table = !shown_on().columns.empty() || !shown_on().sort.empty();
  const auto services = one_table ? std::string{} : troubled_services_text(reply);
  std::string out = instances.empty() ? "No agent is registered: steps wait until one registers.\n" : instances;
  if (!services.empty()) out += "\nServices with waiting steps or a breaker that is not closed\n" + services;
  return out;
}

std::string agent_show_text(const v1::StatusReply& reply, const shown_agent& which) {
  std::string out = "agent      " + printable(which.agent) + "\n";
  if (!which.instance.empty()) {
    for (const auto& agent : reply.agents())
      if (agent.instance() == which.instance) out += instance_text(agent);
    return out;
  }
  if (const auto* service = service_of(reply, which.agent)) out += service_text(*service);
  auto table = instance_table();
  for (const auto& agent : reply.agents())
    if (agent.agent() == which.agent && !agent.instance().empty()) add_instance(table, agent);
  return out + (table.empty() ? "\nNo instance of this agent is registered.\n" : "\nInstances\n" + table.text());
}

drain_view drain_of(const v1::StatusReply& reply, const std::string& instance, std::uint64_t incarnation) {
  drain_view out{drain_view::end::gone, 0};
  for (const auto& agent : reply.agents()) {
    if (agent.instance() != instance) continue;
    if (incarnation != 0 && agent.incarnation() != incarnation) break;
    if (!agent.draining()) return {drain_view::end::resumed, agent.held()};
    out = {agent.held() == 0 ? drain_view::end::drained : drain_view::end::not_yet, agent.held()};
    break;
  }
  const auto away = std::find_if(reply.shards().begin(), reply.shards().end(), [](const v1::ShardStatus& one) { return !one.up(); });
  if (away == reply.shards().end()) return out;
  out.state = drain_view::end::not_yet;
  out.unanswered =
      "shard " + std::to_string(away->shard()) + " does not answer" + (away->reason().empty() ? "" : " (" + away->reason() + ")");
  return out;
}

}  // namespace fairlead::app
