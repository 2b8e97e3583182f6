#pragma once
// Agents that wrap an HTTP service. See docs/agents.md for the node file and the duties of a service.

#include <memory>

#include "actors/agents/backend.hpp"
#include "actors/agents/http/config.hpp"
#include "messages/error.hpp"

namespace fairlead::agents {

/// Checks and compiles the whole configuration without starting anything. The error (invalid_argument) names agent, call and field.
status check_http_agent(const http_agent_config& config);

/// A backend with one thread for all transfers. Input that does not fit a call's templates completes inside start() with a permanent fault
/// (code bad_request_template or url_not_allowed); all else completes on that thread. An undo is a request like any other, with two more
/// headers (request.cpp); a look-up is the request in the call's `lookup`. Raises the process's limit on open files as its connections
/// need. Errors as check_http_agent; unavailable if the system gives no thread or libcurl cannot start.
result<std::unique_ptr<backend>> make_http_backend(http_agent_config config);

}  // namespace fairlead::agents
