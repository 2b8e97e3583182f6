#pragma once
// Who stands in the history of what an operator does, when nobody says it.

#include <CLI/CLI.hpp>
#include <string>

namespace fairlead::app {

/// `--by NAME`. The caller asks `operator_name(given)` once the command runs.
void add_operator_option(CLI::App& command, std::string& given);

/// `given`, else $FAIRLEAD_OPERATOR, else the login name of this process's user and the machine, `ana@host`. UTF-8, at most 128 bytes, never
/// empty.
std::string operator_name(const std::string& given);

}  // namespace fairlead::app
