#pragma once
// The place of a node's replica of one shard, over the whole life of the process: its store, and consensus from the moment when the shard has begun.
// The actor that serves it may be restarted meanwhile.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/core/raft/doing_without.hpp"
#include "actors/replication/acquaintance.hpp"
#include "actors/replication/replica.hpp"
#include "messages/status.pb.h"

namespace fairlead {

enum class why_not_lead { drained, damaged };

class replica_seat {
 public:
  struct options {
    std::uint32_t shard = 0;
    std::uint32_t shard_count = 1;
    std::string node;
    std::vector<std::string> nodes;  // with which the shard begins, as the node file says; empty: it joins the shard that others hold
    replica_settings how;            // self and born_with are filled in
    std::string release;             // of this node
    std::uint32_t reads = fairlead::store::shard_format;
    std::int64_t upgrade_after_ms = 24 * 3'600'000;  // for so long all nodes know a later format before the shard is written in it
  };

  /// `own` is a replica's store (journaled_store::replica), attached to its journal; it outlives the seat, as `wall` does.
  replica_seat(fairlead::store::journaled_store& own, options how, const clock& wall, std::function<std::int64_t()> boot_ms);

  /// By which the shard is led from here. What another leader's clock shows does not move it: that may have waited in the mailbox of a process that
  /// stood still, and then a former leader's Scheduler would hand work over for longer than its successor takes it to be held.
  const clock& time() const noexcept { return led_time_; }
  /// What runs where the shard is led is about to begin, and goes on from what was heard of former leaders.
  void begin_lead() { led_time_.take(time_); }

  const options& settings() const noexcept { return options_; }
  fairlead::store::journaled_store& own() const noexcept { return own_; }
  std::int64_t boot_ms() const { return boot_ms_(); }

  // For the actor.
  acquaintance& others() noexcept { return others_; }
  /// The shard has begun, as `others` say: durable on return.
  status begin();
  /// Another replica introduces itself, or answers: as of acquaintance. Error also: this replica is of a lineage that is over, and nothing is to be
  /// taken from it.
  status meet(const v1::ReplicaHello& you);
  bool is_outlived() const { return outlived_; }
  /// This node's store is `id`, and it is linked.
  void met(const std::string& node, raft::replica_id id);
  /// It is linked no longer.
  void lost(const std::string& node);
  /// Follows what the log says of the members and the nodes by now, and as the leader brings the list of nodes up to date. True: nodes have come or
  /// gone since the last call.
  bool follow_log();
  /// Error: store_newer, the shard is written in a format that this node does not know.
  status check_format() const;
  /// Has the request's change made: the list, once it counts. nullopt: not yet; ask again. Errors: those of core::after_request, and unavailable: this
  /// replica does not lead.
  result<std::optional<v1::ShardNodes>> change_nodes(const v1::ShardNodesRequest& asked);
  /// The comparison of the replicas' states that an operator wants: this or a later one. From any thread.
  std::uint64_t wanted_comparison() const { return wanted_comparison_; }
  /// null: the shard has not begun here. From any thread.
  replica* consensus() const;
  /// The entry behind the last one is of a later release, and cannot be read. This replica says so until it has that entry.
  void cannot_read(std::string why);
  /// `latest` is the lineage that counts most of all that were heard of. If the shard goes on in that one, this replica takes part no more. True: from
  /// now on.
  bool heard_of(const v1::Lineage& latest);
  /// While another node can lead the shard, this one does not; or that is over. From any thread.
  status decline(bool on, why_not_lead why = why_not_lead::drained);
  /// The node with that replica, for sentences. From any thread.
  std::string name_of(raft::replica_id id) const;
  /// From any thread.
  v1::ReplicationStatus describe() const;

 private:
  void open();
  bool declines_locked() const { return drained_ || damaged_here_ || leaves_; }
  void tell_nodes_locked();
  void take_nodes_locked();
  void follow();
  bool is_proposed(const v1::ShardNodes& next, const replica_view& now) const;
  void propose_nodes(const v1::ShardNodes& next, const replica_view& now);
  result<v1::ShardNodes> upgraded() const;
  void upgrade_in_time(const replica_view& now);
  raft::known_nodes known_nodes(const replica_view& now) const;
  status can_rebuild(const v1::ShardNodesRequest& what, const replica_view& now) const;
  result<bool> compare_states(std::uint64_t above, const replica_view& now);

  fairlead::store::journaled_store& own_;
  options options_;
  const clock& wall_;
  const std::function<std::int64_t()> boot_ms_;
  lead_clock time_;  // follows whoever leads
  lead_clock led_time_;
  acquaintance others_;
  mutable std::mutex guard_;
  std::unique_ptr<replica> replica_;
  std::map<std::string, raft::node_replica> nodes_;
  std::map<std::string, raft::replica_id> listed_;      // by node: what the list has said last
  std::mutex declining_;                                // of those who tell consensus whether it declines; before guard_
  bool drained_ = false;                                // this node
  bool damaged_here_ = false;                           // the store of this node, or its state is another one
  bool leaves_ = false;                                 // the shard is taken away from it
  bool changed_ = false;                                // nodes have come or gone since that was told
  std::uint32_t format_ = 1;                            // in which the shard is written: all nodes know it
  std::map<std::string, std::int64_t> damaged_;         // by node: when its store was damaged, as the list has it
  std::pair<std::string, raft::log_index> unreadable_;  // why, and the first entry that cannot be read
  std::atomic<std::uint64_t> wanted_comparison_{0};
  std::atomic<bool> outlived_{false};              // the shard goes on elsewhere in a later lineage
  std::optional<std::int64_t> all_know_since_ms_;  // a later format than is written; as of boot_ms
  // What this leader has proposed last, and not seen yet.
  std::uint64_t proposed_nodes_ = 0;
  std::uint64_t proposed_under_ = 0;
};

}  // namespace fairlead
