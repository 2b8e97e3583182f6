#pragma once
// The tester at a port: agents reach it as they reach the API of a node.

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "app/agent_check/tester.hpp"
#include "app/config/config.hpp"
#include "messages/error.hpp"

namespace fairlead::app::agent_check {

struct check_options {
  plan what;
  listen_address listen{"127.0.0.1", 0};
  std::vector<std::string> command;             // empty: somebody else starts the agent
  std::int64_t patience_ms = 30'000;            // until an agent that is started registers; of others no limit
  std::function<void(const std::string&)> say;  // what happens, in a line each
};

/// What came of one check.
struct check_report {
  struct line {
    int number;
    std::string words;
    verdict how;
  };
  std::vector<line> rules;
  std::vector<finding> findings;
};

/// Runs all lessons. Errors: unavailable, when nothing can listen there; timed_out, when no agent came; invalid_argument of the command.
result<check_report> check_agent(const check_options& options);

/// The report of a tester that is over.
check_report report_of(const tester& of);

}  // namespace fairlead::app::agent_check
