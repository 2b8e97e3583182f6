#include "store/rows/deletion_rows.hpp"

#include "store/keys.hpp"
#include "store/meta_rows.hpp"

namespace fairlead::store {

namespace {

std::string deletion_key(std::uint64_t number) { return keys::meta(meta::numbered_row(meta::deletion_rows, number)); }

}  // namespace

void put_deletion(batch& out, std::uint64_t number) { out.put(table::meta, deletion_key(number), {}); }

void erase_deletion(batch& out, std::uint64_t number) { out.erase(table::meta, deletion_key(number)); }

status for_each_deletion(const snapshot& from, const std::function<bool(std::uint64_t number)>& visit) {
  const auto all = keys::meta(meta::deletion_rows);
  status outcome = nothing{};
  const auto scanned = from.scan(table::meta, all, keys::after(all), [&](std::string_view key, std::string_view) {
    const auto number = meta::number_of_row(key);
    if (!number) outcome = damaged_value(table::meta, key);
    return number && visit(*number);
  });
  return outcome ? scanned : outcome;
}

}  // namespace fairlead::store
