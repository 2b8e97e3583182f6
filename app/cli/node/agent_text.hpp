#pragma once
// Agents, their instances and their services, as JSON and as text.

#include <cstdint>
#include <optional>
#include <string>

#include "app/cli/screen/table.hpp"
#include "app/json/writer.hpp"
#include "messages/api.pb.h"
#include "messages/error.hpp"

namespace fairlead::app {

/// `closed`, `open`, `half_open`.
const char* breaker_word(v1::BreakerState state);

void write_agent(json_writer& out, const v1::AgentStatus& agent);
void write_service(json_writer& out, const v1::ServiceStatus& service);

/// `ok`, `away: its node is not connected`, `sick: 40 % fail`, `draining by ana`.
std::string health_text(const v1::AgentStatus& agent);

/// One line for each instance, and for each agent without an instance that steps wait for. Empty:
/// there is none.
std::string instances_text(const v1::StatusReply& reply);

/// Services whose breaker is not closed or that steps wait for, with the reasons. Empty: there is
/// none.
std::string troubled_services_text(const v1::StatusReply& reply);

std::string agent_list_json(const v1::StatusReply& reply);
std::string agent_list_text(const v1::StatusReply& reply);

/// The agent or instance with a given name. `agent` is always set, `instance` only for an instance.
struct shown_agent {
  std::string agent;
  std::string instance;
};
/// Error: not_found, with the nearest name.
result<shown_agent> find_agent(const v1::StatusReply& reply, const std::string& name);
std::string agent_show_json(const v1::StatusReply& reply, const shown_agent& which);
std::string agent_show_text(const v1::StatusReply& reply, const shown_agent& which);

/// The progress of an instance's drain.
struct drain_view {
  enum class end { not_yet, drained, gone, resumed };
  end state = end::not_yet;
  std::uint32_t held = 0;
};
/// `incarnation` is the incarnation that got the drain request.
drain_view drain_of(const v1::StatusReply& reply, const std::string& instance, std::uint64_t incarnation);

}  // namespace fairlead::app
