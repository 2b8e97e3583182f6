#pragma once
// Settings for agents of every kind, from the node file, read by app/config/agent_settings.cpp (docs/agents.md).

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "messages/agent.pb.h"
#include "messages/workflow.pb.h"

namespace fairlead::agents {

/// Tries of one attempt inside its lease: after transient faults only, under the same key, with the same input. A further try begins only
/// if it can end before complete_by.
struct retry_policy {
  std::uint32_t tries = 1;          // including the first
  v1::Backoff backoff;              // between tries; its zero fields mean 100 ms, factor 2, 5 s
  std::int64_t try_timeout_ms = 0;  // of one try; 0: the rest of the lease
};

struct agent_settings {
  std::vector<v1::Label> labels;  // of this instance
  v1::BreakerPolicy breaker;      // of the service
  std::vector<v1::LimitPolicy> limits;
  retry_policy retry;
  std::map<std::string, retry_policy> call_retry;  // complete policies of the calls that have their own
  /// Secrets that a step's input may name as $secret{NAME}; others are refused (permanent, code secret_not_allowed).
  std::vector<std::string> input_secrets;
};

}  // namespace fairlead::agents
