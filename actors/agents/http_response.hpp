#pragma once
// From what came back, or did not, to the end of an attempt.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/agents/backend.hpp"
#include "actors/agents/http_request.hpp"
#include "actors/core/expression.hpp"

namespace fairlead::agents {

/// How an exchange ended. Made by the loop, judged by conclude().
struct http_answer {
  enum class ending {
    answered,    // a status and its headers arrived; the body may be cut (see `cut`)
    not_sent,    // it failed before the first byte of the request: `code` and `message` say why
    impossible,  // libcurl refuses the request itself; nothing was sent
    lost,        // it failed after the request had begun to be sent: `code` and `message` say why
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

/// The result of an attempt.
attempt_result conclude(const http_prepared_call& call, http_answer answer);

/// A call's `output`, compiled.
struct compiled_output {
  core::input_template value;
  bool mentions_body = false;
};

/// Output templates read `.status` (a number), `.headers.NAME` (a string; names in lower case with _ for -, repeated ones joined by
/// ", ") and `.body` (JSON). Inside they are templates over `.input.status` and so on, with the response in the place of the input, since
/// `.status` means something else to a workflow.
result<compiled_output> compile_output(std::string_view output_json);

}  // namespace fairlead::agents
