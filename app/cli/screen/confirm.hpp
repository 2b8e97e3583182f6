#pragma once
// The question before an action that cannot be taken back.

#include <string>

#include "messages/error.hpp"

namespace fairlead::app {

/// Asks whether to do `what`, such as `delete job nightly`; OK: the answer was yes. `which` ends the question. The question goes to stderr,
/// so that stdout has only the answer of the command. Errors: invalid_argument (nobody can be asked), wrong_state (the answer was not yes).
status confirm(const std::string& what, const std::string& which = {});

}  // namespace fairlead::app
