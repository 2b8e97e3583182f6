#pragma once
// What an http agent's section of a node file says, read and checked by app/config.*, carried out by http.*.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "messages/common.pb.h"

namespace fairlead::agents {

/// A range of HTTP statuses, both ends included: `503`, `5xx`, `500-599`.
struct status_range {
  int first = 0;
  int last = 0;
};

/// Which statuses mean what; the first list that names a status decides: success, transient, in_doubt, permanent. What none names
/// falls to the default map (docs/agents.md): 2xx success; 408, 425, 429, 503 transient; 500, 502, 504 and any other 5xx in doubt;
/// everything else permanent.
struct http_statuses {
  std::vector<status_range> success;
  std::vector<status_range> transient;
  std::vector<status_range> in_doubt;
  std::vector<status_range> permanent;
};

struct http_call {
  std::string method = "POST";
  /// Absolute (`http://…`) or joined to the agent's base_url. `{field}` stands for a top-level field of the step's input (string,
  /// number or boolean), percent-encoded; a field that is not there is a permanent fault (code bad_request_template).
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;  // values may hold {field} too, refused when they contain CR, LF or NUL
  /// Template (core::input_template, plain paths only) over {".input"}: the request body. Empty: the input as it is (for GET and HEAD:
  /// nothing); "none": no body.
  std::string body_template;
  /// Template (plain paths only) over {".status", ".headers", ".body"}: the step's output. Empty: the response body (null when empty).
  std::string output_template;
  http_statuses statuses;
};

struct http_agent_config {
  std::string name;      // the name steps use
  std::string base_url;  // http:// or https://, without a trailing slash
  std::uint32_t concurrency = 64;
  std::int64_t connect_timeout_ms = 2'000;
  std::uint64_t max_response_bytes = 1'048'576;              // a longer response is a fault, in doubt, code response_too_large
  std::vector<std::pair<std::string, std::string>> headers;  // for every call; a call's own of the same name replace them
  std::map<std::string, http_call> calls;
};

}  // namespace fairlead::agents
