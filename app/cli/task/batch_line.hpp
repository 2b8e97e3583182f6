#pragma once
// One line of a batch file: {"id": "...", "input": ANY, "labels": {"k": "v"}, "priority": N}, every field optional.

#include <string>
#include <string_view>

#include "messages/api.pb.h"
#include "messages/error.hpp"

namespace fairlead::app {

/// Gives a submission without workflow; `input` is the line's text, byte for byte. Errors name the field and what was expected.
result<v1::Submission> parse_batch_line(std::string_view line);

/// True for a line that says nothing and is passed over.
bool blank_line(std::string_view line);

}  // namespace fairlead::app
