#pragma once
// Parts of a node file, each read by a file of its own. Used by config.cpp alone.

#include "app/config.hpp"
#include "app/yaml_reader.hpp"

namespace fairlead::app {

/// `agents:` (config_agents.cpp).
void read_agents(const yaml_node& node, node_config& out);

/// `alerts:` and `undo_brake:` (config_alerts.cpp).
void read_alerts(const yaml_node& node, node_config& out);
void read_undo_brake(const yaml_node& node, node_config& out);

/// `replies:` (config_replies.cpp).
void read_replies(const yaml_node& node, node_config& out);

/// `caf:` (config_caf.cpp).
void read_caf(const yaml_node& node, node_config& out);

/// `host:port` (config_address.cpp); nullopt when it is none.
std::optional<listen_address> parse_address(const std::string& text);

/// 127.0.0.0/8, ::1 and localhost.
bool is_loopback(const std::string& host);

}  // namespace fairlead::app
