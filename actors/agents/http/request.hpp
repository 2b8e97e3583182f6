#pragma once
// Builds requests from a call's configuration and a step's input. Everything that can be refused is refused when the call is prepared, so a
// running agent only meets bad input.

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "actors/agents/http/config.hpp"
#include "actors/agents/http/document.hpp"
#include "actors/agents/http/rules.hpp"
#include "actors/agents/http/transfer/exchange.hpp"
#include "actors/agents/text_template.hpp"
#include "actors/core/expression/expression.hpp"
#include "messages/agent.pb.h"

namespace fairlead::agents {

/// A request, checked and compiled once.
struct http_prepared_request {
  enum class body_kind { none, input, rendered };

  std::string method;
  field_template url;  // absolute; fields are in its path or query, and in its host only if the agent has a list of hosts
  std::vector<std::pair<std::string, field_template>> headers;
  std::vector<std::string> fields;  // every {field} of url and headers, once
  body_kind body = body_kind::input;
  std::optional<core::input_template> body_template;
  /// Marks in the rendered body, each with the reference that it replaces. A mark cannot be guessed, so nothing in the input is ever taken
  /// for one.
  std::vector<std::pair<std::string, std::string>> body_secrets;
  std::string body_callback;  // such a mark, as a JSON string, of `${ .callback_url }`; empty: the body does not have it
};

/// The look-up of a call; response.hpp judges its answers.
struct http_prepared_lookup {
  http_prepared_request request;
  std::vector<status_range> done;
  std::vector<status_range> never_happened;
  std::vector<http_prepared_rule> rules;
  std::optional<core::input_template> output_template;
  bool needs_json_body = true;
};

/// A call, checked and compiled once.
struct http_prepared_call {
  std::string name;
  http_prepared_request request;
  std::optional<core::input_template> output_template;  // over a response document, see document.hpp
  bool needs_json_body = true;                          // of a response that means success
  http_statuses statuses;
  std::vector<http_prepared_rule> rules;
  http_idempotency idempotency;
  std::optional<http_prepared_lookup> lookup;
};

/// Checks and compiles one call of an agent. The error (invalid_argument) names agent, call and field.
result<http_prepared_call> prepare_call(const http_agent_config& agent, const std::string& name, const http_call& call);

/// Checks the agent's settings apart from its calls.
status check_agent_settings(const http_agent_config& agent);

/// Why no request could be made.
struct http_no_request {
  enum class because { input, secret };
  because why = because::input;
  std::string sentence;  // names the template, field or secret that does not fit; never holds a value
};

/// The request of a try of a perform or an undo, under the call's key; or of the call's look-up. `known` may be null if the configuration
/// names no secret.
std::variant<http_request, http_no_request> build_request(const http_prepared_call& call, const v1::Perform& what, const secrets* known);

}  // namespace fairlead::agents
