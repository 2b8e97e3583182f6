#include "app/cli/context.hpp"
#include "app/json/times.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "actors/agents/secrets/file.hpp"
#include "actors/client/node_address.hpp"
#include "app/cli/screen/screen.hpp"
#include "app/cli/words.hpp"
#include "app/json/writer.hpp"

namespace fairlead::app {

namespace {

thread_local command_output* spoken_to = nullptr;

}  // namespace

speak_to::speak_to(command_output& to) : before_(std::exchange(spoken_to, &to)) {}
speak_to::~speak_to() { spoken_to = before_; }

bool stopped(const cli_context& context) { return context.stop && context.stop(); }

void add_journal_option(CLI::App& command, std::string& to, const std::string& of) {
  command.add_option("--journal", to, "Directory of the journal (journal.path in the node file), if it is not in " + of + " or beside it");
}

void add_json_option(CLI::App& command, cli_context& context) {
  auto* json = command.add_flag("--json", context.json, "Print one JSON object, for programs");
  // The --output of `task settle` is that of a task.
  const auto taken = command.get_option_no_throw("--output") != nullptr;
  command
      .add_option_function<std::string>(
          taken ? "-o" : "-o,--output",
          [&context](const std::string& format) {
            context.yaml = format == "yaml";
            context.json = context.yaml || format == "json";
            if (format == "wide") show_as_written();
          },
          "How to print: text, wide (as --wide), json (as --json) or yaml")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "wide", "json", "yaml"}))
      ->excludes(json);
}

void add_table_options(CLI::App& command) {
  command
      .add_option_function<std::vector<std::string>>(
          "--columns", [](const std::vector<std::string>& titles) { shown_on().columns = titles; },
          "Only these columns of the table, in this order: task,state,why")
      ->type_name("NAMES")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option_function<std::string>(
          "--sort", [](const std::string& title) { shown_on().sort = title; }, "Sort the table by this column; -NAME: the last first")
      ->type_name("NAME");
}

void add_client_options(CLI::App& command, cli_context& context, const std::string& timeout_help) {
  // CLI11 reads the environment for commands that were not chosen, too: these must not write where the chosen one does.
  const auto take = [&context, &command](const std::string& nodes) {
    if (command.parsed()) context.nodes = nodes;
  };
  auto* node =
      command
          .add_option_function<std::string>(
              "--node", take,
              "Nodes to ask, HOST:PORT[,HOST:PORT...]; when a node cannot be reached, the next one is asked. From another machine: "
              "https://HOST:PORT of an API; on this one also unix:PATH")
          ->type_name("ADDRESSES")
          ->default_str(context.nodes);
  // In a console the default is the console's --node. FAIRLEAD_NODE was read when the console
  // started.
  if (!context.keeper) node->envname("FAIRLEAD_NODE");
  command.add_option("--token-file", context.token_file, "File with the token of the API (default: the token in FAIRLEAD_TOKEN)")
      ->type_name("FILE");
  command
      .add_option("--ca-file", context.ca_file,
                  "File with the authority of the API's certificate, PEM (default: FAIRLEAD_CA_FILE, else those that this machine trusts)")
      ->type_name("FILE");
  command.add_option("--timeout", context.timeout, timeout_help)->type_name("DURATION");
  add_json_option(command, context);
  add_screen_options(command);
}

void add_screen_options(CLI::App& command) {
  command.add_flag_callback("-w,--wide", show_as_written, "Use lines of any length, also on a terminal");
  auto* utc = command.add_flag_callback(
      "--utc", [] { shown_on().moments = screen::times::utc; }, "Show times in UTC instead of ages");
  command
      .add_flag_callback(
          "--local", [] { shown_on().moments = screen::times::local; }, "Show times by the clock of this machine")
      ->excludes(utc);
}

std::shared_ptr<bool> add_quiet_option(CLI::App& command, const std::string& what) {
  auto out = std::make_shared<bool>(false);
  command.add_flag("-q,--quiet", *out, "Print only the " + what + ", one a line")->excludes(command.get_option("--json"));
  add_table_options(command);
  return out;
}

result<std::optional<duration>> timeout_of(const cli_context& context) {
  if (context.timeout.empty()) return std::optional<duration>{};
  const auto ms = read_duration("--timeout", context.timeout, 1);
  if (!ms) return ms.failure();
  return std::optional<duration>{duration{*ms}};
}

std::vector<std::string> split_nodes(const std::string& text) {
  std::vector<std::string> out;
  std::size_t from = 0;
  for (;;) {
    auto comma = text.find(',', from);
    out.push_back(text.substr(from, comma == std::string::npos ? std::string::npos : comma - from));
    if (comma == std::string::npos) return out;
    from = comma + 1;
  }
}

bool asks_an_api(const std::vector<std::string>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const std::string& node) {
    const auto address = parse_node_address(node);
    return !address || address->is_of_api();
  });
}

namespace {

std::string from_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

result<client_options> options_of(const cli_context& context, duration request_timeout, duration connect_timeout) {
  client_options out;
  out.nodes = split_nodes(context.nodes);
  out.request_timeout = request_timeout;
  out.connect_timeout = connect_timeout;
  if (!asks_an_api(out.nodes)) {
    // Those of a console are for other commands of it, too.
    if (context.keeper || (context.token_file.empty() && context.ca_file.empty())) return out;
    return invalid("--token-file and --ca-file are for the API of a node, and --node names none",
                   "Give its address as https://HOST:PORT or unix:PATH");
  }
  out.ca_file = context.ca_file.empty() ? from_environment("FAIRLEAD_CA_FILE") : context.ca_file;
  out.token = from_environment("FAIRLEAD_TOKEN");
  if (context.token_file.empty()) return out;
  agents::secret_file_mark mark;
  auto token = agents::read_secret_file(context.token_file, mark);
  if (!token) {
    auto why = token.failure();
    why.sentence = "--token-file: " + why.sentence;
    return why;
  }
  out.token = std::move(*token);
  return out;
}

connected_client connect(const cli_context& context, duration request_timeout) {
  auto timeout = timeout_of(context);
  if (!timeout) return timeout.failure();
  return connect_with(context, timeout->value_or(request_timeout), timeout->value_or(duration{0}));
}

connected_client connect_with(const cli_context& context, duration request_timeout, duration connect_timeout) {
  if (!context.keeper) return connect_alone(context, request_timeout, connect_timeout);
  const auto options = options_of(context, request_timeout, connect_timeout);
  return options ? context.keeper->get(*options) : connected_client{options.failure()};
}

connected_client connect_to_wait(const cli_context& context, duration longest) {
  const auto timeout = timeout_of(context);
  if (!timeout) return timeout.failure();
  return connect_with(context, std::min(longest, timeout->value_or(longest)), duration{0});
}

connected_client connect_alone(const cli_context& context, duration request_timeout, duration connect_timeout) {
  auto options = options_of(context, request_timeout, connect_timeout);
  if (!options) return options.failure();
  const bool over_api = asks_an_api(options->nodes);
  auto connected = client::connect(std::move(*options));
  if (!connected && connected.failure().code == v1::ERROR_CODE_UNAVAILABLE && !over_api) {
    auto why = connected.failure();
    why.remedy =
        "Start one with 'fairlead node --config FILE', or name another with --node HOST:PORT or FAIRLEAD_NODE. The address of an API "
        "(api.listen) begins with http:// or https://";
    return why;
  }
  if (!connected) return connected.failure();
  return std::make_shared<client>(std::move(*connected));
}

namespace {

/// Makes an article at the beginning a capital. Any other first word may be a name and stays
/// unchanged.
std::string begun_large(std::string sentence) {
  static constexpr std::array articles{"there", "the", "a", "an", "no", "this"};
  const auto word = std::string_view{sentence}.substr(0, sentence.find(' '));
  if (std::find(articles.begin(), articles.end(), word) != articles.end()) sentence[0] = static_cast<char>(sentence[0] - 'a' + 'A');
  return sentence;
}

}  // namespace

namespace {

thread_local bool json_is_wanted = false;

/// On one line, so that a program finds it below what else a command says.
std::string error_json(const error& why) {
  json_writer out;
  out.begin_object().key("error").begin_object().key("code").string(code_word(why.code));
  out.key("sentence").string(begun_large(as_sentence(why.sentence)));
  out.key("remedy").string(why.remedy.empty() ? "" : begun_large(as_sentence(why.remedy)));
  return out.key("exit_code").number(std::int64_t{exit_code_of(why.code)}).end_object().end_object().text() + "\n";
}

}  // namespace

errors_in_json::errors_in_json(bool wanted) : before_(std::exchange(json_is_wanted, wanted)) {}
errors_in_json::~errors_in_json() { json_is_wanted = before_; }

int fail(const error& why) {
  auto text = "fairlead: " + begun_large(as_sentence(why.sentence)) + "\n";
  if (!why.remedy.empty()) text += begun_large(as_sentence(why.remedy)) + "\n";
  if (::isatty(STDERR_FILENO) == 1) text = fitted(text);
  if (json_is_wanted) text = error_json(why);
  if (spoken_to != nullptr) {
    spoken_to->complain(text);
    return exit_code_of(why.code);
  }
  std::fflush(stdout);
  std::fputs(text.c_str(), stderr);
  return exit_code_of(why.code);
}

int fail_if_missing(const google::protobuf::RepeatedPtrField<v1::Error>& missing) {
  if (missing.empty()) return exit_ok;
  auto why = error::from_proto(missing[0]);
  why.sentence = "the list is not complete: " + why.sentence;
  if (missing.size() > 1) why.sentence += ", and " + std::to_string(missing.size() - 1) + " more cannot be reached either";
  return fail(why);
}

namespace {

/// Some commands print a line of JSON in pieces.
std::string ended_lines_as_yaml(cli_context& context, const std::string& what) {
  auto& kept = context.unprinted;
  kept += what;
  std::string out;
  for (auto end = kept.find('\n'); end != std::string::npos; end = kept.find('\n')) {
    out += yaml_of_json(kept.substr(0, end));
    kept.erase(0, end + 1);
  }
  return out;
}

}  // namespace

void print(cli_context& context, const std::string& what) {
  const auto text = context.yaml ? ended_lines_as_yaml(context, what) : context.json ? what : fitted(what);
  if (spoken_to != nullptr) {
    if (!spoken_to->say(text)) context.code = exit_failed;
    return;
  }
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  context.code = fail({v1::ERROR_CODE_DISK, std::string{"The output cannot be written: "} + std::strerror(errno), ""});
}

}  // namespace fairlead::app
