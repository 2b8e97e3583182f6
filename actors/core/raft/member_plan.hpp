#pragma once
// Which replicas a shard has follows the nodes that are to hold it: what the leader changes for that, one member at a time, and only while a
// majority of those that vote afterwards is in contact. Pure.
//
// A new replica gets the log without a vote first. It votes once it follows: it counts for what it has confirmed, and lacks next to nothing
// (Ongaro 2014, 4.2.1). An even number of voters outlives the loss of no more nodes than the odd number below it, so the votes are odd in number
// where nothing is under way: of two nodes one votes, and the second and the third node get their votes together.
//
// A node whose store was lost comes back with a new replica. Once that follows, the former one leaves, and then the new one votes. A replica that
// is away is not taken for one that is lost before its node has introduced another one.
//
// A node that leaves keeps its vote while the others need one that declines to lead: it may end at any time, as it is drained or damaged. Nor does
// such a one get a vote by which the others would come to need it.
//
// Of two nodes the one that votes has to lead. Where it declines to, because it is drained, damaged or leaves, it gives its vote to the other one.

#include <cstdint>
#include <optional>
#include <vector>

#include "actors/core/raft/types.hpp"

namespace fairlead::raft {

/// What a leader knows of another member.
struct known_member {
  replica_id id = 0;
  bool follows = false;        // in contact, and it lacks next to nothing
  std::int64_t silent_ms = 0;  // since it was heard of last, or since this one leads
  bool declines = false;       // it does not want to lead
};

/// Of a node that is to hold the shard, or has held it.
struct node_replica {
  replica_id id = 0;     // that it has introduced itself with last; 0: it has not
  bool present = false;  // it is linked now
  bool leaves = false;   // the shard is taken away from it
};

/// So long a replica has to be silent before another one takes its place.
inline constexpr std::int64_t lost_after_ms = 10'000;

/// More voters make each commit slower and the shard hardly safer; further replicas are standbys.
inline constexpr std::size_t most_voters = 5;

/// How many votes so many nodes are to have.
constexpr std::size_t votes_of(std::size_t nodes) {
  const auto most = nodes < most_voters ? nodes : most_voters;
  return most % 2 == 0 && most != 0 ? most - 1 : most;
}

/// The members that are to be in force next; nullopt: these. `self`: the leader; it `declines` if it wants another one to lead. `others`: of the
/// members `now`. `of_nodes`: all that are to hold the shard or leave it, this one among them. A leader on a node that leaves stays a member:
/// another one has to lead first.
std::optional<members> next_members(const members& now, replica_id self, bool declines, const std::vector<known_member>& others,
                                    const std::vector<node_replica>& of_nodes);

}  // namespace fairlead::raft
