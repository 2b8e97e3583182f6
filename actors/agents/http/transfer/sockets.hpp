#pragma once
// Which socket a connection of libcurl has. libcurl tells it of new connections and of those that are at rest, and not of one that is about to
// be used again (CURLINFO_ACTIVESOCKET gives none then), but its ends are known at any time.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fairlead::agents {

/// Both ends of a TCP connection of this machine; its own address follows from them.
struct http_ends {
  std::string_view remote_address;
  int remote_port = 0;
  int local_port = 0;
};

/// Of one loop. What has been closed is forgotten when its number is given out again, so that no more is kept than there are descriptors.
class http_sockets {
 public:
  /// One of `opened` is the connection with these ends; the others were given up. Those that are not open any more do no harm.
  void connected(const std::vector<int>& opened, const http_ends& ends);

  /// True when there is nothing to read on the connection, neither bytes nor its end. False as well when it is not known.
  bool at_rest(const http_ends& ends) const;

 private:
  std::unordered_map<std::string, int> by_ends_;
  std::unordered_map<int, std::string> ends_of_;
};

}  // namespace fairlead::agents
