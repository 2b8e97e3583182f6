#pragma once
// The operator's name in histories, with a default.

#include <CLI/CLI.hpp>
#include <string>

namespace fairlead::app {

/// Adds `--by NAME`. The caller calls `operator_name(given)` when the command runs.
void add_operator_option(CLI::App& command, std::string& given);

/// `given`, else $FAIRLEAD_OPERATOR, else login name and machine, `ana@host`. The result is UTF-8,
/// at most 128 bytes and never empty.
std::string operator_name(const std::string& given);

}  // namespace fairlead::app
