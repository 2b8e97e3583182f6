#include "store/rows/service_rows.hpp"

#include "store/keys.hpp"
#include "store/load.hpp"

namespace fairlead::store {

bool says_nothing(const v1::ServiceRecord& record) {
  const auto closed = record.breaker() == v1::BREAKER_STATE_UNSPECIFIED || record.breaker() == v1::BREAKER_STATE_CLOSED;
  return closed && record.breaker_alert() == 0 && record.absent_since_unix_ms() == 0 && record.absent_alert() == 0 &&
         record.drained().empty();
}

void put_service(batch& out, const v1::ServiceRecord& record) {
  const auto key = keys::service(default_namespace, record.agent());
  if (says_nothing(record))
    out.erase(table::service, key);
  else
    out.put(table::service, key, record.SerializeAsString());
}

status for_each_service(const snapshot& from, const std::function<bool(const v1::ServiceRecord&)>& visit) {
  status outcome = nothing{};
  const auto all = keys::of_namespace(default_namespace);
  auto scanned = from.scan(table::service, all, keys::after(all), [&](std::string_view key, std::string_view payload) {
    v1::ServiceRecord record;
    if (!keys::decode_service(key) || !record.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
      outcome = damaged_value(table::service, key);
      return false;
    }
    return visit(record);
  });
  return outcome ? scanned : outcome;
}

}  // namespace fairlead::store
