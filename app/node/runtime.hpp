#pragma once
// A running node without what a process is to it: no signals, no exit. `fairlead node` puts one into a process of its own, the C++ library
// into that of its user.

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

namespace fairlead::app {

/// An agent whose backend is made by whoever starts the node.
struct given_agent {
  std::string name;
  std::function<result<std::shared_ptr<agents::backend>>(std::uint32_t capacity)> make;
  std::uint32_t capacity = 64;
  agents::agent_settings settings;
};

struct node_parts {
  /// Those that a section of the node file names as its `handler` stand under that section's name, with its capacity and settings; the
  /// others under their own.
  std::vector<given_agent> agents;
  /// The `fairlead` program, which evaluates expressions and minds commands in processes of their own. Empty: this process's own executable.
  std::string program;
  /// Told the reason before the process ends because it must not say or do another thing: what the disk holds is no longer known, or the
  /// shard belongs to another.
  std::function<void(const error&)> on_fatal;
  /// Told, once and from any thread, when the supervision tree has given up: everything has been stopped, and the node is to be ended. None: the
  /// process ends at once, as by on_fatal.
  std::function<void(const error&)> on_given_up;
  /// Told of every transition and note, whatever the log shows of them, from any thread; must outlive the node. May be null.
  observer* listener = nullptr;
  /// Told that everything is about to be ended, with the code that the process would answer: what takes too long from then on can be cut off.
  std::function<void(exit_code)> on_ending;
};

struct start_failure {
  error why;
  exit_code code = exit_ok;
};

class node_runtime {
 public:
  /// Everything up to a node that answers. nullptr, and `failure` set, when it cannot be.
  static std::unique_ptr<node_runtime> start(const node_config& config, node_parts parts, start_failure& failure);

  node_runtime(const node_runtime&) = delete;
  node_runtime& operator=(const node_runtime&) = delete;
  /// Stops when nobody has.
  ~node_runtime();

  /// The one that is listened on, also when the file left it to the system.
  std::uint16_t port() const;
  /// Of /metrics and its like; 0: there is none.
  std::uint16_t http_port() const;
  /// The tree stands and the Schedulers here answer. From any thread; may take two seconds.
  bool healthy();
  observer& log();
  supervision_tree& tree();

  /// One more agent while the node runs. `instance` tells it from others of the same name; the node's name goes in front. One caller at a time.
  status add_agent(const given_agent& agent, const std::string& instance);

  /// No new tasks and no new attempts; waits for what is out, at most three quarters of the file's shutdown_timeout, then ends all threads.
  /// False when not everything was settled by then: it will be in doubt, and nothing acknowledged is lost. The second time it does nothing.
  bool stop();

 private:
  struct state;
  explicit node_runtime(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace fairlead::app
