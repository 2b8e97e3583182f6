#pragma once
// One shard of a node: its store actor, Scheduler, Supervisor, cron, archiver and couriers, as a branch of the supervision tree. Its
// outside addresses stay the same when the actors behind them restart.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/alerts/target.hpp"
#include "actors/delivery/command_runner.hpp"
#include "actors/delivery/webhook_port.hpp"
#include "actors/delivery/webhooks.hpp"
#include "actors/expressions/pool.hpp"
#include "actors/queries/shard_access.hpp"
#include "actors/replication/copies/copies_actor.hpp"
#include "actors/replication/replica_actor.hpp"
#include "actors/replies/outbox.hpp"
#include "actors/scheduler/scheduler.hpp"
#include "actors/shard/archiver.hpp"
#include "actors/shard/commit_gauge.hpp"
#include "actors/shard/leadership.hpp"
#include "actors/shard/store_actor.hpp"
#include "actors/supervision/guardian.hpp"

namespace fairlead {

struct shard_options {
  std::uint32_t shard = 0;
  std::uint32_t shard_count = 1;
  std::string node;
  scheduler_limits limits;
  planted_faults faults;
  duration scan_period = std::chrono::seconds{1};
  retention_policy retention;
  std::vector<alert_target> alert_targets;
  duration reply_give_up_after = std::chrono::hours{24};
};

class shard {
 public:
  struct world {
    guardian_world guards;
    store::store* store = nullptr;    // for readers
    store::store* commits = nullptr;  // takes the commits while the shard lives on this node alone
    replica_seat* seat = nullptr;     // null: it does; `store_id` and `lineage` are not set otherwise
    links_actor links;
    std::shared_ptr<store::archive> archives;  // of the store
    std::shared_ptr<copy_turn> turn;           // of all shards of the node: one of them at a time sends a copy of its state
    std::string store_id;
    v1::Lineage lineage;  // of the store
    expression_pool* expressions = nullptr;
    webhook_port* alert_webhooks = nullptr;  // may be null if no alert target is a webhook; must outlive the shard
    std::function<void(v1::StoreStatus&)> describe_store;
    /// Called at most a few times, from any thread, if the shard cannot go on: the disk, damage, another leader.
    fatal_handler on_fatal;
    /// As of node_tree::world.
    fatal_handler on_damage;
    fatal_handler on_difference;
    fatal_handler on_older_copy;
    std::function<void(std::uint32_t shard, const v1::Lineage& latest)> on_outlived;
    std::function<void(const v1::ReplicaHello&)> on_others;
    /// Called, from any thread, for each epoch that the shard begins here; with epoch 0: it is led here no longer.
    std::function<void(const v1::ShardClaim&)> on_epoch;
  };

  shard(world in, shard_options options);
  ~shard();
  shard(const shard&) = delete;
  shard& operator=(const shard&) = delete;

  /// The shard's branch, for the tree below `parent_path`. The shard must outlive it.
  child_spec branch(const std::string& parent_path);

  shard_desk desk() const;

  std::uint32_t number() const noexcept { return options_.shard; }
  bool lives_here_alone() const { return seat() == nullptr; }
  /// Other nodes can hold a shard that lives here alone, from now on. Its branch, below `under`, ends, `make` gives the seat that it goes on with, and
  /// the branch begins again. What arrives meanwhile waits; what is under way gets no answer, as at a restart. Blocks. Errors: of `make`, which are
  /// fatal, and unavailable.
  status open_to_others(const guardian_actor& under, const std::string& parent_path, const std::function<result<replica_seat*>()>& make);
  /// What a replica here knows of the shard, whoever leads it; nullopt: nothing, or the shard lives here alone.
  std::optional<v1::ShardClaim> known() const;

  /// Several nodes hold the shard, and this one leads it.
  bool leads() const { return !lives_here_alone() && leads_; }
  /// This node is drained, or no longer: another one is to lead the shard, if any can. Does not wait.
  void decline(bool on);

  /// For a node that ends. Another node leads from now on; else the shard takes no new tasks and begins no new attempts, and this waits at most
  /// `limit` until no attempt is in progress and all decisions are durable. False: the limit ran out; attempts still in progress will be in doubt,
  /// and nothing acknowledged is lost.
  bool drain(duration limit);

  /// Ends deliveries that run on their own threads. Call after the branch has ended.
  void shut_down();

 private:
  guardian_spec core(const std::shared_ptr<stable_address>& inside);
  std::vector<child_spec> led_children(const std::string& path);
  child_spec leadership_child(const std::string& path);
  child_spec replica_child();
  child_spec copies_child();
  replica_seat* seat() const { return seat_; }
  /// Of what runs where the shard is led.
  const clock* time() const { return lives_here_alone() ? world_.guards.time : &seat()->time(); }
  /// null: the shard lives on this node alone.
  replica_actor replica() const { return lives_here_alone() ? replica_actor{} : replica_.as<replica_actor>(); }
  child_spec led_child(std::string id, child_factory start, stable_address* address);
  result<std::uint64_t> begin_epoch();
  v1::ShardClaim claim() const;
  bool hand_over();
  child_spec alert_child(const scheduler_actor& scheduler);
  result<caf::strong_actor_ptr> start_scheduler();

  world world_;
  shard_options options_;
  std::atomic<replica_seat*> seat_;
  commit_gauge commits_;
  stable_address scheduler_;
  stable_address replies_;
  stable_address guardian_;  // of the shard's branch, with a seat
  stable_address replica_;
  stable_address leadership_;
  stable_address copies_;
  std::atomic<bool> leads_{false};
  std::shared_ptr<reply_outbox> outbox_;
  std::shared_ptr<command_runner> alert_commands_;  // null: no alert target is a command
  std::shared_ptr<webhooks> reply_webhooks_;        // separate from those of alerts: neither delays the other
  // Of the present core; written only by its guardian.
  store_actor store_now_;
  scheduler_actor scheduler_now_;
};

}  // namespace fairlead
