#pragma once
// Applies an agent's TLS configuration to libcurl, and tells whether a service has ended TLS in good order.

#include <curl/curl.h>

#include <unordered_set>

#include "actors/agents/http/transfer/tls_config.hpp"

namespace fairlead::agents {

/// False: libcurl refuses the option.
template <class T>
bool set(CURL* easy, CURLoption option, T value) {
  return curl_easy_setopt(easy, option, value) == CURLE_OK;
}

/// False: libcurl refuses an option, and the handle must not be used.
bool set_tls(CURL* e, const http_tls& tls);

/// The TLS connections of a loop whose service has announced the end (close_notify). If an answer goes on to the end of its connection,
/// only this distinguishes its end from a connection that was cut: libcurl treats both as an end. One thread.
class tls_ends {
 public:
  using connection = const void*;

  /// From now on connections that `e` opens are watched. False: libcurl refuses.
  bool watch(CURL* e);
  /// The present connection of `e`; null if it has no TLS, or uses a library that cannot be watched.
  static connection of(CURL* e);
  bool ended(connection which) const { return ended_.count(which) != 0; }

  void begun(connection which) { ended_.erase(which); }
  void end(connection which) { ended_.insert(which); }

 private:
  std::unordered_set<connection> ended_;
};

}  // namespace fairlead::agents
