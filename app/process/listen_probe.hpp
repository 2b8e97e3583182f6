#pragma once
// Checks whether an address can be listened on, before anything else is done: a node that starts and then finds its port taken would cost
// every running step an attempt.

#include <netdb.h>

#include <functional>
#include <string>

#include "app/config/config.hpp"
#include "messages/error.hpp"

namespace fairlead::app {

/// Binds and releases the address. The error (code unavailable) names the address and the system's reason. Port 0 is always free.
status probe_listen(const listen_address& address);

/// Calls `bind_to` with the address of the host; `bind_to` returns 0 or an errno. Returns why it failed, as text; empty: it did not.
std::string try_listen(const listen_address& address, const std::function<int(const addrinfo&)>& bind_to);

}  // namespace fairlead::app
