#include "store/restorable.hpp"

#include <limits>

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

result<std::string> restorable::known_shard(std::uint32_t shard, std::uint32_t count) const {
  const auto row = read_meta(meta::shard_row);
  if (!row) return row.failure();
  meta::shard_identity known{shard, count, {}};
  if (row->has_value()) {
    const auto stored = meta::decode_shard(**row);
    if (!stored) return damaged_value(table::meta, keys::meta(meta::shard_row));
    known = *stored;
  } else if (read()->count(table::task_id) != 0) {
    known = {0, 1, {}};  // written before there were shards
  }
  if (known.shard == shard && known.count == count) return known.store_id;
  return error{v1::ERROR_CODE_INVALID_ARGUMENT,
               "The store " + place() + " is shard " + std::to_string(known.shard) + " of " + std::to_string(known.count) +
                   "; the node file makes it shard " + std::to_string(shard) + " of " + std::to_string(count) + ".",
               "The number of shards of a cluster cannot change. Set `shards` in the node file as it was, or start a new cluster with an "
               "empty store."};
}

result<std::string> restorable::claim_shard(std::uint32_t shard, std::uint32_t count, const std::string& fresh_id) {
  auto known = known_shard(shard, count);
  if (!known || !known->empty()) return known;
  if (auto written = write_meta_rows({{meta::shard_row, meta::encode_shard({shard, count, fresh_id})}}, 0); !written)
    return written.failure();
  return fresh_id;
}

result<std::uint64_t> restorable::boot() const {
  const auto row = read_meta(meta::boot_row);
  if (!row) return row.failure();
  const auto stored = row->has_value() ? meta::decode_u64(**row) : std::nullopt;
  if (!stored) return damaged_value(table::meta, keys::meta(meta::boot_row));
  return *stored;
}

status restorable::check_complete() const {
  const auto restoring = read_meta(meta::restoring_row);
  if (!restoring) return restoring.failure();
  if (!restoring->has_value() || meta::decode_u64(**restoring) == 0) return nothing{};
  return error{v1::ERROR_CODE_WRONG_STATE, "A restore or a recovery of the store " + place() + " has begun but is not complete.",
               "Run the command again, `fairlead restore " + place() + "` or `fairlead cluster recover " + place() +
                   " --accept-loss`: it continues where it stopped."};
}

result<v1::Lineage> restorable::claim_lineage(const v1::Lineage& fresh) {
  if (auto complete = check_complete(); !complete) return complete.failure();
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

status restorable::begin_recovery(std::int64_t now_unix_ms) {
  const auto before = counted_until();
  if (!before) return before.failure();
  if (*before) return begin_restore(now_unix_ms);
  const auto latest = std::max<std::int64_t>(read()->get_progress().shard.latest_write_unix_ms(), 1);
  return write_meta_rows({{meta::restoring_row, meta::encode_u64(static_cast<std::uint64_t>(now_unix_ms))},
                          {meta::counted_row, meta::encode_u64(static_cast<std::uint64_t>(latest))}},
                         0);
}

result<std::optional<std::int64_t>> restorable::counted_until() const {
  const auto row = read_meta(meta::counted_row);
  if (!row) return row.failure();
  if (!row->has_value()) return std::optional<std::int64_t>{};
  const auto stored = meta::decode_u64(**row);
  if (!stored) return damaged_value(table::meta, keys::meta(meta::counted_row));
  return *stored == 0 ? std::optional<std::int64_t>{} : static_cast<std::int64_t>(*stored);
}

status restorable::end_restore(const v1::Lineage& lineage, std::uint64_t epoch, std::uint64_t boot) {
  const auto counted = this->boot();
  if (!counted) return counted.failure();
  return write_meta_rows({{meta::lineage_row, meta::encode_lineage(lineage)},
                          {meta::boot_row, meta::encode_u64(std::max(boot, *counted))},
                          // Whatever a journal has of this shard belongs to an earlier lineage.
                          {meta::settled_row, meta::encode_u64(std::numeric_limits<std::uint64_t>::max())},
                          {meta::counted_row, meta::encode_u64(0)},
                          {meta::restoring_row, meta::encode_u64(0)}},
                         epoch);
}

}  // namespace fairlead::store
