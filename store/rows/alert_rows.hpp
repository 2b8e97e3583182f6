#pragma once
// The rows of an alert: its record, and an index entry while it is not resolved. So a list of open alerts, or a restarted courier, reads
// only open alerts, however many there have been.

#include <cstdint>
#include <functional>
#include <optional>

#include "messages/api.pb.h"
#include "store/batch.hpp"
#include "store/store.hpp"

namespace fairlead::store {

/// True for open and acknowledged alerts.
bool is_unresolved(const v1::AlertRecord& record);

/// Adds the row and sets the index entry by the record's state, whatever the entry was before.
void put_alert(batch& out, const v1::AlertRecord& record);

/// Erases row and index entry.
void erase_alert(batch& out, std::uint64_t number);

/// nullopt: there is no such alert.
result<std::optional<v1::AlertRecord>> load_alert(const snapshot& from, std::uint64_t number);

/// Calls `visit(record)` for every alert that is not resolved, oldest first, until `visit` returns false.
status for_each_unresolved(const snapshot& from, const std::function<bool(const v1::AlertRecord&)>& visit);

}  // namespace fairlead::store
