#include "store/rows/alert_rows.hpp"

#include "store/keys.hpp"
#include "store/load.hpp"

namespace fairlead::store {

bool is_unresolved(const v1::AlertRecord& record) {
  return record.state() == v1::ALERT_STATE_OPEN || record.state() == v1::ALERT_STATE_ACKNOWLEDGED;
}

void put_alert(batch& out, const v1::AlertRecord& record) {
  const auto index = keys::unresolved_alert(default_namespace, record.number());
  out.put(table::alert, keys::alert(default_namespace, record.number()), record.SerializeAsString());
  if (is_unresolved(record)) {
    out.put(table::unresolved_alert, index, {});
  } else {
    out.erase(table::unresolved_alert, index);
  }
}

void erase_alert(batch& out, std::uint64_t number) {
  out.erase(table::alert, keys::alert(default_namespace, number));
  out.erase(table::unresolved_alert, keys::unresolved_alert(default_namespace, number));
}

result<std::optional<v1::AlertRecord>> load_alert(const snapshot& from, std::uint64_t number) {
  return load<v1::AlertRecord>(from, table::alert, keys::alert(default_namespace, number));
}

status for_each_unresolved(const snapshot& from, const std::function<bool(const v1::AlertRecord&)>& visit) {
  status outcome = nothing{};
  const auto all = keys::of_namespace(default_namespace);
  auto scanned = from.scan(table::unresolved_alert, all, keys::after(all), [&](std::string_view key, std::string_view) {
    const auto entry = keys::decode_unresolved_alert(key);
    if (!entry) {
      outcome = damaged_value(table::unresolved_alert, key);
      return false;
    }
    auto found = load_alert(from, entry->number);
    if (!found) {
      outcome = found.failure();
      return false;
    }
    // An entry without a row is for a check to find: the other alerts are visited all the same.
    return !found->has_value() || visit(**found);
  });
  return outcome ? scanned : outcome;
}

}  // namespace fairlead::store
