#pragma once
// From what came back, or did not, to the end of an attempt.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "actors/agents/backend.hpp"
#include "actors/agents/http/request.hpp"
#include "actors/agents/http/transfer/exchange.hpp"

namespace fairlead::agents {

struct http_circumstances {
  bool repeated = false;  // the same request has been sent in an earlier attempt or try
  std::int64_t now_unix_ms = 0;
};

/// The result of a try of a perform or an undo.
attempt_result conclude(const http_prepared_call& call, http_answer answer, const http_circumstances& around = {});

/// What a lookup found out. It changes nothing, so whatever keeps it from an answer is transient, never in doubt.
attempt_result conclude_lookup(const http_prepared_lookup& lookup, http_answer answer, const http_circumstances& around = {});

}  // namespace fairlead::agents
