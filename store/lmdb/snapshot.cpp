#include "store/lmdb/snapshot.hpp"

#include "store/checksum.hpp"
#include "store/keys.hpp"
#include "store/meta_rows.hpp"

namespace fairlead::store {

error lmdb_snapshot::told(error why) const {
  if (why.code == v1::ERROR_CODE_CORRUPT && on_damage_ != nullptr && *on_damage_) (*on_damage_)(why);
  return why;
}

result<std::optional<std::string_view>> lmdb_snapshot::get(table where, std::string_view key) const {
  auto stored = txn_.get(where, key);
  if (!stored) return told(stored.failure());
  if (!stored->has_value()) return stored;
  auto payload = verified_payload(where, key, **stored);
  if (!payload) return told(damaged_value(where, key));
  return payload;
}

/// Verifies each value before the caller sees it; the first damaged one ends the scan.
template <class Scan>
status lmdb_snapshot::scan_verified(table where, const visitor& visit, Scan&& scan) const {
  std::optional<error> damage;
  auto done = scan([&](std::string_view key, std::string_view stored) {
    auto payload = verified_payload(where, key, stored);
    if (payload) return visit(key, *payload);
    damage = damaged_value(where, key);
    return false;
  });
  if (damage) return told(*damage);
  return done.ok() ? done : status(told(done.failure()));
}

status lmdb_snapshot::scan(table where, std::string_view from, std::string_view to, const visitor& visit) const {
  return scan_verified(where, visit, [&](const visitor& inner) { return txn_.scan(where, from, to, inner); });
}

status lmdb_snapshot::scan_reverse(table where, std::string_view from, std::string_view to, const visitor& visit) const {
  return scan_verified(where, visit, [&](const visitor& inner) { return txn_.scan_reverse(where, from, to, inner); });
}

status lmdb_snapshot::scan_all(table where, const inspector& visit) const {
  return txn_.scan(where, {}, {},
                   [&](std::string_view key, std::string_view stored) { return visit(key, verified_payload(where, key, stored)); });
}

// The store reads this row when it opens and refuses a damaged one. So an empty result here means later damage, which the row's own check
// reports.
progress lmdb_snapshot::get_progress() const {
  auto row = get(table::meta, keys::meta(meta::progress_row));
  if (!row || !row->has_value()) return {};
  return meta::decode_progress(**row).value_or(progress{});
}

}  // namespace fairlead::store
