#pragma once
// What a shard that several nodes hold says of them, in the meta table: which nodes are to hold it, and whether their states are the same.

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

void put_comparison(batch& out, const v1::StateComparison& what);
/// nullopt: there was none, or the row is damaged.
std::optional<v1::StateComparison> comparison_in(const snapshot& from);

/// The latest format of a shard that this program knows.
std::uint32_t format_known();
/// Whether this program can read the shard. Error: store_newer. `what`: for the sentence, such as `The store of shard 0`.
status check_format(const snapshot& of, const std::string& what);

}  // namespace fairlead::store
