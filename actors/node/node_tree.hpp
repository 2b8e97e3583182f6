#pragma once
// A node as a tree of guardians: its shards, its agents, its links to other nodes, and the desk (the gateway and its helpers).
//
//   node             one_for_one; if it gives up, `on_given_up` is called and the process must end orderly
//     shards         one_for_one
//       N            one_for_one; see actors/shard/shard.hpp
//     agents         one_for_one; one actor for each instance
//     network        one_for_one; links
//     desk           one_for_one; gateway, and its helpers that may block: deployer, doctor, steward

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/agent_host/local_agent.hpp"
#include "actors/expressions/pool.hpp"
#include "actors/gateway/gateway.hpp"
#include "actors/gateway/reads_here.hpp"
#include "actors/shard/shard.hpp"
#include "actors/supervision/guardian.hpp"
#include "actors/workers/workers.hpp"

namespace fairlead {

struct node_tree_options {
  v1::Hello who;                   // `shards` without epochs
  std::vector<std::string> peers;  // `host:port`
  std::vector<local_agent> agents;
  std::string callback_url;  // what the URLs of callbacks begin with; empty: there is no such address
};

class node_tree {
 public:
  struct shard_part {
    store::store* store = nullptr;             // for readers
    store::store* commits = nullptr;           // takes the commits while the shard lives on this node alone
    replica_seat* seat = nullptr;              // null: it does
    std::shared_ptr<store::archive> archives;  // of the store
    std::string store_id;
    v1::Lineage lineage;  // of the store
    std::function<void(v1::StoreStatus&)> describe_store;
    shard_options options;
  };

  struct world {
    caf::actor_system* system = nullptr;
    const clock* time = nullptr;
    observer* log = nullptr;
    expression_pool* expressions = nullptr;
    webhook_port* alert_webhooks = nullptr;  // may be null if no alert target is a webhook; must outlive the tree
    /// Called at most a few times, from any thread, if a shard cannot go on. Must end the process.
    fatal_handler on_fatal;
    /// A value of a shard that other nodes hold, too, is not what was written. From any thread, must not wait.
    fatal_handler on_damage;
    /// The state of a shard here is not that of the majority of the nodes that hold it. Said again and again. From any thread, must not wait.
    fatal_handler on_difference;
    /// The store of a shard here is an older copy, and its replica takes part no more. From any thread.
    fatal_handler on_older_copy;
    /// A shard that other nodes hold, too, goes on elsewhere in that lineage. From any thread. May be empty.
    std::function<void(std::uint32_t shard, const v1::Lineage& latest)> on_outlived;
    /// Several nodes hold a shard that this node claims to hold alone. From any thread. May be empty.
    std::function<void(const v1::ShardClaim& claim)> on_held_elsewhere;
    /// Called once, from any thread, after the tree has given up and stopped everything.
    std::function<void(const error&)> on_given_up;
    /// Raises the node's durable counter of incarnations, for a restarted agent. From any thread.
    std::function<result<std::uint64_t>()> next_incarnation;
    /// Reads the node file again. From any thread. Empty function: there is no node file.
    std::function<result<v1::NodeReload>()> reload;
    /// What a replica of this node introduces itself with, when it has begun, and whenever other nodes hold its shard. From any thread. May be empty.
    std::function<void(const v1::ReplicaHello&)> on_others;
    /// Other nodes can hold a shard that has lived on this node alone. Nothing of it runs meanwhile. From any thread. Errors: those of the store.
    std::function<result<replica_seat*>(std::uint32_t shard)> open_to_others;
    std::shared_ptr<audit_port> audit;  // null: this node keeps none
    /// Sets the level and returns the former one; empty `level`: only returns it. From any thread. Empty function: there is no log to set.
    std::function<result<std::string>(const std::string& level)> log_level;
  };

  /// Starts everything. On return the shards have new epochs and have resumed their running tasks.
  static result<std::unique_ptr<node_tree>> start(world in, node_tree_options options, std::vector<shard_part> shards);

  /// Stops everything; waits only a moment for actors that hang.
  ~node_tree();

  /// The actor to publish; stays the same while the tree lives.
  gateway_actor gateway() const { return gateway_.as<gateway_actor>(); }
  supervision_tree& tree() { return tree_; }
  /// Must not be used once the tree is gone.
  reads_here reads() const { return {desks(), options_.who.shard_count()}; }

  /// Adds an agent while the node runs. `instance` distinguishes it from others of the same name; the node's name goes in front. One caller
  /// at a time.
  status add_agent(const local_agent& agent, const std::string& instance);

  /// The workers over HTTP that this node carries.
  std::shared_ptr<workers> carried() const { return workers_; }

  /// What a node file says of agents that it did not say before. One caller at a time.
  struct agent_changes {
    std::vector<local_agent> added;
    std::vector<local_agent> changed;  // go on under the same incarnation; attempts in progress end by their former definition
    std::vector<std::string> removed;  // end with their last attempt
  };
  /// Returns the agents that could not be started, and why; all the others are as they should be.
  std::vector<std::pair<std::string, error>> change_agents(agent_changes what);

  /// Takes no new tasks and begins no new attempts. Waits at most `limit` until agents hold no attempts and the shards' decisions are
  /// durable. False: the limit ran out. The actors end with the tree.
  bool stop(duration limit);

 private:
  node_tree(world in, node_tree_options options);

  /// The definition by which an agent's actor is started, also after a crash. Thread-safe.
  class definition {
   public:
    explicit definition(local_agent first) : now_(std::move(first)) {}
    /// The backend is given out once: another actor needs another one.
    local_agent take();
    void set(local_agent next);
    void leave();
    bool leaves() const;

   private:
    mutable std::mutex guard_;
    local_agent now_;
    bool leaves_ = false;
  };
  struct agent_place {
    std::string name;
    std::shared_ptr<stable_address> address;
    std::shared_ptr<definition> as;
    bool stands_in = false;
  };
  guardian_spec agents_branch();
  child_spec agent_child(const local_agent& agent, const std::string& instance);
  guardian_spec network();
  std::vector<shard_desk> desks() const;
  guardian_spec desk_branch();
  child_spec gateway_child(std::vector<shard_desk> desks);
  v1::NodeOperateReply operate(const v1::NodeOperateRequest& what);
  std::vector<agent_place> places() const;
  std::optional<agent_place> place_of(const std::string& name) const;
  /// Under places_guard_.
  void erase_place(const std::string& name);
  /// False: the agent has left.
  bool tell(const agent_place& where, std::shared_ptr<local_agent> now);
  /// `on`: all agents finish their attempts and take no more; else they take work again. Returns the number of attempts that they hold.
  std::uint32_t drain_agents(bool on);
  std::uint32_t decline_leads(bool on);
  void open_to_others(v1::NodeOperateReply& out);
  std::string refused_by();
  bool drain_shards(std::chrono::steady_clock::time_point until);

  world world_;
  node_tree_options options_;
  supervision_tree tree_;
  guardian_world guards_;
  stable_address gateway_;
  stable_address links_;
  stable_address deployer_;
  stable_address doctor_;
  stable_address steward_;
  stable_address agents_guardian_;
  stable_address shards_guardian_;
  std::vector<std::unique_ptr<shard>> shards_;
  mutable std::mutex places_guard_;
  std::vector<agent_place> places_;  // of the agents, in the order of their start
  std::set<std::string> left_;       // names of agents that have been here: their next process has another incarnation
  std::atomic<bool> draining_{false};
  std::int64_t started_at_unix_ms_ = 0;
  guardian_actor root_;
  const std::shared_ptr<workers> workers_;
};

}  // namespace fairlead
