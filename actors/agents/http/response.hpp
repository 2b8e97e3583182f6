#pragma once
// Turns an answer, or its absence, into the end of an attempt.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "actors/agents/backend.hpp"
#include "actors/agents/http/request.hpp"
#include "actors/agents/http/transfer/exchange.hpp"

namespace fairlead::agents {

struct http_circumstances {
  bool repeated = false;  // an earlier attempt or try has sent the same request
  std::int64_t now_unix_ms = 0;
  bool calls_back = false;  // success says only that the work was accepted, and the body may be anything
};

/// The result of a try of a perform or an undo.
attempt_result conclude(const http_prepared_call& call, http_answer answer, const http_circumstances& around = {});

/// The result of a look-up. A look-up changes nothing, so every failure to get an answer is transient, never in doubt.
attempt_result conclude_lookup(const http_prepared_lookup& lookup, http_answer answer, const http_circumstances& around = {});

}  // namespace fairlead::agents
