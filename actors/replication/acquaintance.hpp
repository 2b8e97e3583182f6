#pragma once
// How the replicas of a shard get to know each other, and how the shard begins. Pure: hellos come in and go out as values.
//
// A store that is made new has a random replica id and belongs to no shard yet. The node file names the nodes that hold the shard, or an operator
// lets the node join a shard that others hold. Once the first of the nodes by name knows that the stores of all the others are new, too, it begins
// the shard with these replicas, and the others take that from it. From then on a row of the shard says which nodes are to hold it, and the log
// says which replicas it has. A store that was lost and made anew has another id, so it can never give a second vote in
// a term, or lack what it has confirmed. It takes the shard from the others, too; the leader makes its replica one of the shard's
// (actors/core/raft/member_plan.hpp).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/core/raft/types.hpp"
#include "messages/error.hpp"
#include "messages/replica.pb.h"

namespace fairlead {

class acquaintance {
 public:
  /// `me`: this replica as it introduces itself, with the nodes that are to hold the shard; none: it joins the shard of whoever knows it.
  explicit acquaintance(v1::ReplicaHello me) : me_(std::move(me)) {}

  const v1::ReplicaHello& me() const noexcept { return me_; }
  /// As far as is known here; nullopt: the shard has not begun here.
  std::optional<raft::members> members() const;
  /// What the log says of them, once the shard has begun here.
  void follow(const raft::members& all);
  const v1::ShardNodes& nodes() const noexcept { return me_.nodes(); }
  /// What the shard's row says of the nodes, or what another replica has said. An older list than is known changes nothing.
  void follow(const v1::ShardNodes& nodes);

  /// Another replica introduces itself, or answers. Error: it is not one of this shard; who is told has another store, or another node file.
  /// If this replica is new and the other is not, this one is of the other's shard from now on: began() says so.
  status meet(const v1::ReplicaHello& you);
  /// The shard begins, if it is this replica's turn and all others are new. `lineage` and `store_id` are those of the new shard.
  bool begin(const v1::Lineage& lineage, const std::string& store_id);
  /// True once: the shard has begun since the last call.
  bool began() { return std::exchange(began_, false); }

  /// The node that holds a replica; empty: not known.
  std::string node_of(raft::replica_id id) const;
  /// What the node's replica has said of itself last; null: nothing.
  const v1::ReplicaHello* known(const std::string& node) const;
  std::vector<std::string> others() const;

 private:
  bool has_begun(const v1::ReplicaHello& who) const { return who.members().voters_size() > 0; }

  v1::ReplicaHello me_;
  std::map<std::string, v1::ReplicaHello> met_;  // by node
  bool began_ = false;
};

}  // namespace fairlead
