#pragma once
// Operations, as paths of the API name them.

#include <string>

#include "messages/error.hpp"

namespace fairlead::app::api {

/// The path of an operation by the id of its task.
std::string operation_path(const std::string& task_id);
error unknown_operation(const std::string& id);

}  // namespace fairlead::app::api
