#pragma once
// Shared by all commands: the common options, the connection to a node, and the end of a command.
//
// A command group adds commands whose callbacks set `code` to the exit code. Each command has its
// own copy of the common options. They cannot be given between group and command: a task or
// workflow with a command's name would be taken for the command.

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

/// A client, or the error of the connection attempt. The client belongs to one command, or is kept
/// for later commands.
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

/// Keeps clients for the later commands of the same process.
class client_keeper {
 public:
  virtual ~client_keeper() = default;
  virtual connected_client get(const client_options& options) = 0;
};

struct cli_context {
  std::string nodes = "127.0.0.1:7100";
  std::string token_file, ca_file;  // as typed: for nodes that are asked over their API
  std::string timeout;              // as typed; empty: the command's default
  bool json = false;
  bool yaml = false;      // the JSON is printed as YAML
  std::string unprinted;  // JSON of a line that has not ended, while it is printed as YAML
  int code = exit_ok;
  std::shared_ptr<client_keeper> keeper;  // null: each command makes its own connection
  std::function<bool()> stop;             // null, or: true once nobody waits for the command any longer
};

void add_json_option(CLI::App& command, cli_context& context);
/// `--journal`, of a command that opens the store in `of` without a node.
void add_journal_option(CLI::App& command, std::string& to, const std::string& of);
/// `-q`, of a list, and the options of its table. With it only names (`what`: ids, names, numbers), one a line, and nothing at all if there are none. Call after the option
/// --json was added.
std::shared_ptr<bool> add_quiet_option(CLI::App& command, const std::string& what);
/// `--columns` and `--sort`, of a command that prints one table.
void add_table_options(CLI::App& command);
/// What `-q` of a list prints: `word(item)` of each that has one, one a line.
template <class Items, class Word>
std::string only(const Items& items, Word word) {
  std::string out;
  for (const auto& item : items)
    if (const auto& one = word(item); !one.empty()) (out += one) += '\n';
  return out;
}
/// `-w`, `--utc` and `--local`: how text is shown.
void add_screen_options(CLI::App& command);
/// Adds `--node`, `--token-file`, `--ca-file`, `--timeout`, `--json` and the screen options. `timeout_help` is the help text of `--timeout`.
void add_client_options(CLI::App& command, cli_context& context,
                        const std::string& timeout_help = "How long to wait for the answer (default 15s)");

/// The value of `--timeout`; nullopt if absent. Error: invalid_argument.
result<std::optional<duration>> timeout_of(const cli_context& context);

/// Whether one of these addresses of nodes is that of an API, or is none at all.
bool asks_an_api(const std::vector<std::string>& nodes);
/// Of a client of these nodes, with the token of `--token-file` or FAIRLEAD_TOKEN if one of them is asked over its API. Errors: invalid_argument.
result<client_options> options_of(const cli_context& context, duration request_timeout, duration connect_timeout);

/// Connects to the first node of `--node` that answers. With `--timeout` it retries for that long;
/// without, it tries each node once. `request_timeout` applies when `--timeout` is absent.
connected_client connect(const cli_context& context, duration request_timeout = std::chrono::seconds{15});
/// As connect(), for commands whose `--timeout` limits something other than requests.
connected_client connect_with(const cli_context& context, duration request_timeout, duration connect_timeout);
/// As connect(), for a command that goes on waiting: each node is tried once, and no request takes longer than `longest` or `--timeout`.
connected_client connect_to_wait(const cli_context& context, duration longest);
/// As connect_with(), with a client of its own: for a command that registers a handler in the
/// client.
connected_client connect_alone(const cli_context& context, duration request_timeout, duration connect_timeout);

/// Whether nobody waits for the command any longer, so that it should end.
bool stopped(const cli_context& context);

/// Splits the value of `--node` at its commas.
std::vector<std::string> split_nodes(const std::string& text);

/// The output of commands, in place of stdout and stderr.
class command_output {
 public:
  virtual ~command_output() = default;
  /// False: the output is not wanted any longer, and the command should end.
  virtual bool say(const std::string& text) = 0;
  virtual void complain(const std::string& text) = 0;
};

/// During its lifetime the commands of this thread write to `to`.
class speak_to {
 public:
  explicit speak_to(command_output& to);
  ~speak_to();
  speak_to(const speak_to&) = delete;
  speak_to& operator=(const speak_to&) = delete;

 private:
  command_output* before_;
};

/// During its lifetime `fail` of this thread writes JSON, if that is wanted: `{"error":{"code","sentence","remedy","exit_code"}}`.
class errors_in_json {
 public:
  explicit errors_in_json(bool wanted);
  ~errors_in_json();
  errors_in_json(const errors_in_json&) = delete;
  errors_in_json& operator=(const errors_in_json&) = delete;

 private:
  bool before_;
};

/// Writes `fairlead: SENTENCE` and, on the next line, the remedy to stderr. Returns the exit code.
int fail(const error& why);

/// The same, if a list lacks shards: that the list is not complete, and why. 0 if it lacks none.
int fail_if_missing(const google::protobuf::RepeatedPtrField<v1::Error>& missing);

/// Writes to stdout, text in lines that fit the screen. A closed pipe or a full disk is an error, not a success. Sets context.code.
void print(cli_context& context, const std::string& text);

/// Runs `ask` with a connected client and prints the reply, by `show_json` or by `show_text`.
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
  if constexpr (requires { reply->missing(); })
    if (!reply->missing().empty()) context.code = fail_if_missing(reply->missing());
}

}  // namespace fairlead::app
