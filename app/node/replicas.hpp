#pragma once
// The stores of a node as copies of shards that other nodes hold, too: what a start and `fairlead cluster init` and `join` make of them.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/client/client.hpp"
#include "app/config/config.hpp"
#include "app/node/notes.hpp"
#include "messages/error.hpp"
#include "messages/replica.pb.h"
#include "store/disk/disk_stores.hpp"

namespace fairlead::app {

/// Where the node notes what it is. A configuration made without a file may lack a data path.
const std::string& data_folder_of(const node_config& config);
/// Where the node has its stores and its journal, and how large they may be.
store::disk_stores_options stores_of(const node_config& config);

/// Whether the store can be what the node file says: of this node alone, or one of several copies.
status check_replica(store::journaled_store& store, const node_config& config, std::uint32_t number);

/// The node file says that several nodes hold the shard, or the store does, also one that was recovered or restored.
bool is_of_several(const store::journaled_store& store, const node_config& config);

/// This node is not to hold the shard alone.
error held_by_several(const node_config& config, std::uint32_t number);
/// What the nodes under node.peers say, if one can be reached at the first question.
class peers_asked {
 public:
  explicit peers_asked(const node_config& config) : config_(config) {}
  /// Several nodes hold the shard together.
  bool hold(std::uint32_t number);

 private:
  const node_config& config_;
  bool tried_ = false;
  std::optional<client> to_;
};

/// The claim to a shard that this node holds alone. If the store is new, and other nodes can be reached, they are asked first. Errors: wrong_state,
/// several of them hold the shard; those of restorable::claim_shard and claim_lineage.
result<v1::ShardClaim> claim_alone(store::journaled_store& store, const node_config& config, std::uint32_t number, const node_notes& notes,
                                   peers_asked& peers, std::int64_t now_unix_ms);

/// Such a store becomes one of several copies, if it is none yet: a new one gets the shard from the other nodes, or begins it with them; any other
/// is the first, and the others get the shard from here. True: it is the first.
result<bool> be_replica(store::journaled_store& store, const node_config& config, std::uint32_t number);

/// A new store becomes the copy that was agreed upon; any other stays what it is.
status be_as_agreed(store::journaled_store& store, const node_config& config, std::uint32_t number, const v1::RebuildNote& how);

/// The store of a shard that has lived on this node alone is the only one of several copies, and others can join. `term`: as of
/// journaled_store::be_replica().
status be_first_of_several(store::journaled_store& store, const node_config& config, std::uint64_t term = 0);

/// What the tables of a store say of the nodes that hold its shard. One that cannot be opened says nothing.
struct store_look {
  std::string directory;
  std::uint32_t shard = 0;
  std::string nodes;        // their names, if they are several
  bool is_replica = false;  // it takes part; a backup does so no more
  bool restoring = false;   // it is a backup, or a restore has begun
};
store_look look_at_store(const std::string& directory);
/// For commands that let a store go on by itself. Error: wrong_state, it is one of several copies.
status check_held_alone(const store_look& of);
/// For a store that is to be taken out of its journal with nothing lost. Error: wrong_state, it is a copy of a shard that others can join.
status check_can_settle(const store_look& of);
/// For a restore. Error: wrong_state, `backup` is of a shard that several nodes hold, so that one of these may be left.
status check_others_are_lost(const store_look& backup);

/// For a store that is made new.
std::uint64_t new_replica_id();
/// What this node asks the nodes that hold the shard for, so that it holds it, too, in that store.
v1::ShardNodesRequest request_to_join(const node_config& config, std::uint32_t number, std::uint64_t replica);

/// The stores of a node that is not running, about to be copies of shards that other nodes hold.
class replicas_to_be {
 public:
  /// Nothing is written where there is nothing yet. Errors: those of disk_stores::open, and wrong_state: the node file or a store does not allow it.
  static result<replicas_to_be> open(const node_config& config);

  /// What each store asks the nodes that hold its shard for. Errors: wrong_state, a store has something.
  result<std::vector<v1::ShardNodesRequest>> ask_to_join();
  /// The new stores are copies from now on, as they have asked for. `nodes`: those that hold each shard; the node connects to them.
  status join(const std::map<std::uint32_t, v1::ShardNodes>& nodes);
  /// Makes it durable.
  status close() { return stores_->close(); }

 private:
  explicit replicas_to_be(const node_config& config) : config_(config) {}
  status open_stores();
  node_config config_;
  std::unique_ptr<store::disk_stores> stores_;  // null: there are none, and none is made before the nodes that hold the shards have agreed
  std::vector<std::uint64_t> ids_;              // of the replicas, as they have asked
};

}  // namespace fairlead::app
