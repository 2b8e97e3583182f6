#pragma once
// Reads labels of options.

#include <string>
#include <vector>

#include "messages/api.pb.h"
#include "messages/error.hpp"

namespace fairlead::app {

/// Reads `key=value` texts. A value may be empty and may contain `=`. Errors: no `=`, an empty key,
/// the same key twice.
result<std::vector<v1::Label>> parse_labels(const std::vector<std::string>& texts);

}  // namespace fairlead::app
