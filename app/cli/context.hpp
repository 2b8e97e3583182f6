#pragma once
// What all commands share: the common options, how they reach a node, and how they end.
//
// A command group adds its commands with callbacks that leave an exit code in `code`. The common options stand at every command that uses
// them and not in the middle of a line, where a task or workflow named like a command would be taken for one.

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/client/client.hpp"
#include "app/process/exit_codes.hpp"

namespace fairlead::app {

/// A client that belongs to this command alone or is kept for those that follow, or why there is none.
class connected_client {
 public:
  connected_client(std::shared_ptr<client> to) : to_(std::move(to)) {}  // NOLINT(google-explicit-constructor)
  connected_client(error why) : why_(std::move(why)) {}                 // NOLINT(google-explicit-constructor)

  bool ok() const { return to_ != nullptr; }
  explicit operator bool() const { return ok(); }
  client& operator*() const { return *to_; }
  client* operator->() const { return to_.get(); }
  const error& failure() const { return why_; }

 private:
  std::shared_ptr<client> to_;
  error why_;
};

/// Where commands that run one after the other in one process get their clients.
class client_keeper {
 public:
  virtual ~client_keeper() = default;
  virtual connected_client get(const client_options& options) = 0;
};

struct cli_context {
  std::string nodes = "127.0.0.1:7100";
  std::string timeout;  // as given; empty: the command's default
  bool json = false;
  int code = exit_ok;
  std::shared_ptr<client_keeper> keeper;  // null: each command connects for itself
  std::function<bool()> stop;             // null or: whether whoever gave the command has lost interest
};

void add_json_option(CLI::App& command, cli_context& context);
/// `--node`, `--timeout` and `--json`. `timeout_help` says what the timeout means here.
void add_client_options(CLI::App& command, cli_context& context,
                        const std::string& timeout_help = "How long to wait for the answer (default 15s)");

/// `--timeout`, or nullopt when it is not given. Error: invalid_argument.
result<std::optional<duration>> timeout_of(const cli_context& context);

/// Connects to the first of `--node` that answers. With `--timeout` it keeps trying for that long, else it goes round once.
/// `request_timeout` is the default when `--timeout` is not given.
connected_client connect(const cli_context& context, duration request_timeout = std::chrono::seconds{15});
/// The same with a timeout that is not the one of requests (`--timeout` bounds something else).
connected_client connect_with(const cli_context& context, duration request_timeout, duration connect_timeout);
/// The same, never shared: for a command that leaves a handler in its client.
connected_client connect_alone(const cli_context& context, duration request_timeout, duration connect_timeout);

/// Whether the command should end because nobody waits for it any more.
bool stopped(const cli_context& context);

/// Splits `--node`.
std::vector<std::string> split_nodes(const std::string& text);

/// Where commands say what they have to say, in place of stdout and stderr.
class command_output {
 public:
  virtual ~command_output() = default;
  /// False: nobody takes it any more, and the command should end.
  virtual bool say(const std::string& text) = 0;
  virtual void complain(const std::string& text) = 0;
};

/// While it lives, the commands that this thread runs speak to `to`.
class speak_to {
 public:
  explicit speak_to(command_output& to);
  ~speak_to();
  speak_to(const speak_to&) = delete;
  speak_to& operator=(const speak_to&) = delete;

 private:
  command_output* before_;
};

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
