#pragma once
// Agents, their instances and their services as JSON, and what comes of an operator's actions on them.

#include <cstdint>
#include <string>

#include "app/json/writer.hpp"
#include "messages/api.pb.h"
#include "messages/error.hpp"

namespace fairlead::app {

/// `closed`, `open`, `half_open`.
const char* breaker_word(v1::BreakerState state);

void write_agent(json_writer& out, const v1::AgentStatus& agent);
void write_service(json_writer& out, const v1::ServiceStatus& service);

std::string agent_list_json(const v1::StatusReply& reply);

/// The agent or instance with a given name. `agent` is always set, `instance` only for an instance.
struct shown_agent {
  std::string agent;
  std::string instance;
};
/// Error: not_found, with the nearest name.
result<shown_agent> find_agent(const v1::StatusReply& reply, const std::string& name);
/// The service of an agent. Null: the reply has none.
const v1::ServiceStatus* service_of(const v1::StatusReply& reply, const std::string& agent);
std::string agent_show_json(const v1::StatusReply& reply, const shown_agent& which);

/// `state`: `draining`, `drained`, or `gone` if its process has ended; `held`: the attempts that the instance still holds.
std::string agent_drain_json(const std::string& instance, std::uint32_t held, const char* state);
std::string agent_resumed_json(const std::string& instance);
/// A breaker that an operator has opened (`open`) or closed.
std::string breaker_json(const std::string& agent, bool open, const v1::AgentOperateReply& reply);

}  // namespace fairlead::app
