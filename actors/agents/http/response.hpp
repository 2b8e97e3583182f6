#pragma once
// From what came back, or did not, to the end of an attempt.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "actors/agents/backend.hpp"
#include "actors/agents/http/request.hpp"

namespace fairlead::agents {

/// How an exchange ended. Made by the loop, judged by conclude().
struct http_answer {
  enum class ending {
    answered,  // a status and its headers arrived; the body may be cut (see `cut`)
    not_sent,  // it failed before the first byte of the request: `code` and `message` say why
    refused,   // it must not be sent at all, or libcurl refuses it: nothing was sent
    lost,      // it failed after the request had begun to be sent: `code` and `message` say why
  };
  enum class damage { none, truncated, too_large };

  ending how = ending::lost;
  std::string code;
  std::string message;
  int status = 0;
  std::string reason;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case, in order of arrival
  std::string body;
  damage cut = damage::none;
  /// How often the request began to be sent; more than 1 after a kept-alive connection broke before any byte of a response.
  std::uint32_t sends = 0;
};

struct http_circumstances {
  bool repeated = false;  // the same request has been sent in an earlier attempt or try
  std::int64_t now_unix_ms = 0;
};

/// The result of a try of a perform or an undo.
attempt_result conclude(const http_prepared_call& call, http_answer answer, const http_circumstances& around = {});

/// What a lookup found out. It changes nothing, so whatever keeps it from an answer is transient, never in doubt.
attempt_result conclude_lookup(const http_prepared_lookup& lookup, http_answer answer, const http_circumstances& around = {});

}  // namespace fairlead::agents
