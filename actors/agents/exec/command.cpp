#include "actors/agents/exec/command.hpp"

#include <algorithm>
#include <array>

#include "actors/core/expression/expression.hpp"
#include "actors/core/text/json.hpp"

namespace fairlead::agents {

namespace {

constexpr std::size_t max_words = 256;
constexpr std::uint32_t max_concurrency = 1'024;
constexpr std::uint64_t max_output_limit = 64ULL * 1024 * 1024;
constexpr std::int64_t max_grace_ms = 60'000;
constexpr std::string_view own_prefix = "FAIRLEAD_";

constexpr std::array<std::pair<const char*, const char*>, 3> default_environment{
    {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"LANG", "C.UTF-8"}, {"TZ", "UTC"}}};

bool has_field(const field_template& word) {
  return std::any_of(word.pieces().begin(), word.pieces().end(), [](const auto& piece) { return !piece.field.empty(); });
}

result<command_template> compile(const std::vector<std::string>& words, std::string_view what) {
  if (words.empty())
    return invalid(std::string{what} + " is empty", "give the program, then its arguments: [/usr/bin/dump, --to, \"{target}\"]");
  if (words.size() > max_words)
    return invalid(std::string{what} + " has more than 256 words", "use a script that has these arguments in it");
  command_template out;
  for (const auto& word : words) {
    // A zero byte would end the word early in the child.
    if (word.find('\0') != std::string::npos)
      return invalid(std::string{what} + " has a character with the code 0", "remove this character");
    if (secrets::mentioned(word))
      return invalid(std::string{what} + " holds a $secret, and everybody on the machine can read the arguments of a command",
                     "pass the secret in the environment or in the input");
    auto compiled = field_template::compile(word, what);
    if (!compiled.ok()) return compiled.failure();
    out.push_back(std::move(compiled).value());
  }
  if (words.front().empty() || words.front().front() != '/' || has_field(out.front()))
    return invalid(std::string{what} + " does not begin with the absolute path of a program",
                   "write an absolute path, such as /usr/local/bin/dump");
  return out;
}

unfit_input bad(std::string sentence) { return {"bad_arguments", std::move(sentence)}; }

// nullopt: the argument is fine.
std::optional<unfit_input> append_word(const field_template& word, std::string_view input, bool after_options, std::string& out) {
  for (const auto& piece : word.pieces()) {
    out += piece.literal;
    if (piece.field.empty()) continue;
    const auto json = core::json_member(input, piece.field);
    if (!json) return bad("the input has no field '" + piece.field + "'");
    const char kind = json->empty() ? 'n' : json->front();
    if (kind == 'n' || kind == '{' || kind == '[') return bad("the field '" + piece.field + "' is not a string, number or boolean");
    // Numbers as written in the input.
    const auto value = kind == '"' ? core::decode_json_string(*json) : std::string{*json};
    if (value.find('\0') != std::string::npos) return bad("the field '" + piece.field + "' has a character with the code 0");
    // A customer's text must not become an option of the program.
    if (out.empty() && kind == '"' && !after_options && !value.empty() && value.front() == '-')
      return bad("the field '" + piece.field +
                 "' begins with '-', so the program would take it as an option; put -- before it in the command");
    out += value;
  }
  if (secrets::mentioned(out))
    return unfit_input{"secret_not_allowed", "an argument would contain a $secret, and everybody on the machine can read arguments"};
  return std::nullopt;
}

}  // namespace

bool parse_exit_range(std::string_view text, exit_range& out) {
  const auto number = [](std::string_view digits, int& into) {
    if (digits.empty() || digits.size() > 3) return false;
    into = 0;
    for (const char c : digits) {
      if (c < '0' || c > '9') return false;
      into = into * 10 + (c - '0');
    }
    return into <= 255;
  };
  exit_range range;
  const auto dash = text.find('-');
  if (!number(text.substr(0, dash), range.first)) return false;
  range.last = range.first;
  if (dash != std::string_view::npos && !number(text.substr(dash + 1), range.last)) return false;
  if (range.last < range.first) return false;
  out = range;
  return true;
}

status check_command(const std::vector<std::string>& words, std::string_view what) {
  const auto compiled = compile(words, what);
  if (!compiled.ok()) return compiled.failure();
  return nothing{};
}

bool valid_variable_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && letter(name.front()) && name.substr(0, own_prefix.size()) != own_prefix &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

result<prepared_commands> prepare_commands(const exec_agent_config& config) {
  const auto who = "agent " + config.name;
  const auto out_of_range = [&](const std::string& key, const std::string& expected) {
    return invalid(who + ": " + key + " is out of range", expected);
  };
  if (config.concurrency == 0 || config.concurrency > max_concurrency) return out_of_range("concurrency", "1 to 1024");
  if (config.max_output_bytes == 0 || config.max_output_bytes > max_output_limit) return out_of_range("max_output", "use 1 byte to 64MiB");
  if (config.stop_grace_ms < 0 || config.stop_grace_ms > max_grace_ms) return out_of_range("stop_grace", "0ms to 1m");
  if (config.directory.empty() || config.directory.front() != '/')
    return invalid(who + ": directory is not an absolute path", "begin it with /");
  if (config.user.empty() && !config.group.empty()) return invalid(who + " has a group but no user", "add user");
  for (const auto& [name, value] : config.environment) {
    if (!valid_variable_name(name))
      return invalid(who + ": '" + name + "' is not a valid variable name",
                     "use letters, digits and _; names that begin with FAIRLEAD_ are reserved for the agent");
    if (value.find('\0') != std::string::npos)
      return invalid(who + ": the variable " + name + " has a character with the code 0", "remove this character");
  }
  if (config.calls.empty()) return invalid(who + " has no calls", "declare at least one under `calls`");
  prepared_commands out;
  for (const auto& [name, call] : config.calls) {
    const auto where = who + ", call " + name + ": ";
    prepared_command prepared;
    prepared.name = name;
    prepared.settings = call;
    auto words = compile(call.command, where + "command");
    if (!words.ok()) return words.failure();
    prepared.words = std::move(words).value();
    if (call.lookup) {
      auto lookup = compile(call.lookup->command, where + "the lookup's command");
      if (!lookup.ok()) return lookup.failure();
      prepared.lookup_words = std::move(lookup).value();
    }
    out.emplace(name, std::make_shared<const prepared_command>(std::move(prepared)));
  }
  return out;
}

std::variant<std::vector<std::string>, unfit_input> words_for(const command_template& command, std::string_view input) {
  const bool needs_input = std::any_of(command.begin(), command.end(), has_field);
  if (needs_input && !core::check_json(input).ok()) return bad("the input is not JSON");
  std::vector<std::string> out;
  bool after_options = false;
  for (const auto& word : command) {
    std::string text;
    if (auto unfit = append_word(word, input, after_options, text)) return std::move(*unfit);
    if (text == "--" && !has_field(word)) after_options = true;
    out.push_back(std::move(text));
  }
  return out;
}

result<std::vector<std::string>> base_environment(const exec_agent_config& config) {
  std::vector<std::string> out;
  const auto& given = config.environment;
  for (const auto& [name, value] : default_environment) {
    const auto same = [name = name](const auto& one) { return one.first == name; };
    if (std::none_of(given.begin(), given.end(), same)) out.push_back(std::string{name} + "=" + value);
  }
  for (const auto& [name, value] : given) {
    auto resolved = value;
    if (secrets::mentioned(value)) {
      const auto where = "agent " + config.name + ", the variable " + name + ": ";
      if (!config.secrets) return error{v1::ERROR_CODE_NOT_FOUND, where + "this node has no secrets", "see `secrets` in the node file"};
      auto known = config.secrets->resolve(value);
      if (!known.ok()) return error{known.failure().code, where + known.failure().sentence, known.failure().remedy};
      resolved = std::move(known).value();
    }
    if (resolved.find('\0') != std::string::npos)
      return error{v1::ERROR_CODE_INVALID_ARGUMENT,
                   "agent " + config.name + ": the variable " + name + " would have a character with the code 0", "correct the secret"};
    out.push_back(name + "=" + resolved);
  }
  return out;
}

void append_attempt(std::vector<std::string>& environment, const v1::Perform& what) {
  const auto add = [&](const char* name, const std::string& value) {
    // The kernel would cut such a value at its zero byte.
    if (value.find('\0') == std::string::npos) environment.push_back(std::string{own_prefix} + name + "=" + value);
  };
  const auto direction = what.direction() == v1::DIRECTION_UNDO ? "undo" : what.direction() == v1::DIRECTION_LOOKUP ? "lookup" : "perform";
  add("KEY", what.idempotency_key());
  add("TASK", what.task_id());
  add("STEP", what.step_path());
  add("CALL", what.call());
  add("DIRECTION", direction);
  add("ATTEMPT", std::to_string(what.attempt()));
  add("TRY", std::to_string(std::max(what.try_number(), 1U)));
  add("COMPLETE_BY", std::to_string(what.complete_by_unix_ms()));
  add("PROGRESS_FD", "3");
  if (what.direction() != v1::DIRECTION_PERFORM) add("PERFORM_KEY", what.perform_key());
  if (what.direction() == v1::DIRECTION_UNDO) add("IN_DOUBT", what.in_doubt() ? "true" : "false");
  if (!what.checkpoint().empty()) add("CHECKPOINT", what.checkpoint());
  if (!what.callback_url().empty()) add("CALLBACK_URL", what.callback_url());
}

}  // namespace fairlead::agents
