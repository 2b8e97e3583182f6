#pragma once
// What becomes of work that a service has accepted, and when and how the service calls back.

#include <cstdint>
#include <optional>
#include <string>

#include "app/simulate/weather.hpp"
#include "messages/agent.pb.h"

namespace fairlead::app::simulate {

/// Under one Idempotency-Key, whichever attempt was accepted.
struct accepted_work {
  std::string callback;            // the latest that the service was given
  std::optional<v1::Fault> fails;  // the work is not done, and never will be under this key
  bool bare = false;               // callbacks have no body, which gives the output null
};

/// After one acceptance.
struct course_of_work {
  std::int64_t in_ms = 0;        // from the acceptance to the callback
  bool loses_work = false;       // nothing is done, and nobody calls back
  bool silent = false;           // the work is done, and nobody calls back
  std::int64_t again_in_ms = 0;  // from the callback to a second one; 0: there is none
  bool differs = false;          // the second one has another output
};

/// At the first acceptance of a key.
void decide_work(accepted_work& out, weather& in, const v1::Perform& what, std::int64_t now_ms);

/// `within_ms`: the time that the step gives the callback.
course_of_work course_of(weather& in, const v1::Perform& what, std::int64_t within_ms, std::int64_t now_ms);

}  // namespace fairlead::app::simulate
