#pragma once
// The durable state of services (all instances of one agent name together): a row each, only if it differs from the default.

#include <functional>

#include "messages/task.pb.h"
#include "store/batch.hpp"
#include "store/store.hpp"

namespace fairlead::store {

/// Whether the record is that of a service never heard of.
bool says_nothing(const v1::ServiceRecord& record);

/// Writes the row, or erases it if says_nothing(record).
void put_service(batch& out, const v1::ServiceRecord& record);

/// Calls `visit(record)` for each service, by name, until `visit` returns false.
status for_each_service(const snapshot& from, const std::function<bool(const v1::ServiceRecord&)>& visit);

}  // namespace fairlead::store
