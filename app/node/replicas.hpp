#pragma once
// The stores of a node as copies of shards that other nodes hold, too: what a start makes of them, and `fairlead cluster init` and `join`.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/config/config.hpp"
#include "messages/error.hpp"
#include "messages/replica.pb.h"
#include "store/disk/disk_stores.hpp"

namespace fairlead::app {

/// Where the node has its stores and its journal, and how large they may be.
store::disk_stores_options stores_of(const node_config& config);

/// Whether the store can be what the node file says: of this node alone, or one of several copies.
status check_replica(store::journaled_store& store, const node_config& config, std::uint32_t number);

/// A new store becomes one of several copies, and so does that of a shard which has lived on this node alone: the other nodes get it from here.
/// True: it was one of the latter.
result<bool> be_replica(store::journaled_store& store, const node_config& config, std::uint32_t number);

/// The stores of a node that is not running, about to be copies of shards that several nodes can hold.
class replicas_to_be {
 public:
  /// Errors: those of disk_stores::open, and wrong_state: the node file or a store does not allow it.
  static result<replicas_to_be> open(const node_config& config);

  /// For the stores of shards that live on this node alone: each is the only copy from now on, and others can join. Errors: wrong_state.
  status begin();
  /// What each store asks the nodes that hold its shard for. Errors: wrong_state, a store has something.
  result<std::vector<v1::ShardNodesRequest>> ask_to_join();
  /// The new stores are copies from now on, as they have asked for.
  status join();
  /// Makes it durable.
  status close() { return stores_->close(); }

 private:
  replicas_to_be(const node_config& config, std::unique_ptr<store::disk_stores> stores) : config_(config), stores_(std::move(stores)) {}
  v1::ShardNodes::Node me(std::uint64_t replica) const;

  node_config config_;
  std::unique_ptr<store::disk_stores> stores_;
  std::vector<std::uint64_t> ids_;  // of the replicas, as they have asked
};

}  // namespace fairlead::app
