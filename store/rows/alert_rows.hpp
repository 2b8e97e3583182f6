#pragma once
// How an alert becomes rows: its record, and its number in the index of those that are not resolved, so that a list of them and a courier
// that starts anew read only what is open however many there have been.

#include <cstdint>
#include <functional>
#include <optional>

#include "messages/api.pb.h"
#include "store/batch.hpp"
#include "store/store.hpp"

namespace fairlead::store {

/// Open or acknowledged.
bool is_unresolved(const v1::AlertRecord& record);

/// Adds the row and puts the index right for the record's state, whatever it was before.
void put_alert(batch& out, const v1::AlertRecord& record);

/// Row and index entry.
void erase_alert(batch& out, std::uint64_t number);

/// nullopt: there is no such alert.
result<std::optional<v1::AlertRecord>> load_alert(const snapshot& from, std::uint64_t number);

/// Calls `visit(record)` for every alert that is not resolved, oldest first, until it gives false.
status for_each_unresolved(const snapshot& from, const std::function<bool(const v1::AlertRecord&)>& visit);

}  // namespace fairlead::store
