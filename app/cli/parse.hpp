#pragma once
// Parses words and runs the command, for `fairlead ...` and for a line of the console.

#include <memory>
#include <string>
#include <vector>

#include "app/cli/context.hpp"

namespace fairlead::app {

/// How `--help` writes options: their types and defaults, without limits and exclusions.
std::shared_ptr<CLI::FormatterBase> help_formatter();

/// Parses the words and so runs the callback of their command. Errors of usage name the help of the
/// command: `help` comes before its name and `after` behind it, such as `fairlead ` and ` --help`.
/// Returns the exit code.
int run_words(CLI::App& app, cli_context& context, std::vector<std::string> words, const std::string& help, const std::string& after);

/// Prints the help of the command that `words` name, as `fairlead help` does. Sets context.code.
void print_help(CLI::App& app, cli_context& context, const std::vector<std::string>& words, const std::string& list);

}  // namespace fairlead::app
