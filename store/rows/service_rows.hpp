#pragma once
// What is durable about services (all instances of one agent name together): a row each, only while there is something to say.

#include <functional>

#include "messages/task.pb.h"
#include "store/batch.hpp"
#include "store/store.hpp"

namespace fairlead::store {

/// Nothing in it differs from a service that was never heard of.
bool says_nothing(const v1::ServiceRecord& record);

/// Puts the row, or erases it when it says nothing.
void put_service(batch& out, const v1::ServiceRecord& record);

/// Calls `visit(record)` for each, by name, until it gives false.
status for_each_service(const snapshot& from, const std::function<bool(const v1::ServiceRecord&)>& visit);

}  // namespace fairlead::store
