#pragma once
// Finds the gateway behind one address, off the client actor's thread: resolving and connecting block.

#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "actors/protocol/address.hpp"
#include "actors/protocol/handles.hpp"

namespace fairlead {

struct connect_order {
  std::size_t index = 0;  // returned in the outcome
  client_address address;
  std::set<std::string> needs = {};  // signatures that the published actor must have; empty: all of this release's gateway
};

struct connect_outcome {
  std::size_t index = 0;
  gateway_actor gateway;  // invalid on failure
  std::string reason;     // of the failure, for operators
};

}  // namespace fairlead

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fairlead::connect_order)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fairlead::connect_outcome)

namespace fairlead {

/// Every order is answered within `connect_limit` plus `handshake_limit`, plus the time of the system's resolver.
using connector_actor = caf::typed_actor<caf::replies_to<connect_order>::with<connect_outcome>>;

inline constexpr duration connect_limit = std::chrono::seconds{1};
/// A port that accepts a connection and sends nothing is given up after this time.
inline constexpr duration handshake_limit = std::chrono::seconds{2};

/// Spawn it detached.
connector_actor::behavior_type make_connector(connector_actor::pointer self);

}  // namespace fairlead
