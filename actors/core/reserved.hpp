#pragma once
// Names that are the node's own: of the operations that act on many tasks (app/bulk).

#include <string>
#include <string_view>

#include "messages/error.hpp"

namespace fairlead::core {

inline constexpr const char* operations_workflow = "fairlead-operation";
inline constexpr const char* operations_agent = "fairlead.operations";

/// Ids of tasks that begin so are given by the node alone.
inline constexpr std::string_view reserved_ids = "fairlead:";

/// Of a submission.
inline error operations_are_reserved() {
  return {v1::ERROR_CODE_INVALID_ARGUMENT, std::string{"tasks of the workflow "} + operations_workflow + " are submitted by the node alone",
          "use POST /v1/tasks:act of the API to act on many tasks"};
}

}  // namespace fairlead::core
