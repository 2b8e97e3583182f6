#include "app/json/node/agents.hpp"

#include <set>
#include <vector>

#include "actors/core/text/nearest.hpp"

namespace fairlead::app {

const char* breaker_word(v1::BreakerState state) {
  switch (state) {
    case v1::BREAKER_STATE_OPEN: return "open";
    case v1::BREAKER_STATE_HALF_OPEN: return "half_open";
    default: return "closed";
  }
}

void write_agent(json_writer& out, const v1::AgentStatus& agent) {
  out.begin_object().key("agent").string(agent.agent()).key("instance").string(agent.instance()).key("kind").string(agent.kind());
  out.key("incarnation").number(std::uint64_t{agent.incarnation()}).key("capacity").number(agent.capacity());
  out.key("held").number(agent.held()).key("waiting").number(std::uint64_t{agent.waiting()}).key("calls").begin_array();
  for (const auto& call : agent.calls()) out.string(call);
  out.end_array();
  write_labels(out, agent.labels());
  out.key("node").string(agent.node()).key("away").boolean(agent.away()).key("silent").boolean(agent.silent());
  out.key("draining").boolean(agent.draining()).key("drained_by").text_or_null(agent.drained_by());
  out.key("sick").boolean(agent.sick()).key("sickness").text_or_null(agent.sickness());
  out.key("failed_in_a_row").number(agent.failed_in_a_row()).key("last_fault").text_or_null(agent.last_fault());
  out.key("error_percent").number(agent.error_percent()).key("latency_ms").number(std::int64_t{agent.latency_ms()});
  out.key("heard_at").moment(agent.heard_unix_ms()).key("handed_over").number(std::uint64_t{agent.handed_over()}).end_object();
}

void write_service(json_writer& out, const v1::ServiceStatus& service) {
  const auto& record = service.record();
  out.begin_object().key("agent").string(record.agent()).key("breaker").string(breaker_word(record.breaker()));
  out.key("breaker_since").moment(record.breaker_since_unix_ms()).key("open_until").moment(record.open_until_unix_ms());
  out.key("openings").number(record.openings()).key("breaker_reason").text_or_null(record.breaker_reason());
  out.key("breaker_by").text_or_null(record.breaker_by());
  out.key("absent_since").moment(record.absent_since_unix_ms()).key("waiting").number(std::uint64_t{service.waiting()});
  out.key("oldest_wait").moment(service.oldest_wait_unix_ms()).key("reasons").begin_array();
  for (const auto& reason : service.reasons()) out.string(reason);
  out.end_array().key("window").begin_object().key("tries").number(service.window_tries());
  out.key("failed").number(service.window_failed()).key("slow").number(service.window_slow()).end_object();
  out.key("limits").begin_array();
  for (const auto& limit : service.limits()) {
    const auto& policy = limit.policy();
    out.begin_object().key("call").string(policy.call()).key("key").string(policy.key());
    out.key("concurrency").number(policy.concurrency()).key("rate").number(policy.rate());
    out.key("rate_per_ms").number(std::int64_t{policy.rate_per_ms()}).key("held").number(std::uint64_t{limit.held()});
    out.key("keys").number(std::uint64_t{limit.keys()}).key("waiting").number(std::uint64_t{limit.waiting()}).end_object();
  }
  out.end_array().end_object();
}

std::string agent_list_json(const v1::StatusReply& reply) {
  json_writer out;
  out.begin_object().key("agents").begin_array();
  for (const auto& agent : reply.agents()) write_agent(out, agent);
  out.end_array().key("services").begin_array();
  for (const auto& service : reply.services()) write_service(out, service);
  return out.end_array().end_object().text();
}

result<shown_agent> find_agent(const v1::StatusReply& reply, const std::string& name) {
  std::set<std::string> names;
  for (const auto& agent : reply.agents()) {
    if (!agent.instance().empty() && agent.instance() == name) return shown_agent{agent.agent(), name};
    names.insert(agent.agent());
    if (!agent.instance().empty()) names.insert(agent.instance());
  }
  for (const auto& service : reply.services()) names.insert(service.record().agent());
  if (names.count(name) != 0) return shown_agent{name, ""};
  const auto close = core::nearest(name, std::vector<std::string>(names.begin(), names.end()));
  return error{v1::ERROR_CODE_NOT_FOUND, "There is no agent or instance '" + name + "'",
               close.empty() ? "'fairlead agent list' lists all agents and instances" : "Did you mean " + close + "?"};
}

const v1::ServiceStatus* service_of(const v1::StatusReply& reply, const std::string& agent) {
  for (const auto& service : reply.services())
    if (service.record().agent() == agent) return &service;
  return nullptr;
}

std::string agent_show_json(const v1::StatusReply& reply, const shown_agent& which) {
  json_writer out;
  out.begin_object().key("agent").string(which.agent).key("service");
  if (const auto* service = service_of(reply, which.agent))
    write_service(out, *service);
  else
    out.null();
  out.key("instances").begin_array();
  for (const auto& agent : reply.agents())
    if (agent.agent() == which.agent && !agent.instance().empty() && (which.instance.empty() || agent.instance() == which.instance))
      write_agent(out, agent);
  return out.end_array().end_object().text();
}

std::string agent_drain_json(const std::string& instance, std::uint32_t held, const char* state) {
  json_writer out;
  out.begin_object().key("instance").string(instance).key("state").string(state).key("held").number(held);
  return out.end_object().text();
}

std::string agent_resumed_json(const std::string& instance) {
  json_writer out;
  return out.begin_object().key("instance").string(instance).key("state").string("resumed").end_object().text();
}

std::string breaker_json(const std::string& agent, bool open, const v1::AgentOperateReply& reply) {
  json_writer out;
  out.begin_object().key("agent").string(agent).key("breaker").string(open ? "open" : "closed");
  return out.key("waiting").number(std::uint64_t{reply.waiting()}).end_object().text();
}

}  // namespace fairlead::app
