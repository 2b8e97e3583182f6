#pragma once
// An http agent's section of a node file, read and checked by app/config/http.cpp, carried out by http.*.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/agents/http/transfer/tls_config.hpp"
#include "actors/agents/secrets/secrets.hpp"
#include "actors/agents/settings.hpp"
#include "messages/common.pb.h"

namespace fairlead::agents {

/// A range of HTTP statuses, both ends included: `503`, `5xx`, `500-599`.
struct status_range {
  int first = 0;
  int last = 0;
};

/// Meanings of statuses; the first list with the status decides: success, transient, in_doubt, permanent. Statuses in no list have the
/// default meaning (docs/agents.md): 2xx success; 408, 425, 429, 503 transient; 500, 502, 504 and any other 5xx in doubt; 409 to a repeated
/// request in doubt; all others permanent.
struct http_statuses {
  std::vector<status_range> success;
  std::vector<status_range> transient;
  std::vector<status_range> in_doubt;
  std::vector<status_range> permanent;
};

/// The meaning of an answer. The first four are for calls; done, never_happened, unknown and transient for look-ups.
enum class http_meaning { success, transient, in_doubt, permanent, done, never_happened, unknown };

/// One line of a call's `rules`: the meaning of an answer that fits, regardless of the lists. Rules are tried in order, before the lists.
struct http_rule {
  std::vector<status_range> status;  // empty: any
  std::string path;                  // plain path into the response, such as `.body.error.code`; empty: the status alone decides
  std::vector<std::string> one_of;   // JSON scalars; the value at the path is one of them
  std::optional<bool> present;       // instead of one_of: whether the path has a value other than null
  http_meaning is = http_meaning::permanent;
  std::string code;     // of a fault: a JSON string, fixed or a template over the response; empty: http_STATUS
  std::string message;  // the same; empty: the default message
};

/// Asks the service about a perform. In URL and headers `{perform_key}` stands for the perform's key and `{key}` for that of the look-up.
struct http_lookup {
  std::string method = "GET";  // or HEAD, POST; never with a body
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::vector<status_range> done;            // empty: 2xx
  std::vector<status_range> never_happened;  // a promise of the service; empty: no status says so
  std::vector<http_rule> rules;
  std::string output_template;  // output of the perform; empty: the response body
};

struct http_idempotency {
  std::string header = "Idempotency-Key";  // header that carries the key
  std::int64_t valid_for_ms = 0;           // how long the service honours a key after its first use; 0: for ever
  bool replays_errors = false;             // the service repeats an error under the same key
};

struct http_call {
  std::string method = "POST";
  /// Absolute (`http://…`) or joined to the agent's base_url. `{field}` stands for a top-level field of the step's input (string, number or
  /// boolean), percent-encoded; a missing field is a permanent fault (code bad_request_template). In an undo `{perform_key}` and `{key}`
  /// stand for keys, as in a look-up, and in a step with a callback `{callback_url}` for its URL.
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;  // values may hold {field} too, refused if it contains CR, LF or NUL
  /// Template (core::input_template, plain paths only) over {".input", ".callback_url"}: the request body. Empty: the input itself (for GET and HEAD:
  /// nothing); "none": no body.
  std::string body_template;
  /// Template (plain paths only) over {".status", ".headers", ".body"}: the step's output. Empty: the response body (null when empty).
  std::string output_template;
  http_statuses statuses;
  std::vector<http_rule> rules;
  http_idempotency idempotency;
  std::optional<http_lookup> lookup;
};

// Limits of the settings.
inline constexpr std::uint32_t max_http_concurrency = 16'384;
inline constexpr std::int64_t max_connect_timeout_ms = 600'000;
inline constexpr std::int64_t min_connection_age_ms = 1'000;
inline constexpr std::int64_t max_connection_age_ms = 86'400'000;
inline constexpr std::uint64_t max_response_limit = 64ULL * 1024 * 1024;
inline constexpr std::uint32_t max_http_redirects = 20;
inline constexpr std::int64_t max_key_valid_for_ms = 3'660LL * 86'400'000;

struct http_agent_config {
  std::string name;      // the name steps use
  std::string base_url;  // http:// or https://, without a trailing slash
  std::uint32_t concurrency = 64;
  std::int64_t connect_timeout_ms = 2'000;
  std::int64_t connection_age_ms = 60'000;       // an older connection is not used again, so that a change of DNS takes effect
  std::uint64_t max_response_bytes = 1'048'576;  // of a body, decompressed; the rest is cut off
  bool compression = false;                      // answers may be compressed
  std::uint32_t redirects = 0;                   // redirects followed
  std::vector<std::string> allow_hosts;          // host, host:port or *.suffix; empty: any
  std::string proxy;                             // http://host:port; empty: none, whatever the environment says
  std::vector<std::string> no_proxy;             // hosts reached without the proxy
  http_tls tls;
  std::vector<std::pair<std::string, std::string>> headers;  // for every call; a call's own header of the same name replaces it
  std::map<std::string, http_call> calls;
  agent_settings settings;                         // for the agent's host
  std::shared_ptr<const agents::secrets> secrets;  // values of `$secret{NAME}` in URLs, headers and bodies; null: none
};

}  // namespace fairlead::agents
