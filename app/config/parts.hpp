#pragma once
// Parts of a node file, each read by its own file. Only for config.cpp.

#include "actors/agents/settings.hpp"
#include "app/config/config.hpp"
#include "app/yaml/reader.hpp"

namespace fairlead::app {

// ---- shared by several parts ----

inline constexpr std::int64_t second = 1'000;
inline constexpr std::int64_t hour = 3'600 * second;
inline constexpr std::int64_t day = 24 * hour;

inline bool is_absolute(const std::string& url) { return url.rfind("http://", 0) == 0 || url.rfind("https://", 0) == 0; }

// ---- the parts ----

/// `agents:` (agents.cpp).
void read_agents(const yaml_node& node, node_config& out);

/// One agent of a kind, whose `kind` has been read; read_agents calls finish(). `out` takes what the agent needs besides. (http.cpp, exec.cpp)
agent_section read_http(const std::string& name, yaml_section& section, node_config& out);
agent_section read_exec(const std::string& name, yaml_section& section, node_config& out);

/// Settings of agents of every kind (agent_settings.cpp): labels, breaker, limits, retry and input_secrets. `out` holds the kind's
/// defaults. Call before the calls are read, because a call's own retry starts from the agent's.
void read_agent_settings(yaml_section& section, agents::agent_settings& out);
/// `retry:` of an agent or of a call; keys that are absent leave `out` unchanged.
void read_retry(const yaml_node& node, agents::retry_policy& out);
/// Default tries of http and exec agents. Only the author of a native handler knows whether it may be called again.
inline constexpr std::uint32_t default_remote_tries = 3;

/// `alerts:` and `undo_brake:` (alerts.cpp).
void read_alerts(const yaml_node& node, node_config& out);
void read_undo_brake(const yaml_node& node, node_config& out);

/// `cluster`, `peers` and `data` of `node:`, once `listen` has been read; `shards:`, once roles have; `http:` (cluster.cpp).
void read_membership(yaml_section& node, node_config& out);
void read_shards(yaml_section& root, node_config& out);
void read_http_port(yaml_section& root, node_config& out);
/// `api:` and `access:` (api.cpp).
void read_api(yaml_section& root, node_config& out);
/// `callback_url:`, once `api` has been read (api.cpp).
void read_callback_url(yaml_section& root, node_config& out);
/// `certificates` of `access:`, once `api` has been read (certificates.cpp).
void read_access_certificates(yaml_section& section, node_config& out);
/// A list of roles. `whose` begins sentences: `the user`.
std::vector<std::string> read_roles(const yaml_node& node, const std::string& whose);
/// The default of the data path: the store's path.
void settle_data_path(yaml_section& root, node_config& out);
/// A path in the file `file`, relative to the folder of that file.
std::string beside(const std::string& file, const std::string& path);

/// `cron:`, once `shards` has been read (cron.cpp).
void read_cron(const yaml_node& node, node_config& out);

/// `replies:` (replies.cpp).
void read_replies(const yaml_node& node, node_config& out);

/// `secrets:` (secrets.cpp). No problem ever shows the text in place of a path or a variable: it may be the secret itself.
void read_secrets(const yaml_node& node, node_config& out);
/// Checks every $secret{NAME} of the file once all of it has been read: it is in a value of an agent, and `secrets` declares it.
void check_secret_references(const yaml_node& root, const node_config& config);

/// `caf:` (caf.cpp).
void read_caf(const yaml_node& node, node_config& out);

/// `host:port` (address.cpp); nullopt: no such address.
std::optional<listen_address> parse_address(const std::string& text);
bool same_place(const listen_address& a, const listen_address& b);

}  // namespace fairlead::app
