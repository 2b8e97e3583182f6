#include "app/cli_parse.hpp"

#include <algorithm>
#include <exception>

namespace fairlead::app {

namespace {

/// Where a person finds out how it should have been written.
std::string help_hint(const CLI::App& app, const std::string& before, const std::string& after) {
  std::string name;
  for (auto parsed = app.get_subcommands(); !parsed.empty(); parsed = parsed.front()->get_subcommands())
    name += (name.empty() ? "" : " ") + parsed.front()->get_name();
  // A program's name that ends in a blank wants none where no command follows.
  auto out = before + name;
  if (name.empty() && !out.empty() && out.back() == ' ') out.pop_back();
  return "See '" + out + after + "'";
}

/// The innermost command that was given.
const CLI::App& innermost(const CLI::App& app) {
  const auto* at = &app;
  for (auto parsed = at->get_subcommands(); !parsed.empty(); parsed = at->get_subcommands()) at = parsed.front();
  return *at;
}

/// Whether it is a group, so that the word after it should have been one of its commands.
bool misses_command(const CLI::App& app) { return innermost(app).get_require_subcommand_min() > 0; }

}  // namespace

int run_words(CLI::App& app, cli_context& context, std::vector<std::string> words, const std::string& help, const std::string& after) {
  try {
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
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
      return fail({v1::ERROR_CODE_INVALID_ARGUMENT, "There is no command '" + left.front() + "' here", help_hint(app, help, after)});
    return fail({v1::ERROR_CODE_INVALID_ARGUMENT, refused.what(), help_hint(app, help, after)});
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
  // Not help(): that describes the command that was given, which is `help`.
  print(context, at->get_formatter()->make_help(at, name, CLI::AppFormatMode::Normal));
}

}  // namespace fairlead::app
