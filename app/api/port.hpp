#pragma once
// The API as a node serves it.

#include <cstdint>
#include <memory>
#include <optional>

#include "actors/protocol/ports.hpp"
#include "app/api/exchange.hpp"
#include "app/door/listener.hpp"

namespace fairlead::app::api {

/// Serves on return, until the listener is destroyed; what has begun by then may go on in the actor system. No address: null, and nothing is
/// served. The error names the obstacle.
result<std::unique_ptr<door::listener>> serve(const std::optional<listen_address>& address, surroundings in, observer& log);

}  // namespace fairlead::app::api
