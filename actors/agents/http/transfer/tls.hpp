#pragma once
// What an agent's configuration says about TLS, as options of libcurl; and whether a service has ended TLS in good order.

#include <curl/curl.h>

#include <unordered_set>

#include "actors/agents/http/transfer/tls_config.hpp"

namespace fairlead::agents {

/// False when libcurl refuses the option.
template <class T>
bool set(CURL* easy, CURLoption option, T value) {
  return curl_easy_setopt(easy, option, value) == CURLE_OK;
}

/// False when libcurl refuses an option: the handle must not be used.
bool set_tls(CURL* e, const http_tls& tls);

/// The TLS connections of a loop whose service has said that nothing more comes (close_notify). Where an answer goes on to the end of its
/// connection, only that tells its end from a connection that somebody has cut: libcurl takes both for an end. One thread.
class tls_ends {
 public:
  using connection = const void*;

  /// From now on connections that `e` opens are watched. False when libcurl refuses.
  bool watch(CURL* e);
  /// The connection that `e` speaks on now; null where it is none of TLS, or of a library that cannot be watched.
  static connection of(CURL* e);
  bool ended(connection which) const { return ended_.count(which) != 0; }

  void begun(connection which) { ended_.erase(which); }
  void end(connection which) { ended_.insert(which); }

 private:
  std::unordered_set<connection> ended_;
};

}  // namespace fairlead::agents
