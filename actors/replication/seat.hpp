#pragma once
// The place of a node's replica of one shard, over the whole life of the process: its store, and consensus from the moment when the shard has begun.
// The actor that serves it may be restarted meanwhile.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "actors/replication/acquaintance.hpp"
#include "actors/replication/replica.hpp"
#include "messages/status.pb.h"

namespace fairlead {

class replica_seat {
 public:
  struct options {
    std::uint32_t shard = 0;
    std::uint32_t shard_count = 1;
    std::string node;
    std::vector<std::string> nodes;  // all that hold the shard
    replica_settings how;            // self and born_with are filled in
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

  // For the actor.
  acquaintance& others() noexcept { return others_; }
  /// The shard has begun, as `others` say: durable on return.
  status begin();
  /// This node's store is `id`, and it is linked.
  void met(const std::string& node, raft::replica_id id);
  /// It is linked no longer.
  void lost(const std::string& node);
  /// What the log says of the members by now is said to others, too.
  void follow_members();
  /// null: the shard has not begun here. From any thread.
  replica* consensus() const;
  /// This node is drained, or no longer: while another one can lead the shard, this one does not. From any thread.
  status decline(bool on);
  /// From any thread.
  v1::ReplicationStatus describe() const;

 private:
  void open();
  void tell_nodes_locked();

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
  bool declines_ = false;
};

}  // namespace fairlead
