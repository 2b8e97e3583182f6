#include "store/rows/effect_rows.hpp"

#include <string>

#include "store/keys.hpp"
#include "store/meta_rows.hpp"

namespace fairlead::store {

namespace {

std::string key_of(std::uint64_t number) { return keys::meta(meta::numbered_row(meta::effect_rows, number)); }

}  // namespace

void put_effect(batch& out, const v1::EffectRecord& record) { out.put(table::meta, key_of(record.number()), record.SerializeAsString()); }

void erase_effect(batch& out, std::uint64_t number) { out.erase(table::meta, key_of(number)); }

bool is_effect(std::string_view key) { return key.rfind(keys::meta(meta::effect_rows), 0) == 0; }

status for_each_effect(const snapshot& from, const std::function<bool(const v1::EffectRecord&)>& visit) {
  status outcome = nothing{};
  const auto all = keys::meta(meta::effect_rows);
  auto scanned = from.scan(table::meta, all, keys::after(all), [&](std::string_view key, std::string_view payload) {
    v1::EffectRecord record;
    if (!record.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
      outcome = damaged_value(table::meta, key);
      return false;
    }
    return visit(record);
  });
  return outcome ? scanned : outcome;
}

}  // namespace fairlead::store
