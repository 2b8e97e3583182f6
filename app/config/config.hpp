#pragma once
// The node file: YAML to plain structs. docs/configuration.md lists every key once.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "actors/agents/exec/config.hpp"
#include "actors/agents/http/config.hpp"
#include "actors/agents/settings.hpp"
#include "actors/alerts/target.hpp"
#include "actors/core/request_limits.hpp"
#include "actors/core/workflow/advice.hpp"
#include "actors/core/workflow/check.hpp"
#include "actors/protocol/ports.hpp"
#include "app/yaml/document.hpp"

namespace fairlead::app {

/// `127.0.0.1:7100`, `[::1]:7100`, `localhost:7100`. Port 0 lets the system choose.
struct listen_address {
  std::string host;  // without brackets
  std::uint16_t port = 0;
};

/// Whether the host is in 127.0.0.0/8, ::1 or localhost.
bool is_loopback(const std::string& host);

/// As a node file gives it, with brackets where it needs them.
std::string to_text(const listen_address& what);

/// Of a value in the node file; 0: the file as a whole.
struct config_place {
  int line = 0;
  int column = 0;
};

/// Of an API whose address is not said.
inline constexpr std::uint16_t default_api_port = 7190;

/// HTTP and JSON for people and programs.
struct api_config {
  std::optional<listen_address> listen;
  std::string socket;              // path of a Unix socket, already joined to the node file's folder; empty: none
  std::vector<std::string> hosts;  // names at which clients reach `listen`, in lower case, besides its address
  std::string certificate, key;    // PEM files of TLS; empty: none
  std::string client_ca;           // PEM file of the authorities of clients' certificates; empty: no client is asked for one
  std::uint32_t connections_per_address = 256;
  config_place certificate_at, client_ca_at;
};

/// A user of this machine who may use the API's socket.
struct access_user {
  std::string name;
  std::uint32_t uid = 0;
  std::vector<std::string> roles;
};

/// Whoever shows a certificate with this name may use the API.
struct access_certificate {
  std::string san;   // `spiffe://example.org/agent`, `dns:n1.example.org` in lower case, or `cn:ben`
  std::string name;  // that histories and logs have
  std::vector<std::string> roles;
  std::vector<std::string> namespaces;
  std::optional<std::vector<std::string>> agents{};  // whose workers it may be; nullopt: of all
};

struct access_config {
  std::string tokens_file;                         // already joined to the node file's folder; empty: nobody is asked for a token
  std::vector<access_user> users;                  // in the order of the file
  std::vector<access_certificate> certificates{};  // in the order of the file
  std::uint64_t audit_max_bytes = std::uint64_t{1} << 30;
  config_place tokens_file_at{};
};

struct log_config {
  note_level level = note_level::info;
  bool json = false;
  std::string file;  // absolute, or relative to the working directory; empty: stderr
};

/// An agent whose handler is compiled into the binary. The node checks at its start that the handler exists.
struct native_agent_section {
  std::string name;
  std::string handler;
  std::uint32_t concurrency = 64;
  int line = 0;  // of the handler in the node file
  int column = 0;
  agents::agent_settings settings;
};

/// An agent of the node file, of any kind. Each alternative has a `name` and `settings`; one with `calls` says in the file which calls it has, and
/// of the others only a running instance knows. A new kind is an alternative here, a row in agents.cpp, and a make_backend in app/node/agents.cpp.
using agent_section = std::variant<agents::http_agent_config, native_agent_section, agents::exec_agent_config>;

/// The source of a secret's value: a file or an environment variable. The node reads the value at its start.
struct secret_section {
  std::string name;
  std::string path;         // already joined to the node file's folder; empty: from the environment
  std::string environment;  // name of the variable
  int line = 0;             // of the path or the variable's name in the node file
  int column = 0;
};

/// Something that an exec agent's commands need on the machine. It may appear after the node's start, so only `fairlead config check`
/// checks it.
struct exec_need {
  enum class kind { program, directory, user };
  kind what = kind::program;
  std::string name;
  std::string group;  // of a user; may be empty
  std::string where;  // dotted key in the node file
  int line = 0;
  int column = 0;
};

struct node_config {
  std::string file;                            // as given
  std::map<std::string, std::string> written;  // its keys and values; see changes.hpp

  std::string name;
  listen_address listen{"127.0.0.1", 7100};
  bool trusted_network = false;
  std::string cluster = "default";
  std::vector<std::string> peers;      // `host:port` of other nodes, as written
  std::string data_path;               // folder of the node's identity; already joined to the node file's folder
  std::optional<listen_address> http;  // for /metrics, /healthz and /readyz
  std::optional<api_config> api;
  access_config access;      // of the API
  std::string callback_url;  // without a slash at the end; empty: not given, see callback_base

  bool shard_role = true;
  bool agent_role = true;

  std::uint32_t shard_count = 1;              // of the cluster
  std::vector<std::uint32_t> shards_here{0};  // shards that this node holds; rising; empty without the role

  /// The nodes that hold the shards here, this one among them; rising. Empty: this one alone.
  std::vector<std::string> shard_nodes;
  std::int64_t election_ms = 1'000;
  std::int64_t heartbeat_ms = 100;

  std::string store_path;  // already joined to the node file's folder; for one shard of several see shard_store_path
  std::uint64_t store_max_bytes = std::uint64_t{16} << 30;  // of each shard

  std::string journal_path;  // already joined to the node file's folder; `journal` in the store's, if the file says nothing
  std::uint64_t journal_segment_bytes = std::uint64_t{64} << 20;  // of a file of the journal
  std::uint64_t journal_max_bytes = std::uint64_t{1} << 30;

  std::uint64_t running_tasks = 10'000;
  std::uint64_t pending_tasks = 1'000'000;
  std::uint64_t input_bytes = max_input_bytes;
  std::uint64_t uncommitted_bytes = std::uint64_t{64} << 20;

  std::uint64_t cron_in_flight = 10'000;     // in the whole cluster; 0: no limit
  std::uint32_t cron_starts_per_second = 0;  // in the whole cluster; 0: no limit

  std::int64_t scan_period_ms = 1'000;
  std::int64_t archive_after_ms = 3'600'000;
  std::int64_t keep_ms = std::int64_t{30} * 86'400'000;
  std::int64_t shutdown_timeout_ms = 5'000;

  std::int64_t expression_time_limit_ms = 1'000;
  std::uint64_t expression_memory_bytes = std::uint64_t{512} << 20;

  log_config log;

  std::int64_t reply_give_up_after_ms = std::int64_t{24} * 3'600'000;

  std::vector<alert_target> alert_targets;  // webhooks, then commands, each in the order of the file

  std::vector<secret_section> secrets;  // in the order of the file

  std::int64_t step_failing_after_ms = 300'000;   // until a step that keeps failing raises an alert
  std::int64_t agent_absent_after_ms = 60'000;    // until steps that wait for an absent agent raise an alert
  std::int64_t replica_behind_after_ms = 60'000;  // until another node that holds a shard and is away or behind raises an alert

  /// Undoing waits if more than this share of the tasks that ended or failed in the window had failed, and these were at least so many.
  bool undo_brake_on = true;
  std::uint32_t undo_brake_share_percent = 50;
  std::int64_t undo_brake_window_ms = 600'000;
  std::uint64_t undo_brake_at_least = 50;

  std::vector<agent_section> agents;  // in the order of the file
  std::vector<exec_need> exec_needs;

  /// CAF's options as `group.name` and the value in CAF's own notation (config_value::parse reads it: `2`, `stealing`, `500ms`,
  /// `["a", "b"]`), in the order of the file. Names and types have been checked.
  std::vector<std::pair<std::string, std::string>> caf;
};

struct config_file {
  node_config config;             // complete if there are no problems
  std::vector<problem> problems;  // in the order of the file
};

/// What the URLs of callbacks begin with: what the file says, or else the address of the API. Empty: agents here cannot perform a step with a
/// callback.
std::string callback_base(const node_config& config);

/// The path of a shard's store: the store's path itself in a cluster of one shard, else `shard-N` below it.
std::string shard_store_path(const node_config& config, std::uint32_t shard);

/// Warns in the node's log that other machines can reach the node; empty if only this machine can.
std::string trust_warning(const node_config& config);

config_file read_node_config(const std::string& path);
/// `path` names the file in problems; relative paths in the text start at its folder.
config_file parse_node_config(const std::string& path, const std::string& text);

/// The needs of exec agents' commands that this machine lacks, in the order of the file (exec.cpp).
std::vector<problem> check_exec_needs(const node_config& config);

/// The agents of a node file and their calls; those of native agents are not known here.
/// The word of the agent's kind: http, native or exec.
std::string_view kind_of(const agent_section& agent);

core::agent_catalog catalog_of(const node_config& config);
/// The calls that can be looked up. Only the node knows those of native agents, so any of these may be.
core::lookup_catalog lookups_of(const node_config& config);
/// The labels that the agents carry. An agent that is not in the file may carry any.
core::label_catalog labels_of(const node_config& config);

}  // namespace fairlead::app
