#pragma once
// Sends HTTP posts for couriers. Production uses libcurl (webhooks.hpp), tests use fakes.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "messages/error.hpp"

namespace fairlead {

struct webhook_post {
  std::string url;   // http or https, checked by valid_webhook_url
  std::string body;  // JSON text
  std::vector<std::pair<std::string, std::string>> headers;
};

class webhook_port {
 public:
  virtual ~webhook_port() = default;

  /// Posts once; a 2xx answer is success, anything else an error (code unavailable) that describes the answer. Returns at once. `done` is
  /// called exactly once, from any thread, within the port's time limit, unless the port is shut down before.
  virtual void post(webhook_post what, std::function<void(status)> done) = 0;
};

/// Why `url` cannot be a webhook's (scheme, host, port, length, control characters, user info); ok if it can.
status check_webhook_url(const std::string& url);

}  // namespace fairlead
