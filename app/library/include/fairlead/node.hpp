#pragma once
// A node inside a process of yours: the store, the Scheduler and the agents that you give it. `fairlead` on the command line speaks to it as
// to any other.
//
//   fairlead::node_options options;
//   options.store = "/var/lib/orders";
//   auto node = fairlead::node::start(options, {payment, stock});
//   if (!node) return complain(node.failure());
//   return node->run().ok() ? 0 : 1;  // until SIGTERM or SIGINT

#include <fairlead/agent.hpp>
#include <fairlead/client.hpp>
#include <fairlead/error.hpp>
#include <fairlead/time.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace fairlead {

class workflow;

struct node_options {
  /// A node file (docs/configuration.md). With one, the members down to `shutdown_timeout` must be left alone. A section of its `agents` that
  /// says `kind: native` and `handler: NAME` is given the agent of that name with the section's settings; agents that no section
  /// names stand under their own.
  std::string file;

  std::string name = "embedded";
  std::string listen = "127.0.0.1:7100";  // port 0: the system chooses, see port()
  std::string store;                      // the folder of the store, made when it is missing
  std::string log_level = "info";         // debug, info, warning, error
  std::string log_file;                   // empty: stderr
  duration shutdown_timeout = std::chrono::seconds{5};

  /// The installed `fairlead` program, which evaluates expressions and looks after the commands of exec agents. Empty: looked for beside the library, then in PATH.
  std::string program;
  /// Told the reason before the process ends because it must not say or do another thing: the disk refused, the store is damaged, or
  /// another node has taken it over.
  std::function<void(const error&)> on_fatal;
};

/// Thread-safe but for moves. One or several a process, each with a store of its own.
class node {
 public:
  /// Takes up what was running when the store was last open. Errors: invalid_argument (options, node file, an agent), store_in_use,
  /// unavailable (the address is taken, the program is not there), disk and those of a store that cannot be read.
  static result<node> start(node_options options, const std::vector<agent>& agents);

  node(node&&) noexcept;
  node& operator=(node&&) noexcept;
  /// Stops it.
  ~node();

  /// HOST:PORT of what it listens on.
  const std::string& address() const;
  std::uint16_t port() const;

  /// A client of this node. Several are as good as one.
  result<fairlead::client> client(duration request_timeout = std::chrono::seconds{15}) const;

  /// Makes `what` the current version of its workflow. The reply's warnings say what is not there yet. Errors: invalid_argument names every
  /// problem of the workflow.
  result<v1::DeployReply> deploy(const workflow& what) const;

  /// Blocks until SIGTERM, SIGINT or request_stop(), then stops. Handles the two signals while it runs, whatever other threads block, and
  /// gives them back. The error (timed_out) says that not everything was settled in time.
  status run();

  /// From any thread and from signal handlers: run() returns.
  void request_stop() noexcept;

  /// No new tasks and no new attempts; waits for attempts that are out, at most three quarters of shutdown_timeout; then ends. The error
  /// (timed_out) says that some were still out: they will be in doubt, and nothing acknowledged is lost. A second call does nothing.
  status stop();

 private:
  struct state;
  explicit node(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace fairlead
