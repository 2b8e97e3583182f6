#pragma once
// The `.launch` of expressions, and the input of a launch's task.

#include <cstddef>
#include <string>
#include <string_view>

#include "messages/error.hpp"
#include "messages/task.pb.h"

namespace fairlead::core {

/// {"job", "id", "nominal_utc", "nominal_local", "nominal_unix_s", "zone", "trigger"}: `nominal_utc` as 2026-03-29T01:00:00Z,
/// `nominal_local` with its offset, both with milliseconds where there are some (launches by hand).
std::string launch_document(const v1::LaunchOf& launch);

/// `input` is JSON text whose strings may hold ${ } with plain paths below .launch, and nothing else, since the node itself evaluates them.
/// A string that is one expression becomes its value; inside other text its value must be a string, number or boolean. `$${` in text stands
/// for `${`. Empty text stands for null.
status check_job_input(std::string_view input);

/// `input` has been checked. The result has no insignificant white space.
result<std::string> render_job_input(std::string_view input, const v1::LaunchOf& launch);

}  // namespace fairlead::core
