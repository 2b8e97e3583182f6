#pragma once
// A node inside your process: the store, the Scheduler and the agents that you give it. The command line `fairlead` speaks to it as to any
// other node.
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
  /// A node file (docs/configuration.md). If it is set, leave the members down to `shutdown_timeout` alone. A section of its `agents` with
  /// `kind: native` and `handler: NAME` gives its name and settings to the agent called NAME. Agents that no section names keep their own
  /// name.
  std::string file;

  std::string name = "embedded";
  std::string listen = "127.0.0.1:7100";  // port 0: the system chooses, see port()
  std::string store;                      // folder of the store; created if it is missing
  std::string log_level = "info";         // debug, info, warning, error
  std::string log_file;                   // empty: stderr
  duration shutdown_timeout = std::chrono::seconds{5};

  /// The installed `fairlead` program, which evaluates expressions and looks after the commands of exec agents. Empty: the program is
  /// looked for beside the library, then in PATH.
  std::string program;
  /// Called with the reason before the process ends itself because it must do nothing more: the disk refused, the store is damaged, or
  /// another node has taken the store over.
  std::function<void(const error&)> on_fatal;
};

/// Thread-safe except for moves. A process may have several nodes, each with its own store.
class node {
 public:
  /// Continues the work that was in progress when the store was last open. Errors: invalid_argument (options, node file, an agent),
  /// store_in_use, unavailable (the address is taken, the program is missing), disk, and the errors of an unreadable store.
  static result<node> start(node_options options, const std::vector<agent>& agents);

  node(node&&) noexcept;
  node& operator=(node&&) noexcept;
  /// Stops the node.
  ~node();

  /// HOST:PORT on which the node listens.
  const std::string& address() const;
  std::uint16_t port() const;

  /// A client of this node. Several clients gain nothing over one.
  result<fairlead::client> client(duration request_timeout = std::chrono::seconds{15}) const;

  /// Makes `what` the current version of its workflow. The reply's warnings name calls that no agent offers yet. Error invalid_argument
  /// names every problem of the workflow.
  result<v1::DeployReply> deploy(const workflow& what) const;

  /// Blocks until SIGTERM, SIGINT or request_stop(), then stops. Handles the two signals while it runs, even if other threads block them,
  /// and restores the earlier handlers. Error timed_out: not all work ended in time.
  status run();

  /// Makes run() return. May be called from any thread and from signal handlers.
  void request_stop() noexcept;

  /// Takes no new tasks and begins no new attempts. Waits for attempts in progress, at most three quarters of shutdown_timeout, then ends.
  /// Error timed_out: some attempts were still in progress; they will be in doubt, and nothing acknowledged is lost. A second call does
  /// nothing.
  status stop();

 private:
  struct state;
  explicit node(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace fairlead
