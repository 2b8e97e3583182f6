#pragma once
// Addresses of nodes as operators write them: of the port between nodes, or of the API. C++17, no CAF.

#include <string>
#include <vector>

#include "actors/protocol/address.hpp"
#include "messages/error.hpp"

namespace fairlead {

struct node_address {
  std::string text;             // as given, for messages
  client_address between = {};  // of the port between nodes; unless `url` is set
  std::string url = {};         // of the API, `https://n1.example:7190`; empty: the address is of the port between nodes
  std::string socket = {};      // the path of the Unix socket that leads there; empty: TCP

  bool is_of_api() const { return !url.empty(); }
};

/// Reads `host:port`, `https://host[:port]`, `http://host[:port]` of this machine, or `unix:PATH`. Error: invalid_argument.
result<node_address> parse_node_address(const std::string& text);

/// Reads all of the texts; at least one is needed.
result<std::vector<node_address>> parse_node_addresses(const std::vector<std::string>& texts);

}  // namespace fairlead
