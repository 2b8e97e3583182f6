#pragma once
// The command line as a whole.

namespace fairlead::app {

/// Runs the command that the arguments name. The exit code (exit_codes.hpp).
int run_command_line(int argc, const char* const* argv);

}  // namespace fairlead::app
