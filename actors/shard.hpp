#pragma once
// Puts one shard together: store actor, Scheduler, Supervisor, archiver, the agents of this process, and the gateway before them.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/agents/backend.hpp"
#include "actors/agents/secrets.hpp"
#include "actors/agents/settings.hpp"
#include "actors/alert_target.hpp"
#include "actors/archiver.hpp"
#include "actors/command_runner.hpp"
#include "actors/expression_pool.hpp"
#include "actors/interfaces.hpp"
#include "actors/ports.hpp"
#include "actors/reply_outbox.hpp"
#include "actors/reply_waiters_actor.hpp"
#include "actors/scheduler.hpp"
#include "actors/store_actor.hpp"
#include "actors/webhook_port.hpp"
#include "actors/webhooks.hpp"
#include "store/store.hpp"

namespace fairlead {

/// An agent that lives in this process.
struct local_agent {
  std::string name;  // the one steps use; also that of its instance, behind the node's name
  std::string kind;
  std::shared_ptr<agents::backend> backend;
  agents::agent_settings settings;
  std::shared_ptr<const agents::secrets> secrets;  // null: it has none
};

struct shard_options {
  std::string node;
  std::string version;
  scheduler_limits limits;
  planted_faults faults;
  duration scan_period = std::chrono::seconds{1};
  retention_policy retention;
  std::string archive_directory;
  std::uint64_t incarnation = 1;  // of the agents in this process: counts the node's starts
  std::vector<local_agent> agents;
  std::vector<alert_target> alert_targets;
  duration reply_give_up_after = std::chrono::hours{24};
};

class shard {
 public:
  struct world {
    caf::actor_system* system = nullptr;
    const clock* time = nullptr;
    store::store* store = nullptr;
    observer* log = nullptr;
    expression_pool* expressions = nullptr;
    webhook_port* alert_webhooks = nullptr;  // may be null when no target of alerts is a webhook; must outlive the shard
    std::function<void(v1::StatusReply&)> describe_node;
    /// Called at most a few times, from any thread, when the shard cannot go on.
    fatal_handler on_fatal;
  };

  /// Raises the epoch, spawns everything and begins to take up what was running.
  static result<std::unique_ptr<shard>> start(world in, shard_options options);

  ~shard();

  const gateway_actor& gateway() const noexcept { return gateway_; }

  /// One more agent while the shard runs. `instance` tells it from others of the same name; the node's name goes in front. One caller at a time.
  void add_agent(const local_agent& agent, const std::string& instance);

  /// No new tasks and no new attempts; waits at most `limit` until no attempt is out and everything decided is durable. False when the limit
  /// ran out: what is still out will be in doubt, and nothing acknowledged is lost. The actors end with the shard.
  bool stop(duration limit);

 private:
  shard(world in, shard_options options);

  world world_;
  shard_options options_;
  store_actor store_;
  scheduler_actor scheduler_;
  supervisor_actor supervisor_;
  archiver_actor archiver_;
  std::shared_ptr<command_runner> alert_commands_;
  courier_actor alert_courier_;  // none when there are no targets
  /// Apart from those of alerts: neither delays the other.
  std::shared_ptr<webhooks> reply_webhooks_;
  courier_actor reply_courier_;
  replies_actor replies_;
  std::vector<agent_actor> agents_;
  gateway_actor gateway_;
};

}  // namespace fairlead
