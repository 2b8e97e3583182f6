#pragma once
// What an HTTP status means for a step.

#include <string>
#include <string_view>

#include "actors/agents/http_config.hpp"

namespace fairlead::agents {

enum class status_meaning { success, transient, in_doubt, permanent };

/// By the call's own lists (success, transient, in_doubt, permanent, in this order), else by the default map in http_config.hpp.
status_meaning meaning_of(const http_statuses& statuses, int status);

v1::FaultKind fault_kind_of(status_meaning meaning);

/// `http_503`.
std::string status_code_word(int status);

/// Reads `503`, `5xx` or `500-599`; false for anything else, or outside 100..599.
bool parse_status_range(std::string_view text, status_range& out);

}  // namespace fairlead::agents
