#include "store/rows/node_rows.hpp"

#include "store/keys.hpp"
#include "store/meta_rows.hpp"

namespace fairlead::store {

void put_nodes(batch& out, const v1::ShardNodes& nodes) { out.put(table::meta, keys::meta(meta::nodes_row), nodes.SerializeAsString()); }

std::optional<v1::ShardNodes> nodes_in(const snapshot& from) {
  const auto row = from.get(table::meta, keys::meta(meta::nodes_row));
  v1::ShardNodes out;
  if (!row.ok() || !row->has_value() || !out.ParseFromArray((*row)->data(), static_cast<int>((*row)->size()))) return std::nullopt;
  return out;
}

}  // namespace fairlead::store
