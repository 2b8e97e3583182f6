#pragma once
// Reads a JSON argument of a command.

#include <string>

#include "messages/error.hpp"

namespace fairlead::app {

/// `given` is JSON, @FILE, or @- for standard input. Its value is valid JSON of at most 256 KiB.
/// `what` begins the error sentences: `The input`.
result<std::string> read_json_argument(const std::string& given, const std::string& what);

}  // namespace fairlead::app
