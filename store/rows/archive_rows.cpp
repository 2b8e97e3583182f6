#include "store/rows/archive_rows.hpp"

#include "store/keys.hpp"
#include "store/meta_rows.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead::store {

namespace {

constexpr std::size_t move_bytes = 8 + 4;

std::string key_of(std::string_view rows, std::uint64_t number) { return keys::meta(meta::numbered_row(rows, number)); }

std::optional<archive_day> decode_move(std::string_view payload) {
  if (payload.size() != move_bytes) return std::nullopt;
  return archive_day{static_cast<std::int64_t>(*meta::decode_u64(payload.substr(0, 8))), *meta::decode_u32(payload.substr(8))};
}

/// Calls `visit(number, payload)` for each row with this beginning; false: the row is damaged.
template <class Visitor>
status for_each_row(const snapshot& from, std::string_view rows, Visitor&& visit) {
  const auto all = keys::meta(rows);
  status outcome = nothing{};
  const auto scanned = from.scan(table::meta, all, keys::after(all), [&](std::string_view key, std::string_view payload) {
    const auto number = meta::number_of_row(key);
    if (!number || !visit(*number, payload)) outcome = damaged_value(table::meta, key);
    return outcome.ok();
  });
  return outcome ? scanned : outcome;
}

}  // namespace

void put_move(batch& out, const v1::TaskRecord& record, const archive_day& to) {
  out.put(table::meta, key_of(meta::move_rows, record.number()),
          meta::encode_u64(static_cast<std::uint64_t>(to.day)) + meta::encode_u32(to.keep_days));
  auto tombstone = tombstone_of(record);
  tombstone.set_archived_day(to.day);
  tombstone.set_archive_keep_days(to.keep_days);
  put_tombstone(out, record.id(), tombstone);
}

void erase_move(batch& out, std::uint64_t number) { out.erase(table::meta, key_of(meta::move_rows, number)); }

result<bool> is_moving(const snapshot& from, std::uint64_t number) {
  const auto row = from.get(table::meta, key_of(meta::move_rows, number));
  if (!row) return row.failure();
  return row->has_value();
}

status for_each_move(const snapshot& from, const std::function<void(const task_move&)>& visit) {
  return for_each_row(from, meta::move_rows, [&](std::uint64_t number, std::string_view payload) {
    const auto to = decode_move(payload);
    if (to) visit({number, *to});
    return to.has_value();
  });
}

void put_drop(batch& out, std::uint32_t keep_days, std::int64_t day) {
  out.put(table::meta, key_of(meta::drop_rows, keep_days), meta::encode_u64(static_cast<std::uint64_t>(day)));
}

result<std::int64_t> dropped_before(const snapshot& from, std::uint32_t keep_days) {
  const auto key = key_of(meta::drop_rows, keep_days);
  const auto row = from.get(table::meta, key);
  if (!row) return row.failure();
  if (!*row) return std::int64_t{0};
  const auto day = meta::decode_u64(**row);
  if (!day) return damaged_value(table::meta, key);
  return static_cast<std::int64_t>(*day);
}

status for_each_drop(const snapshot& from, const std::function<void(std::uint32_t keep_days, std::int64_t before_day)>& visit) {
  return for_each_row(from, meta::drop_rows, [&](std::uint64_t keep_days, std::string_view payload) {
    const auto day = meta::decode_u64(payload);
    if (day) visit(static_cast<std::uint32_t>(keep_days), static_cast<std::int64_t>(*day));
    return day.has_value();
  });
}

}  // namespace fairlead::store
