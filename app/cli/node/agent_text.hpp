#pragma once
// Agents, their instances and their services as text. As JSON: app/json/node/agents.hpp.

#include <cstdint>
#include <string>

#include "app/json/node/agents.hpp"
#include "messages/api.pb.h"

namespace fairlead::app {

/// `ok`, `away: its node is not connected`, `silent: it has sent no request for 15 s`, `sick: 40 % fail`, `draining by ana`.
std::string health_text(const v1::AgentStatus& agent);

/// One line for each instance, and for each agent without an instance that steps wait for. Empty:
/// there is none.
std::string instances_text(const v1::StatusReply& reply);

/// Services whose breaker is not closed or that steps wait for, with the reasons. Empty: there is
/// none.
std::string troubled_services_text(const v1::StatusReply& reply);

std::string agent_list_text(const v1::StatusReply& reply);
std::string agent_show_text(const v1::StatusReply& reply, const shown_agent& which);

/// The progress of an instance's drain.
struct drain_view {
  enum class end { not_yet, drained, gone, resumed };
  end state = end::not_yet;
  std::uint32_t held = 0;
  std::string unanswered{};  // not yet: why a shard has not answered that may have handed work to it; empty: all have
};
/// `incarnation` is the incarnation that got the drain request; 0: none was known then.
drain_view drain_of(const v1::StatusReply& reply, const std::string& instance, std::uint64_t incarnation);

}  // namespace fairlead::app
