#pragma once
// A node whose store was lost comes back with a new replica. What the leader changes so that this one takes the place of the former: one member
// at a time, and only while a majority of those that vote afterwards is in contact. Pure.
//
// The new replica gets the log without a vote first. Once it follows, the former one leaves, and then the new one votes: it counts for what it has
// confirmed, and lacks next to nothing (Ongaro 2014, 4.2.1). A replica that is away is not taken for one that is lost before its node has
// introduced another one.

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
};

/// Of a node that is to hold the shard.
struct node_replica {
  replica_id id = 0;     // that it has introduced itself with last; 0: it has not
  bool present = false;  // it is linked now
};

/// So long a replica has to be silent before another one takes its place.
inline constexpr std::int64_t lost_after_ms = 10'000;

/// The members that are to be in force next; nullopt: these. `others`: of the members `now`. `of_nodes`: all that are to hold the
/// shard, this one among them.
std::optional<members> next_members(const members& now, replica_id self, const std::vector<known_member>& others,
                                    const std::vector<node_replica>& of_nodes);

}  // namespace fairlead::raft
