#pragma once
// Messages of replicas as they travel between nodes. Entries travel as records of the journal, with the checksums that they are stored with,
// so an entry is checked from the leader's memory to the follower's disk. Pure; any thread.

#include <cstdint>

#include "actors/core/raft/message.hpp"
#include "messages/error.hpp"
#include "messages/replica.pb.h"

namespace fairlead {

v1::ReplicaMessage encode(const raft::message& what, std::uint16_t shard);

/// What comes out has passed raft::fault_of. Errors: store_newer, a later release has written an entry that this one does not know; invalid_argument,
/// with a sentence that says what no replica of this release would have sent.
/// Another node has sent it, so the error is the node's, and nothing of the message counts.
result<raft::message> decode(const v1::ReplicaMessage& in);

}  // namespace fairlead
