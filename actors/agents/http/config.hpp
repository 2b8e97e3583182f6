#pragma once
// What an http agent's section of a node file says, read and checked by app/config/http.cpp, carried out by http.*.

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

/// Which statuses mean what; the first list that names a status decides: success, transient, in_doubt, permanent. What none names
/// falls to the default map (docs/agents.md): 2xx success; 408, 425, 429, 503 transient; 500, 502, 504 and any other 5xx in doubt; 409 to a
/// request that has been sent before in doubt; everything else permanent.
struct http_statuses {
  std::vector<status_range> success;
  std::vector<status_range> transient;
  std::vector<status_range> in_doubt;
  std::vector<status_range> permanent;
};

/// What an answer means. The first four are for calls; done, never_happened, unknown and transient for lookups.
enum class http_meaning { success, transient, in_doubt, permanent, done, never_happened, unknown };

/// One line of a call's `rules`: what an answer that fits means, whatever the lists say. Rules are tried in order, before the lists.
struct http_rule {
  std::vector<status_range> status;  // empty: any
  std::string path;                  // plain path into the response, such as `.body.error.code`; empty: the status alone decides
  std::vector<std::string> one_of;   // JSON scalars; the value at the path is one of them
  std::optional<bool> present;       // in place of one_of: whether there is anything but null at the path
  http_meaning is = http_meaning::permanent;
  std::string code;     // of a fault: a JSON string, fixed or a template over the response; empty: http_STATUS
  std::string message;  // the same; empty: what the default map says
};

/// Asks what became of a perform. In its URL and headers `{perform_key}` stands for the perform's key and `{key}` for the question's own.
struct http_lookup {
  std::string method = "GET";  // or HEAD, POST; never with a body
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::vector<status_range> done;            // empty: 2xx
  std::vector<status_range> never_happened;  // a promise of the service; empty: no status says so
  std::vector<http_rule> rules;
  std::string output_template;  // what the perform would have given; empty: the response body
};

struct http_idempotency {
  std::string header = "Idempotency-Key";  // the name under which the key is sent
  std::int64_t valid_for_ms = 0;           // how long the service honours a key after its first use; 0: for ever
  bool replays_errors = false;             // an error answered under a key is given again under that key
};

struct http_call {
  std::string method = "POST";
  /// Absolute (`http://…`) or joined to the agent's base_url. `{field}` stands for a top-level field of the step's input (string,
  /// number or boolean), percent-encoded; a field that is not there is a permanent fault (code bad_request_template). When the call undoes,
  /// `{perform_key}` and `{key}` stand for keys, as in a lookup.
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;  // values may hold {field} too, refused when they contain CR, LF or NUL
  /// Template (core::input_template, plain paths only) over {".input"}: the request body. Empty: the input as it is (for GET and HEAD:
  /// nothing); "none": no body.
  std::string body_template;
  /// Template (plain paths only) over {".status", ".headers", ".body"}: the step's output. Empty: the response body (null when empty).
  std::string output_template;
  http_statuses statuses;
  std::vector<http_rule> rules;
  http_idempotency idempotency;
  std::optional<http_lookup> lookup;
};

// The bounds of what may be said.
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
  std::int64_t connection_age_ms = 60'000;       // an older connection is not used again, so that a name that moves is followed
  std::uint64_t max_response_bytes = 1'048'576;  // of a body, decompressed; a longer one is cut off
  bool compression = false;                      // whether answers may come compressed
  std::uint32_t redirects = 0;                   // how many are followed
  std::vector<std::string> allow_hosts;          // host, host:port or *.suffix; empty: any
  std::string proxy;                             // http://host:port; empty: none, whatever the environment says
  std::vector<std::string> no_proxy;             // hosts that are reached without it
  http_tls tls;
  std::vector<std::pair<std::string, std::string>> headers;  // for every call; a call's own of the same name replace them
  std::map<std::string, http_call> calls;
  agent_settings settings;                         // for the agent's host
  std::shared_ptr<const agents::secrets> secrets;  // what `$secret{NAME}` in URLs, headers and bodies stands for; null: there are none
};

}  // namespace fairlead::agents
