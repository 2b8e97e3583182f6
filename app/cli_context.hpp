#pragma once
// What all commands share: the common options, how they reach a node, and how they end.
//
// A command group adds its commands with callbacks that leave an exit code in `code`. The common options stand at every command that uses
// them and not in the middle of a line, where a task or workflow named like a command would be taken for one.

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "actors/client.hpp"
#include "app/exit_codes.hpp"

namespace fairlead::app {

struct cli_context {
  std::string nodes = "127.0.0.1:7100";
  std::string timeout;  // as given; empty: the command's default
  bool json = false;
  int code = exit_ok;
};

void add_json_option(CLI::App& command, cli_context& context);
/// `--node`, `--timeout` and `--json`. `timeout_help` says what the timeout means here.
void add_client_options(CLI::App& command, cli_context& context,
                        const std::string& timeout_help = "How long to wait for the answer (default 15s)");

/// `--timeout`, or nullopt when it is not given. Error: invalid_argument.
result<std::optional<duration>> timeout_of(const cli_context& context);

/// Connects to the first of `--node` that answers. With `--timeout` it keeps trying for that long, else it goes round once.
/// `request_timeout` is the default when `--timeout` is not given.
result<client> connect(const cli_context& context, duration request_timeout = std::chrono::seconds{15});
/// The same with a timeout that is not the one of requests (`--timeout` bounds something else).
result<client> connect_with(const cli_context& context, duration request_timeout, duration connect_timeout);

/// Splits `--node`.
std::vector<std::string> split_nodes(const std::string& text);

/// `fairlead: SENTENCE` and the remedy on the next line, to stderr. Returns the exit code.
int fail(const error& why);

/// To stdout; a reader that is gone or a disk that is full is an error, not a success. Sets context.code.
void print(cli_context& context, const std::string& text);

/// Runs `ask` with a connected client and prints what `show` makes of the reply, as JSON or for people.
template <class Ask, class ShowJson, class ShowText>
void run_request(cli_context& context, Ask&& ask, ShowJson&& show_json, ShowText&& show_text) {
  auto connected = connect(context);
  if (!connected) {
    context.code = fail(connected.failure());
    return;
  }
  auto reply = ask(*connected);
  if (!reply) {
    context.code = fail(reply.failure());
    return;
  }
  print(context, context.json ? show_json(*reply) + "\n" : show_text(*reply));
}

}  // namespace fairlead::app
