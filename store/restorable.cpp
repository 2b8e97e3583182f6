#include "store/restorable.hpp"

#include <algorithm>

#include "store/keys.hpp"
#include "store/meta_rows.hpp"

namespace fairlead::store {

result<std::optional<std::string>> restorable::read_meta(std::string_view row) const {
  const auto now = read();
  auto found = now->get(table::meta, keys::meta(row));
  if (!found) return found.failure();
  if (!found->has_value()) return std::optional<std::string>{};
  return std::optional<std::string>{**found};
}

result<v1::Lineage> restorable::claim_lineage(const v1::Lineage& fresh) {
  const auto restoring = read_meta(meta::restoring_row);
  if (!restoring) return restoring.failure();
  if (restoring->has_value() && meta::decode_u64(**restoring) != 0)
    return error{v1::ERROR_CODE_WRONG_STATE, "A restore into the store " + place() + " has begun but is not complete.",
                 "Run `fairlead restore " + place() + "` again: it continues where it stopped."};
  const auto row = read_meta(meta::lineage_row);
  if (!row) return row.failure();
  if (row->has_value()) {
    auto known = meta::decode_lineage(**row);
    if (!known) return damaged_value(table::meta, keys::meta(meta::lineage_row));
    return *known;
  }
  if (auto written = write_meta_rows({{meta::lineage_row, meta::encode_lineage(fresh)}}, 0); !written) return written.failure();
  return fresh;
}

status restorable::begin_restore(std::int64_t now_unix_ms) {
  return write_meta_rows({{meta::restoring_row, meta::encode_u64(static_cast<std::uint64_t>(now_unix_ms))}}, 0);
}

status restorable::end_restore(const v1::Lineage& lineage, std::uint64_t epoch, std::uint64_t boot) {
  const auto counted = read_meta(meta::boot_row);
  if (!counted) return counted.failure();
  const auto known = counted->has_value() ? meta::decode_u64(**counted).value_or(0) : 0;
  return write_meta_rows({{meta::lineage_row, meta::encode_lineage(lineage)},
                          {meta::boot_row, meta::encode_u64(std::max(boot, known))},
                          {meta::restoring_row, meta::encode_u64(0)}},
                         epoch);
}

}  // namespace fairlead::store
