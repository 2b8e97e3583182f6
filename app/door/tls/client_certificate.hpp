#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fairlead::app::door {

/// What a client has shown in the handshake. It has proved there that it has the key.
struct client_certificate {
  std::string trouble;             // why it is not valid, as a sentence; empty: it is
  std::vector<std::string> names;  // of a valid one: `spiffe://example.org/agent`, `dns:n1.example.org` in lower case, `cn:ben`
  std::int64_t ends_unix_ms = 0;
};

}  // namespace fairlead::app::door
