#pragma once
// The meaning of an HTTP status for a step.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/agents/http/config.hpp"

namespace fairlead::agents {

bool names_status(const std::vector<status_range>& ranges, int status);

/// By the call's own lists (success, transient, in_doubt, permanent, in this order); nullopt: no list has the status.
std::optional<http_meaning> listed_meaning(const http_statuses& statuses, int status);

/// By the default map in config.hpp. `repeated`: an earlier attempt or try has sent the same request.
http_meaning default_meaning(int status, bool repeated);

v1::FaultKind fault_kind_of(http_meaning meaning);

/// `success`, `never_happened`: the word in a node file.
std::string_view meaning_word(http_meaning meaning);

/// `http_503`.
std::string status_code_word(int status);

/// Reads `503`, `5xx` or `500-599`; false for anything else, or outside 100..599.
bool parse_status_range(std::string_view text, status_range& out);

}  // namespace fairlead::agents
