#pragma once
// One line of a batch file: {"id": "...", "input": ANY, "labels": {"k": "v"}, "priority": N, "delay": "30m"}, every
// field optional. docs/cli.md lists the fields.

#include <string>
#include <string_view>

#include "messages/api.pb.h"
#include "messages/error.hpp"

namespace fairlead::app {

/// Makes a submission without a workflow. `input` keeps the line's text byte for byte. Errors give
/// the field and the expected value.
result<v1::Submission> parse_batch_line(std::string_view line);

/// True for a line without content, which is skipped.
bool blank_line(std::string_view line);

}  // namespace fairlead::app
