#pragma once
// The commands of the console: every `fairlead` command that asks a node or a file, under its own name, and what only the console has.
//
// They are parsed by CLI11 from one description, which `help` and the completion read as well. An App serves one line: what an option was given
// in one line must not be there in the next.

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

/// A command that is run again and again.
struct watch_plan {
  console_words command;
  std::chrono::seconds every{2};
  std::uint32_t times = 0;  // 0: until somebody ends it
};

/// What commands leave for those after them, and for the console itself.
struct console_memory {
  counters_memory counters;
  std::optional<watch_plan> watch;  // the last command was `watch`
  bool quit = false;                // it was `quit`
};

class console_parser {
 public:
  /// Both must outlive it.
  console_parser(cli_context& context, console_memory& memory);

  CLI::App& app() { return app_; }
  /// Short names written out: `tasks` is `task list`, `task ID` is `task show ID`, `job NAME` likewise; a `fairlead` in front is left out.
  console_words expand(const console_words& words) const;
  /// Runs one command. Returns the exit code.
  int run(const console_words& words);

 private:
  void help(const console_words& words);
  std::string overview() const;
  /// Refuses what a watch must not do again and again, or cannot bound.
  status check_watch(const watch_plan& plan) const;

  cli_context& context_;
  console_memory& memory_;
  CLI::App app_;
};

/// A name that stands for the beginning of another command.
struct console_alias {
  const char* name;
  std::vector<std::string> stands_for;
  const char* summary;
};
const std::vector<console_alias>& console_aliases();

void add_console_views(CLI::App& app, cli_context& context, console_memory& memory);  // app/console/views/looks.cpp
void add_console_actions(CLI::App& app, cli_context& context);                        // app/console/views/actions.cpp

}  // namespace fairlead::app
