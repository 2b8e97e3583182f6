#pragma once
// The socket of each of libcurl's connections. libcurl reports the socket of new and of idle connections, but not of one that is about to
// be used again (CURLINFO_ACTIVESOCKET gives none then). The connection's two ends are known at any time.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fairlead::agents {

/// Both ends of a TCP connection of this machine; its own address follows from these.
struct http_ends {
  std::string_view remote_address;
  int remote_port = 0;
  int local_port = 0;
};

/// The sockets of one loop. A closed socket is forgotten when its number is given out again, so there are never more entries than
/// descriptors.
class http_sockets {
 public:
  /// One of `opened` is the connection with these ends; the others were given up. Closed sockets among these do no harm.
  void connected(const std::vector<int>& opened, const http_ends& ends);

  /// True: nothing can be read on the connection, neither bytes nor its end. False also if that is unknown.
  bool at_rest(const http_ends& ends) const;

 private:
  std::unordered_map<std::string, int> by_ends_;
  std::unordered_map<int, std::string> ends_of_;
};

}  // namespace fairlead::agents
