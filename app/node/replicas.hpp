#pragma once
// The stores of a node as copies of shards that other nodes hold, too: what a start and `fairlead cluster init` and `join` make of them.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/config/config.hpp"
#include "messages/error.hpp"
#include "messages/replica.pb.h"
#include "store/disk/disk_stores.hpp"

namespace fairlead::app {

/// The latest format of a shard that this program knows.
std::uint32_t format_known();

/// Where the node has its stores and its journal, and how large they may be.
store::disk_stores_options stores_of(const node_config& config);

/// Whether the store can be what the node file says: of this node alone, or one of several copies.
status check_replica(store::journaled_store& store, const node_config& config, std::uint32_t number);

/// The node file says that several nodes hold the shard, or the store does, also one that was recovered or restored.
bool is_of_several(const store::journaled_store& store, const node_config& config);

/// Such a store becomes one of several copies, if it is none yet: a new one gets the shard from the other nodes, or begins it with them; any other
/// is the first, and the others get the shard from here. True: it is the first.
result<bool> be_replica(store::journaled_store& store, const node_config& config, std::uint32_t number);

/// A new store becomes the copy that was agreed upon; any other stays what it is.
status be_as_agreed(store::journaled_store& store, const node_config& config, std::uint32_t number, const v1::RebuildNote& how);

/// The store of a shard that has lived on this node alone is the only one of several copies, and others can join. `term`: as of
/// journaled_store::be_replica().
status be_first_of_several(store::journaled_store& store, const node_config& config, std::uint64_t term = 0);

/// For commands that let a store go on by itself. Error: wrong_state, it is one of several copies. A store that cannot be opened has none.
status check_held_alone(const std::string& directory);
/// For a store that is to be taken out of its journal with nothing lost. Error: wrong_state, it is a copy of a shard that others can join.
status check_can_settle(const std::string& directory);
/// For a restore. Error: wrong_state, `backup` is of a shard that several nodes hold, so that one of these may be left.
status check_others_are_lost(const std::string& backup);

/// For a store that is made new.
std::uint64_t new_replica_id();
/// What this node asks the nodes that hold the shard for, so that it holds it, too, in that store.
v1::ShardNodesRequest request_to_join(const node_config& config, std::uint32_t number, std::uint64_t replica);

/// The stores of a node that is not running, about to be copies of shards that other nodes hold.
class replicas_to_be {
 public:
  /// Errors: those of disk_stores::open, and wrong_state: the node file or a store does not allow it.
  static result<replicas_to_be> open(const node_config& config);

  /// What each store asks the nodes that hold its shard for. Errors: wrong_state, a store has something.
  result<std::vector<v1::ShardNodesRequest>> ask_to_join();
  /// The new stores are copies from now on, as they have asked for. `nodes`: those that hold each shard; the node connects to them.
  status join(const std::map<std::uint32_t, v1::ShardNodes>& nodes);
  /// Makes it durable.
  status close() { return stores_->close(); }

 private:
  replicas_to_be(const node_config& config, std::unique_ptr<store::disk_stores> stores) : config_(config), stores_(std::move(stores)) {}
  node_config config_;
  std::unique_ptr<store::disk_stores> stores_;
  std::vector<std::uint64_t> ids_;  // of the replicas, as they have asked
};

}  // namespace fairlead::app
