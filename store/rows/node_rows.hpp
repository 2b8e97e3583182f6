#pragma once
// The row of the nodes that are to hold a shard, in the meta table.

#include <optional>
#include <string>

#include "messages/replica.pb.h"
#include "store/batch.hpp"
#include "store/store.hpp"

namespace fairlead::store {

void put_nodes(batch& out, const v1::ShardNodes& nodes);
/// nullopt: there is no such row, or it is damaged.
std::optional<v1::ShardNodes> nodes_in(const snapshot& from);

}  // namespace fairlead::store
