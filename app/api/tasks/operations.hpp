#pragma once
// An operation, as the API shows it.

#include "app/json/writer.hpp"
#include "messages/api.pb.h"

namespace fairlead::app::api {

/// The path of an operation by the id of its task.
std::string operation_path(const std::string& task_id);
std::string operation_json(const v1::TaskRecord& task);

}  // namespace fairlead::app::api
