#pragma once
// The row of the nodes that are to hold a shard, in the meta table.

#include <cstdint>
#include <optional>
#include <string>

#include "messages/error.hpp"
#include "messages/replica.pb.h"
#include "store/batch.hpp"
#include "store/store.hpp"

namespace fairlead::store {

void put_nodes(batch& out, const v1::ShardNodes& nodes);
/// nullopt: there is no such row, or it is damaged.
std::optional<v1::ShardNodes> nodes_in(const snapshot& from);

/// The latest format of a shard that this program knows.
std::uint32_t format_known();
/// Whether this program can read the shard. Error: store_newer. `what`: for the sentence, such as `The store of shard 0`.
status check_format(const snapshot& of, const std::string& what);

}  // namespace fairlead::store
