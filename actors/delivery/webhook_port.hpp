#pragma once
// Where couriers send their HTTP posts. Production gives them libcurl (webhooks.hpp), tests what they like.

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

  /// Posts once; a 2xx answer is success, anything else an error (code unavailable) that says what came. Returns at once; `done` is called
  /// exactly once, from any thread, within the port's time limit, unless the port is shut down before.
  virtual void post(webhook_post what, std::function<void(status)> done) = 0;
};

/// Why `url` is none that a webhook may have (scheme, host, port, length, control characters, user info); nothing when it is fine.
status check_webhook_url(const std::string& url);

}  // namespace fairlead
