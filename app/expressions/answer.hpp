#pragma once
// What an expression worker answers: from the bytes of a request to the bytes of its reply. Neither a process nor a limit is in it, so that
// tests and the simulator evaluate with this very code.

#include <cstddef>
#include <optional>
#include <string>

#include "app/expressions/program_cache.hpp"

namespace fairlead::app {

/// Compiled programs that a worker keeps.
inline constexpr std::size_t expression_programs_kept = 512;

/// `request` is a serialized v1::EvaluateRequest, the answer a serialized v1::EvaluateReply with the request's ticket: one result for each
/// expression, or an error. A request without a document only asks whether its expressions compile. Nullopt: `request` is none.
std::optional<std::string> answer_request(const std::string& request, program_cache& programs);

}  // namespace fairlead::app
