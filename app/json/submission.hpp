#pragma once
// A task to submit as JSON: {"id": "...", "input": ANY, "labels": {"k": "v"}, "priority": N, "delay": "30m"}, every field optional. docs/cli.md lists
// the fields.

#include <string>
#include <string_view>

#include "app/json/fields.hpp"
#include "messages/api.pb.h"
#include "messages/error.hpp"

namespace fairlead::app {

/// Makes a submission without a workflow. `input` keeps the line's text byte for byte. Errors give
/// the field and the expected value.
result<v1::Submission> parse_batch_line(std::string_view line);

/// The body of a request, which names its workflow, too. `pointer`: of the object, empty for a body; on an error that of the field at fault (RFC 6901).
result<v1::Submission> parse_submission(std::string_view body, std::string& pointer);

/// `{"KEY": "VALUE"}`.
json_taker labels_into(google::protobuf::RepeatedPtrField<v1::Label>& out);

/// True for a line without content, which is skipped.
bool blank_line(std::string_view line);

}  // namespace fairlead::app
