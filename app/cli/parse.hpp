#pragma once
// From words to a command that has run: the same for `fairlead ...` and for a line of its console.

#include <string>
#include <vector>

#include "app/cli/context.hpp"

namespace fairlead::app {

/// Parses the words, which runs the callback of the command that they name. `help` stands before the name of a command in what is said of bad usage
/// and `after` behind it, such as `fairlead ` and ` --help`. Returns the exit code.
int run_words(CLI::App& app, cli_context& context, std::vector<std::string> words, const std::string& help, const std::string& after);

/// The help of the command that the words name, in the way `fairlead help` takes them. Sets context.code.
void print_help(CLI::App& app, cli_context& context, const std::vector<std::string>& words, const std::string& list);

}  // namespace fairlead::app
