#pragma once
// Plays an http agent to a service: the same requests that a node sends, and what the service has to make of them.

#include <functional>
#include <string>
#include <vector>

#include "messages/error.hpp"

namespace fairlead::app::agent_check {

struct service_check {
  std::string url;
  std::string undo;    // URL of the undo; empty: there is none
  std::string lookup;  // URL with {perform_key}; empty: there is none
  std::string input = R"({"to":"fairlead-agent-check"})";
  std::function<void(const std::string&)> say;
};

struct service_finding {
  std::string what;  // key, undo or lookup
  std::string sentence;
};

struct service_report {
  std::vector<std::string> seen;  // what was tried
  std::vector<service_finding> findings;
};

/// Errors: unavailable, when the service does not answer; invalid_argument of a URL.
result<service_report> check_service(const service_check& what);

}  // namespace fairlead::app::agent_check
