#pragma once
// The commands of the console: every `fairlead` command that asks a node or a file, under its own
// name, and the console's own commands.
//
// CLI11 parses the commands. `help` and the completion read the same description. Each line gets a
// new App, because option values of one line must not remain for the next.

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/context.hpp"
#include "app/console/counters.hpp"
#include "app/console/line.hpp"

namespace fairlead::app {

/// A command that is repeated.
struct watch_plan {
  console_words command;
  std::chrono::seconds every{2};
  std::uint32_t times = 0;  // 0: until an operator ends the watch
};

/// State that a command leaves for later commands and for the console.
struct console_memory {
  counters_memory counters;
  std::optional<watch_plan> watch;  // set if the last command was `watch`
  bool quit = false;                // the last command was `quit`
};

class console_parser {
 public:
  /// `context` and `memory` must outlive the parser.
  console_parser(cli_context& context, console_memory& memory);

  CLI::App& app() { return app_; }
  /// Expands short names: `tasks` to `task list`, `task ID` to `task show ID`, `job NAME` likewise.
  /// Removes a leading `fairlead`.
  console_words expand(const console_words& words) const;
  /// Runs one command. Returns the exit code.
  int run(const console_words& words);

 private:
  void help(const console_words& words);
  std::string overview() const;
  /// Refuses a command that a watch must not repeat, or whose output has no bound.
  status check_watch(const watch_plan& plan) const;

  cli_context& context_;
  console_memory& memory_;
  CLI::App app_;
};

/// A short name for the first words of a command.
struct console_alias {
  const char* name;
  std::vector<std::string> stands_for;
  const char* summary;
};
const std::vector<console_alias>& console_aliases();

void add_console_views(CLI::App& app, cli_context& context, console_memory& memory);  // app/console/views/looks.cpp
void add_console_actions(CLI::App& app, cli_context& context);                        // app/console/views/actions.cpp

}  // namespace fairlead::app
