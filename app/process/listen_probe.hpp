#pragma once
// Whether an address can be listened on, found out before anything else is done: a node that starts only to find its port taken would cost
// every running step an attempt.

#include <netdb.h>

#include <functional>
#include <string>

#include "app/config/config.hpp"
#include "messages/error.hpp"

namespace fairlead::app {

/// Binds and lets go again. The error (code unavailable) names the address and the system's reason. Port 0 is always free.
status probe_listen(const listen_address& address);

/// Has `bind_to` take what the host's name leads to; it gives 0 or an errno. Why it could not be done, in words; empty: it was done.
std::string try_listen(const listen_address& address, const std::function<int(const addrinfo&)>& bind_to);

}  // namespace fairlead::app
