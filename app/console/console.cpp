// `fairlead console`: a prompt for operators, which also runs commands from a script.

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "app/cli/commands.hpp"
#include "app/cli/lines.hpp"
#include "app/cli/screen/table.hpp"
#include "app/console/actor.hpp"
#include "app/console/history.hpp"
#include "app/console/reader.hpp"

namespace fairlead::app {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds key_looked_for_every{50};
/// A command may still wait for a node this long after Ctrl-C. The console then abandons the
/// command.
constexpr milliseconds stop_limit{400};
constexpr milliseconds completion_limit{300};
constexpr int exit_interrupted = 130;  // the code that a shell gives after Ctrl-C

class console {
 public:
  explicit console(console_settings settings) : settings_(std::move(settings)) {
    where_.endless = ::isatty(STDIN_FILENO) == 1;
    where_.drawn = where_.endless && ::isatty(STDOUT_FILENO) == 1 && !settings_.json;
    where_.json = settings_.json;
  }

  ~console() {
    // An abandoned command may still wait for a node. The process exits without waiting for the
    // command.
    if (left_.empty()) return;
    actor_.reset();
    std::fflush(nullptr);
    std::_Exit(code_);
  }
  console(const console&) = delete;
  console& operator=(const console&) = delete;

  int prompt();
  int text(const std::string& commands);
  int lines();

 private:
  /// Runs the commands of a text in order. False: the console ends.
  bool take(const std::string& text);
  bool run(const console_words& words);
  console_outcome wait(std::future<console_outcome> done);
  bool enter_pressed();
  void greet();
  console_actor& actor();
  void note(int code) {
    if (code_ == exit_ok) code_ = code;
  }

  console_settings settings_;
  console_actor::screen where_;
  // Set once commands run or the prompt is shown. Before that, Ctrl-C ends the program.
  std::optional<console_signals> signals_;
  std::unique_ptr<console_actor> actor_;
  std::vector<std::unique_ptr<console_actor>> left_;  // actors of abandoned commands
  bool interrupted_ = false;
  int code_ = exit_ok;  // of the first command that failed; at the end, the console's exit code
  std::string prompt_ = "fairlead> ";
};

console_actor& console::actor() {
  if (!actor_) actor_ = std::make_unique<console_actor>(settings_, where_);
  return *actor_;
}

bool console::enter_pressed() {
  pollfd ready{STDIN_FILENO, POLLIN, 0};
  if (::poll(&ready, 1, 0) <= 0) return false;
  char bin[256];
  return ::read(STDIN_FILENO, bin, sizeof bin) >= 0;  // 0: the terminal is gone, which also ends the watch
}

console_outcome console::wait(std::future<console_outcome> done) {
  std::optional<steady_clock::time_point> stopped;
  while (done.wait_for(key_looked_for_every) != std::future_status::ready) {
    const bool watching = actor_->watching();
    if (console_signals::interrupted() || console_signals::ending()) {
      interrupted_ = true;
      if (!stopped) stopped = steady_clock::now();
      actor_->stop();
    } else if (watching && where_.endless && enter_pressed()) {
      actor_->stop();
    }
    if (stopped && steady_clock::now() - *stopped > stop_limit) {
      std::fputs("fairlead: The console does not wait for the command any longer. The node may still carry it out.\n", stderr);
      actor_->abandon();
      left_.push_back(std::move(actor_));
      return {exit_interrupted, false, {}};
    }
  }
  return done.get();
}

bool console::run(const console_words& words) {
  const auto outcome = wait(actor().run(words));
  note(outcome.code);
  return !outcome.quit;
}

bool console::take(const std::string& text) {
  const auto commands = parse_console(text);
  if (!commands) {
    note(fail(commands.failure()));
    return true;
  }
  for (const auto& words : *commands) {
    if (!run(words)) return false;
    if (interrupted_ || console_signals::ending()) break;
  }
  return true;
}

int console::text(const std::string& commands) {
  signals_.emplace();
  take(commands);
  if (interrupted_) code_ = exit_interrupted;
  return code_;
}

/// Runs commands from a pipe or a file, line by line as they arrive.
int console::lines() {
  signals_.emplace();
  auto input = line_reader::open("-");
  if (!input) return fail(input.failure());
  const auto stop = [] { return console_signals::interrupted() || console_signals::ending(); };
  for (std::string line;;) {
    switch (input->next(line, stop)) {
      case line_read::line:
        if (!take(line)) return code_;
        break;
      case line_read::too_long:
        note(
            fail({v1::ERROR_CODE_INVALID_ARGUMENT, "A line is longer than " + std::to_string(line_reader::max_line_bytes) + " bytes", ""}));
        break;
      case line_read::end: return code_;
      case line_read::stopped: return code_ = exit_interrupted;
      case line_read::failed: return code_ = fail({v1::ERROR_CODE_DISK, "Standard input cannot be read", ""});
    }
    if (interrupted_) return code_ = exit_interrupted;
  }
}

/// Asks the node for its name. An unreachable node is an error at once, because a prompt without a
/// node is useless.
void console::greet() {
  auto connected = connect(context_of(settings_));
  if (!connected) return note(fail(connected.failure()));
  const auto status = connected->status_of_node({});
  if (!status) return note(fail(status.failure()));
  std::printf("Connected to node %s, fairlead %s. 'help' lists the commands, Ctrl-D leaves.\n", printable(status->node()).c_str(),
              printable(status->version()).c_str());
  std::fflush(stdout);
  prompt_ = printable(status->node()) + "> ";
}

int console::prompt() {
  greet();
  if (code_ != exit_ok) return code_;
  signals_.emplace();
  console_history history{console_history::default_path()};
  std::string told;
  const auto tell_trouble = [&] {
    if (history.trouble() == told) return;
    told = history.trouble();
    std::fprintf(stderr, "fairlead: %s.\n", told.c_str());
  };
  tell_trouble();
  console_reader reader{[this](const std::string& before) { return actor().complete(before, completion_limit); }, history.lines()};
  for (std::string line;;) {
    switch (reader.next(prompt_, line)) {
      case reader_end::end: return code_ = exit_ok;
      case reader_end::interrupted: continue;
      case reader_end::line: break;
    }
    if (history.add(line)) reader.remember(line);
    tell_trouble();
    interrupted_ = false;
    if (!take(line)) return code_ = exit_ok;
    if (console_signals::ending()) return code_ = exit_ok;
  }
}

}  // namespace

void add_console_command(CLI::App& app, cli_context& context) {
  auto* command =
      app.add_subcommand("console", "Open a prompt for operators: show and control nodes, actors, shards, tasks, jobs and counters");
  auto commands = std::make_shared<std::optional<std::string>>();
  command
      ->add_option("-c,--commands", *commands,
                   "Run these commands, separated by ; or line ends, then exit; the exit code is that of the first command that failed")
      ->type_name("COMMANDS");
  add_client_options(*command, context, "How long each command waits for its answer (default: the default of the command)");
  command->callback([&context, commands] {
    const auto timeout = timeout_of(context);
    if (!timeout) {
      context.code = fail(timeout.failure());
      return;
    }
    console mine{{context.nodes, context.timeout, context.json, context.token_file, context.ca_file}};
    if (*commands)
      context.code = mine.text(**commands);
    else if (::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1)
      context.code = mine.prompt();
    else
      context.code = mine.lines();
  });
}

}  // namespace fairlead::app
