#pragma once
// JSON as people give it to a command.

#include <string>

#include "messages/error.hpp"

namespace fairlead::app {

/// What `given` stands for: JSON itself, @FILE, or @- for standard input; at most 256 KiB, and valid. `what` begins the sentences of errors:
/// `The input`.
result<std::string> read_json_argument(const std::string& given, const std::string& what);

}  // namespace fairlead::app
