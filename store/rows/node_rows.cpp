#include "store/rows/node_rows.hpp"

#include "store/failpoint.hpp"
#include "store/keys.hpp"
#include "store/meta_rows.hpp"

namespace fairlead::store {

namespace {

template <class Message>
std::optional<Message> row_in(const snapshot& from, std::string_view name) {
  const auto row = from.get(table::meta, keys::meta(name));
  Message out;
  if (!row.ok() || !row->has_value() || !out.ParseFromArray((*row)->data(), static_cast<int>((*row)->size()))) return std::nullopt;
  return out;
}

}  // namespace

void put_nodes(batch& out, const v1::ShardNodes& nodes) { out.put(table::meta, keys::meta(meta::nodes_row), nodes.SerializeAsString()); }

std::optional<v1::ShardNodes> nodes_in(const snapshot& from) { return row_in<v1::ShardNodes>(from, meta::nodes_row); }

void put_comparison(batch& out, const v1::StateComparison& what) {
  out.put(table::meta, keys::meta(meta::compared_row), what.SerializeAsString());
}

std::optional<v1::StateComparison> comparison_in(const snapshot& from) { return row_in<v1::StateComparison>(from, meta::compared_row); }

// A test lets a program pass for one of the next release.
std::uint32_t format_known() { return shard_format + (failpoint("plant.later_format") ? 1 : 0); }

status check_format(const snapshot& of, const std::string& what) {
  const auto nodes = nodes_in(of);
  if (!nodes || nodes->format() <= format_known()) return nothing{};
  return error{v1::ERROR_CODE_STORE_NEWER,
               what + " is written in format " + std::to_string(nodes->format()) + ", and this release knows " +
                   std::to_string(format_known()) + ".",
               "Run the release of the other nodes that hold the shard, or a later one."};
}

}  // namespace fairlead::store
