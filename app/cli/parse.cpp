#include "app/cli/parse.hpp"

#include <algorithm>
#include <cctype>
#include <exception>
#include <iterator>
#include <regex>

#include "actors/core/text/nearest.hpp"
#include "app/cli/screen/screen.hpp"

namespace fairlead::app {

namespace {

/// The command in the words: `job backfill`. Empty: no command was given.
std::string command_given(const CLI::App& app) {
  std::string out;
  for (auto parsed = app.get_subcommands(); !parsed.empty(); parsed = parsed.front()->get_subcommands())
    out += (out.empty() ? "" : " ") + parsed.front()->get_name();
  return out;
}

/// The hint that names the command with the help text.
std::string help_hint(const CLI::App& app, const std::string& before, const std::string& after) {
  const auto name = command_given(app);
  // `before` may end in a blank, which is removed if no command follows.
  auto out = before + name;
  if (name.empty() && !out.empty() && out.back() == ' ') out.pop_back();
  return "See '" + out + after + "'";
}

/// The innermost command that was parsed.
const CLI::App& innermost(const CLI::App& app) {
  const auto* at = &app;
  for (auto parsed = at->get_subcommands(); !parsed.empty(); parsed = at->get_subcommands()) at = parsed.front();
  return *at;
}

/// The subject of an error: `job backfill`, else the program. The console's App has no name.
std::string who_was_given(const CLI::App& app) {
  auto name = command_given(app);
  if (!name.empty()) return name;
  return app.get_name().empty() ? "the console" : app.get_name();
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

/// The first word that looks like an option unknown to the command, without its value. Empty: there
/// is none.
std::string unknown_option(const CLI::App& app, const std::vector<std::string>& words) {
  const auto& command = innermost(app);
  if (command.get_prefix_command()) return {};  // the later words belong to another command
  for (auto word = words.begin(); word != words.end() && *word != "--"; ++word) {
    if (word->size() < 2 || word->front() != '-') continue;
    const bool is_long = (*word)[1] == '-';
    if (!is_long && std::isalpha(static_cast<unsigned char>((*word)[1])) == 0) continue;  // a negative number
    auto name = is_long ? word->substr(0, word->find('=')) : word->substr(0, 2);
    const auto* option = command.get_option_no_throw(name);
    if (option == nullptr && &command != &app) option = app.get_option_no_throw(name);
    if (option == nullptr) return name;
    const bool alone = is_long ? name == *word : word->size() == 2;
    if (takes_value(*option) && alone && std::next(word) != words.end()) ++word;
  }
  return {};
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> out;
  for (const auto* option : command.get_options())
    for (const auto& name : option->get_lnames()) out.push_back("--" + name);
  return out;
}

std::vector<std::string> command_names(const CLI::App& group) {
  std::vector<std::string> out;
  for (const auto* one : group.get_subcommands([](const CLI::App*) { return true; }))
    if (!one->get_group().empty()) out.push_back(one->get_name());
  return out;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const auto close = core::nearest(word, known);
  return close.empty() ? "" : "; did you mean " + close + "?";
}

/// CLI11's words for too many or too few values.
std::string in_plain_words(const std::string& said) {
  static const std::regex count{"(\\S+): (At Most|At Least)? ?([0-9]+) required but received ([0-9]+)"};
  std::smatch found;
  if (said.size() > 500) return said;  // it quotes a value, and std::regex recurses for each character
  if (!std::regex_search(said, found, count)) return said;
  const auto limit = found[2] == "At Most" ? " at most" : found[2] == "At Least" ? " at least" : "";
  return found.str(1) + " takes" + limit + " " + found.str(3) + (found[3] == "1" ? " value" : " values") + ", and was given " +
         found.str(4);
}

/// `--json`, `-o json`, `-ojson`, `--output=yaml` and the like.
bool asks_for_json(const std::vector<std::string>& words) {
  static const std::regex joined{"(-o|--output=)(json|yaml)"};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool apart =
        (words[i] == "-o" || words[i] == "--output") && i + 1 < words.size() && (words[i + 1] == "json" || words[i + 1] == "yaml");
    if (words[i] == "--json" || apart || std::regex_match(words[i], joined)) return true;
  }
  return false;
}

/// CLI11 shows a positional that takes up to two words as `[ID(0x)]`.
class usage_formatter : public CLI::Formatter {
  std::string make_option_usage(const CLI::Option* option) const override {
    auto out = option->get_name(true);
    if (option->get_expected_max() > 1) out += option->get_expected_max() < 10 ? " " + option->get_type_name() : "...";
    return option->get_required() ? out : "[" + out + "]";
  }
  /// The type and the default. CLI11 adds limits, variables of the environment and options that exclude one another, which say nothing here
  /// that the description or a refusal does not say better.
  std::string make_option_opts(const CLI::Option* option) const override {
    auto type = option->get_type_name();
    type = type.substr(0, std::min(type.find(':'), type.size()));
    std::string out = type.empty() ? "" : " " + type;
    if (!option->get_default_str().empty()) out += "=" + option->get_default_str();
    if (option->get_expected_max() >= 10) out += " ...";
    return out;
  }
};

/// Whether the command is a group, so that the next word should be one of its commands.
bool misses_command(const CLI::App& app) { return innermost(app).get_require_subcommand_min() > 0; }

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<usage_formatter>(); }

int run_words(CLI::App& app, cli_context& context, std::vector<std::string> words, const std::string& help, const std::string& after) {
  const auto given = words;
  // Also what is wrong with the words themselves is told in JSON.
  const auto options_end = std::find(given.begin(), given.end(), "--");
  const errors_in_json as_json{asks_for_json({given.begin(), options_end})};
  const show_on same_screen{shown_on()};  // what options change of it ends with the command
  try {
    std::reverse(words.begin(), words.end());  // CLI11 expects reverse order
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    print(context, app.help());
    return context.code;
  } catch (const CLI::CallForAllHelp&) {
    print(context, app.help("", CLI::AppFormatMode::All));
    return context.code;
  } catch (const CLI::CallForVersion& asked) {
    print(context, std::string{asked.what()} + "\n");
    return context.code;
  } catch (const CLI::ParseError& refused) {
    const auto left = app.remaining(true);
    if (dynamic_cast<const CLI::RequiredError*>(&refused) != nullptr && !left.empty() && left.front().rfind("-", 0) != 0 &&
        misses_command(app))
      return fail({v1::ERROR_CODE_INVALID_ARGUMENT,
                   "There is no command '" + left.front() + "' here" + did_you_mean(left.front(), command_names(innermost(app))),
                   help_hint(app, help, after)});
    if (const auto unknown = unknown_option(app, given); !unknown.empty())
      return fail({v1::ERROR_CODE_INVALID_ARGUMENT,
                   who_was_given(app) + " has no option " + unknown + did_you_mean(unknown, option_names(innermost(app))),
                   help_hint(app, help, after)});
    const auto extra =
        std::find_if(given.begin(), given.end(), [&](const auto& word) { return std::find(left.begin(), left.end(), word) != left.end(); });
    if (dynamic_cast<const CLI::ExtrasError*>(&refused) != nullptr && extra != given.end())
      return fail({v1::ERROR_CODE_INVALID_ARGUMENT, who_was_given(app) + " takes no further word, and was given '" + *extra + "'",
                   help_hint(app, help, after)});
    return fail({v1::ERROR_CODE_INVALID_ARGUMENT, in_plain_words(refused.what()), help_hint(app, help, after)});
  } catch (const std::exception& bug) {
    return fail({v1::ERROR_CODE_INTERNAL, std::string{"A bug in fairlead: "} + bug.what(), "Please report it with what you did"});
  }
  return context.code;
}

void print_help(CLI::App& app, cli_context& context, const std::vector<std::string>& words, const std::string& list) {
  auto* at = &app;
  std::string name = app.get_name();
  for (const auto& word : words) {
    auto named = at->get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
    if (named.empty()) {
      context.code = fail({v1::ERROR_CODE_INVALID_ARGUMENT, "There is no command '" + word + "'", "'" + list + "' lists all commands"});
      return;
    }
    at = named.front();
    name += (name.empty() ? "" : " ") + word;
  }
  // help() would describe the parsed command, which is `help` itself.
  print(context, at->get_formatter()->make_help(at, name, CLI::AppFormatMode::Normal));
}

}  // namespace fairlead::app
