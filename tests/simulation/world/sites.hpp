#pragma once
// Who the agents of a run are: instances with their places, and what all instances of one agent have in common.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "actors/agents/settings.hpp"
#include "tests/simulation/world/world.hpp"

namespace fairlead::simulation {

/// When a service is bad: it fails, or it is slow.
struct outage {
  std::int64_t from_us = 0;
  std::int64_t to_us = 0;
  bool slow = false;  // else: it fails
};

/// What all instances of an agent say of their service, and how that fares.
struct agent_profile {
  v1::BreakerPolicy breaker;
  std::vector<v1::LimitPolicy> limits;
  fairlead::agents::retry_policy retry;
  std::int64_t key_valid_for_ms = 0;  // of performs; 0: for ever
  std::vector<outage> outages;
  std::int64_t comes_at_us = 0;  // when the first process of any instance starts
};

/// One instance of an agent, whichever process bears its name at the moment.
struct agent_site {
  std::string agent;
  std::string instance;
  bool local = false;
  bool is_worker = false;  // over HTTP: see agents/worker.hpp
  bool lookups = false;
  bool beats_itself = false;  // only what its handlers report keeps a heartbeat alive
  std::uint32_t capacity = 4;
  std::string zone;  // its label, if it has one
  std::shared_ptr<const agent_profile> profile;

  fairlead::agents::agent_settings settings() const;
};

/// Agents with one or two instances each, local and remote.
/// `some_are_local`: in the process of the first node. `some_are_workers`: some of the others, in one run of three.
std::vector<agent_site> make_sites(world& in, bool some_are_local, bool some_are_workers);

}  // namespace fairlead::simulation
