#pragma once
// The hosts that an agent may talk to. libcurl's own parser splits URLs, because libcurl will use them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"

namespace fairlead::agents {

/// The destination of a URL.
struct http_origin {
  std::string scheme;  // http or https
  std::string host;    // in lower case, IPv6 in brackets
  std::uint16_t port = 0;
  friend bool operator==(const http_origin& a, const http_origin& b) {
    return a.scheme == b.scheme && a.host == b.host && a.port == b.port;
  }
  /// `host:port`.
  std::string shown() const { return host + ":" + std::to_string(port); }
};

/// nullopt: no absolute http or https URL.
std::optional<http_origin> origin_of(const std::string& url);

/// A list of `host` (on any port), `host:port` and `*.suffix` (any host below the suffix, not the suffix itself; with or without a port).
class http_host_list {
 public:
  /// The error names the entry that has none of these forms.
  static result<http_host_list> parse(const std::vector<std::string>& entries);

  bool empty() const { return entries_.empty(); }
  /// Also true if the list is empty: then every host is allowed.
  bool allows(const http_origin& origin) const;

 private:
  struct entry {
    std::string host;        // without the star
    bool below = false;      // *.suffix: `host` is `.suffix`
    std::uint16_t port = 0;  // 0: any
  };
  std::vector<entry> entries_;
};

/// `location` relative to `base`; nullopt: no http or https URL.
std::optional<std::string> resolve_location(const std::string& base, const std::string& location);

/// Why `url` is not an absolute http or https URL without user info and fragment, as an error (invalid_argument) whose sentence begins with
/// `what`; nullopt: it is one. The sentence never repeats the URL: a path or query may hold a secret.
std::optional<error> why_no_http_url(const std::string& what, const std::string& url);

}  // namespace fairlead::agents
