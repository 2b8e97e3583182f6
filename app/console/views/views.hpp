#pragma once
// What the console shows of nodes, their actors, shards and agents, as tables for people and as JSON for programs.

#include <cstdint>
#include <string>

#include "messages/api.pb.h"
#include "messages/error.hpp"
#include "messages/node.pb.h"

namespace fairlead::app {

/// The node that was asked, and those that it is or should be connected with.
std::string nodes_text(const v1::StatusReply& reply);
std::string nodes_json(const v1::StatusReply& reply);
/// Whether a node of this name can be asked something. Errors, which no waiting would change: not_found, with the nearest name; wrong_state.
status check_node(const v1::StatusReply& reply, const std::string& name);

std::string tree_text(const v1::InspectReply& reply);
std::string tree_json(const v1::InspectReply& reply);

/// Which actors are shown first, and how many.
struct actors_order {
  std::string by = "mailbox";  // mailbox, handled, restarts, path
  std::uint32_t top = 50;
};
/// Of the tree without its guardians; the largest figure first.
std::string actors_text(const v1::InspectReply& reply, const actors_order& order);
std::string actors_json(const v1::InspectReply& reply, const actors_order& order);

std::string shards_text(const v1::StatusReply& reply);
std::string shards_json(const v1::StatusReply& reply);

/// Of the registry only what all of this fits.
struct registry_filter {
  std::string name;  // part of the name of an agent, an instance or a node
  bool sick = false;
  bool away = false;
  bool draining = false;
  bool waiting = false;  // steps wait for it
};
/// The reply with those agents and services alone.
v1::StatusReply filtered(const v1::StatusReply& reply, const registry_filter& filter);
/// Every instance with its load and health, and every service with its breaker and limits.
std::string registry_text(const v1::StatusReply& reply);

}  // namespace fairlead::app
