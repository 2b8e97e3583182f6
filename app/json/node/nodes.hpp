#pragma once
// Nodes, their connections and their supervision trees, as JSON.

#include <cstdint>
#include <string>
#include <vector>

#include "app/json/writer.hpp"
#include "messages/api.pb.h"
#include "messages/error.hpp"
#include "messages/node.pb.h"

namespace fairlead::app {

/// The node that was asked and its peers, connected or not.
std::string nodes_json(const v1::StatusReply& reply);
std::string tree_json(const v1::InspectReply& reply);

/// Whether a node of this name can be asked. Errors, which waiting would not change: not_found, with the nearest name; wrong_state.
status check_node(const v1::StatusReply& reply, const std::string& name);

/// The shards that would stand still without the node, as their leaders say.
std::vector<std::uint32_t> needed_by(const v1::StatusReply& reply, const std::string& node);

// ---- parts of these ----

/// `connected`, `refused`, `away`.
const char* peer_state(const v1::PeerStatus& peer);
/// The shards that the node which was asked has.
std::vector<std::uint32_t> shards_here(const v1::StatusReply& reply);

/// What stands before the actors, whose array is left open.
void begin_inspection(json_writer& out, const v1::InspectReply& reply);
void write_actor(json_writer& out, const v1::SupervisedActor& actor);

}  // namespace fairlead::app
