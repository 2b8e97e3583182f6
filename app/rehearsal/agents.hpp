#pragma once
// What the agents of a rehearsed task do, and the children of its steps with `workflow`: said beforehand for each attempt and each child.

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

enum class child_end { completed, failed, undone };

/// A child, of which only its end is rehearsed: its own steps are not carried out.
struct rehearsed_child {
  std::int64_t after_ms = 0;  // from its begin to its end, without the time for which it is parked
  child_end ends = child_end::completed;
  std::string output = "null";             // JSON text; of one that completes
  std::string reason;                      // of one that fails or is undone
  bool stands = false;                     // of one that fails: something that it has done stands
  std::optional<std::string> parked;       // it parks in place of its end, for this reason
  std::optional<std::int64_t> resumed_ms;  // after it has parked: it goes on and ends at once; absent: never
  bool refuses_undo = false;
};

/// One attempt, as it was handed over, or one child, as it began: `agent` is empty, and `call` is the name of its workflow.
struct rehearsed_attempt {
  std::int64_t at_ms = 0;  // since the submission
  std::string step, agent, call;
  std::optional<std::uint32_t> item;  // of a step with `for_each`: as `.index`
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
  /// What becomes of a child. Where nobody has said it, it completes without output.
  virtual rehearsed_child child(const rehearsed_attempt&) { return {}; }
};

}  // namespace fairlead::app
