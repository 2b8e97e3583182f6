#pragma once
// What the agents of a rehearsed task do: an answer for each attempt, said beforehand.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "messages/agent.pb.h"
#include "messages/error.hpp"

namespace fairlead::app {

/// The request by which a service says how the work that it has accepted has ended.
struct rehearsed_callback {
  std::int64_t after_ms = 0;    // after the agent's answer
  std::string output = "null";  // JSON text
  std::optional<v1::Fault> fault;
};

struct rehearsed_answer {
  std::int64_t after_ms = 0;    // after the hand-over; beyond the end of the lease it comes too late
  bool never = false;           // there is no answer, and no heartbeat: the lease ends
  std::string output = "null";  // JSON text; only without a fault
  std::optional<v1::Fault> fault;
  v1::LookupVerdict verdict = v1::LOOKUP_VERDICT_UNSPECIFIED;  // of a look-up without fault
  std::optional<rehearsed_callback> callback;
};

/// One attempt, as it was handed over.
struct rehearsed_attempt {
  std::int64_t at_ms = 0;  // since the submission
  std::string step, agent, call;
  v1::Direction direction = v1::DIRECTION_PERFORM;
  std::uint32_t attempt = 0;
  std::string input;  // JSON text
};

class rehearsed_agents {
 public:
  virtual ~rehearsed_agents() = default;
  /// The error says that nobody has said what the attempt is answered.
  virtual result<rehearsed_answer> answer(const rehearsed_attempt& what) = 0;
  /// Whether a perform of the call that is in doubt can be looked up.
  virtual bool looks_up(std::string_view agent, std::string_view call) const = 0;
};

}  // namespace fairlead::app
