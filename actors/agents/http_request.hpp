#pragma once
// From a call's configuration and a step's input to the request that is sent. Everything that can be refused is refused when the call
// is prepared, so a running agent only meets bad input.

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/agents/http_config.hpp"
#include "actors/agents/http_text.hpp"
#include "actors/core/expression.hpp"
#include "messages/agent.pb.h"

namespace fairlead::agents {

/// A call, checked and compiled once.
struct http_prepared_call {
  enum class body_kind { none, input, rendered };

  std::string name;
  std::string method;
  field_template url;  // absolute; fields stand in its path or query only
  std::vector<std::pair<std::string, field_template>> headers;
  std::vector<std::string> fields;  // every {field} of url and headers, once
  body_kind body = body_kind::input;
  std::optional<core::input_template> body_template;
  std::optional<core::input_template> output_template;  // over a response document, see http_response.hpp
  bool needs_json_body = true;                          // of a response that means success
  http_statuses statuses;
};

struct http_request {
  std::string method;
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::optional<std::string> body;
};

/// Checks and compiles one call of an agent. The error (invalid_argument) names agent, call and field.
result<http_prepared_call> prepare_call(const http_agent_config& agent, const std::string& name, const http_call& call);

/// The request of one attempt. An error says which template or field does not fit the input; it never holds a value.
result<http_request> build_request(const http_prepared_call& call, const v1::Perform& what);

}  // namespace fairlead::agents
