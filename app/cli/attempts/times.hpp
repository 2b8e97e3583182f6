#pragma once
// The attempts of a task as a table.

#include <string>

#include "app/json/attempt_times.hpp"

namespace fairlead::app {

/// `\nAttempts\n` and a table; empty: there are none.
std::string attempts_table(const v1::TaskRecord& record);

}  // namespace fairlead::app
