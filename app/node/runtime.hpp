#pragma once
// A running node without the process around it: no signals, no exit. `fairlead node` puts it into its own process, the C++ library into
// that of its user.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/agents/backend.hpp"
#include "actors/agents/settings.hpp"
#include "actors/protocol/ports.hpp"
#include "actors/supervision/supervision_tree.hpp"
#include "app/config/config.hpp"
#include "app/process/exit_codes.hpp"
#include "messages/error.hpp"
#include "messages/node.pb.h"

namespace fairlead::app {

/// An agent whose backend is made by the caller that starts the node.
struct given_agent {
  std::string name;
  std::function<result<std::shared_ptr<agents::backend>>(std::uint32_t capacity)> make;
  std::uint32_t capacity = 64;
  agents::agent_settings settings;
  bool stands_in = false;  // takes no work while the node carries a worker of the same name
};

struct node_parts {
  /// An agent that a section of the node file names as its `handler` gets that section's name, capacity and settings; the others keep their
  /// own.
  std::vector<given_agent> agents;
  /// The `fairlead` program, which evaluates expressions and looks after commands in separate processes. Empty: this process's own
  /// executable.
  std::string program;
  /// Called with the reason before the process ends because it must do nothing more: the contents of the disk are no longer certain, or the
  /// shard belongs to another process.
  std::function<void(const error&)> on_fatal;
  /// Called, once and from any thread, after the supervision tree has given up and stopped everything: the node must be ended. Empty: the
  /// process ends at once, as by on_fatal.
  std::function<void(const error&)> on_given_up;
  /// The node cannot start yet: another node has to answer first. Returns after about a second, and the node asks again. Empty: the start fails.
  std::function<void(const std::string& why)> waits;
  /// The others have answered, or cannot any more: the start goes on. May be empty.
  std::function<void()> waits_no_more;
  /// Gets every transition and note, whatever the log's level, from any thread; must outlive the node. May be null.
  observer* listener = nullptr;
  /// Called before the node stops its parts, with the process's exit code, so that the caller can limit the time for the end.
  std::function<void(exit_code)> on_ending;
};

struct start_failure {
  error why;
  exit_code code = exit_ok;
};

class node_runtime {
 public:
  /// Starts a node; it answers on return. nullptr, with `failure` set, if that is impossible.
  static std::unique_ptr<node_runtime> start(const node_config& config, node_parts parts, start_failure& failure);

  node_runtime(const node_runtime&) = delete;
  node_runtime& operator=(const node_runtime&) = delete;
  /// Stops the node if stop() was not called.
  ~node_runtime();

  /// The port on which the node listens, also if the system chose it.
  std::uint16_t port() const;
  /// The port of /metrics and the like; 0: none.
  std::uint16_t http_port() const;
  /// The port of the API; 0: none.
  std::uint16_t api_port() const;
  /// Whether the tree runs and the Schedulers here answer. From any thread; may take two seconds.
  bool healthy();
  observer& log();
  supervision_tree& tree();

  /// Adds an agent while the node runs. `instance` distinguishes it from others of the same name; the node's name goes in front. One caller
  /// at a time.
  status add_agent(const given_agent& agent, const std::string& instance);

  /// Reads the node file again: takes all of it that a running node can, or nothing. From any thread. The log has what was done.
  result<v1::NodeReload> reload();

  /// Takes no new tasks and begins no new attempts. Waits for attempts in progress, at most three quarters of the file's shutdown_timeout,
  /// then ends all threads. False: some work was not finished by then; it will be in doubt, and nothing acknowledged is lost. A second call
  /// does nothing.
  bool stop();

 private:
  struct state;
  explicit node_runtime(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace fairlead::app
