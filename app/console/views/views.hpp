#pragma once
// Nodes, their actors, shards and agents, as tables for operators and as JSON for programs.

#include <cstdint>
#include <string>

#include "messages/api.pb.h"
#include "messages/error.hpp"
#include "messages/node.pb.h"

namespace fairlead::app {

/// The connected node and its peers, connected or not.
std::string nodes_text(const v1::StatusReply& reply);

std::string tree_text(const v1::InspectReply& reply);

/// The sort order and the number of actors shown.
struct actors_order {
  std::string by = "mailbox";  // mailbox, handled, restarts, path
  std::uint32_t top = 50;
};
/// Actors of the tree without its guardians. The largest number is first, except for `path`.
std::string actors_text(const v1::InspectReply& reply, const actors_order& order);
std::string actors_json(const v1::InspectReply& reply, const actors_order& order);

std::string shards_text(const v1::StatusReply& reply);
std::string shards_json(const v1::StatusReply& reply);

/// An agent or service is shown if it meets all conditions.
struct registry_filter {
  std::string name;  // part of the name of an agent, an instance or a node
  bool sick = false;
  bool away = false;
  bool draining = false;
  bool waiting = false;  // has waiting steps
};
/// The reply reduced to the agents and services that meet the filter.
v1::StatusReply filtered(const v1::StatusReply& reply, const registry_filter& filter);
/// Every instance with its load and health, and every service with its breaker and limits.
std::string registry_text(const v1::StatusReply& reply);

}  // namespace fairlead::app
