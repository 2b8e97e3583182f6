#pragma once
// Addresses of gateways as operators write them, and a TCP connection to one within a time limit. C++17, no CAF.

#include <cstdint>
#include <string>
#include <vector>

#include "messages/error.hpp"
#include "messages/time.hpp"

namespace fairlead {

struct client_address {
  std::string text;  // as given, for messages
  std::string host;
  std::uint16_t port = 0;
};

/// Reads `host:port` or `[::1]:port`. Error: invalid_argument, names the text and what was expected.
result<client_address> parse_client_address(const std::string& text);

/// Connects and returns the socket, which the caller owns. The limit does not cover name resolution, which the system's resolver bounds.
/// The error's sentence is the bare reason: `Connection refused`.
result<int> connect_tcp(const client_address& where, duration limit);

}  // namespace fairlead
