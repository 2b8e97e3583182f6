#pragma once
// Examples in the help of each command.

#include <CLI/CLI.hpp>

namespace fairlead::app {

/// Gives every command in the table its examples. Call when all commands are there.
void add_examples(CLI::App& app);

}  // namespace fairlead::app
