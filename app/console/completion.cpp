#include "app/console/completion.hpp"

#include <algorithm>
#include <set>

#include "actors/core/task/task.hpp"
#include "app/cli/screen/table.hpp"
#include "app/json/node/task_verbs.hpp"
#include "messages/task_states.hpp"

namespace fairlead::app {

namespace {

bool begins_with(const std::string& text, const std::string& with) { return text.rfind(with, 0) == 0; }

CLI::App* child(CLI::App& of, const std::string& name) {
  const auto found = of.get_subcommands([&](const CLI::App* one) { return one->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

const CLI::Option* option_of(const CLI::App& command, const std::string& word) {
  for (const auto* option : command.get_options())
    if (!option->get_positional() && option->check_name(word)) return option;
  return nullptr;
}

bool takes_value(const CLI::Option* option) { return option != nullptr && option->get_items_expected_max() > 0; }

class search {
 public:
  search(console_parser& parser, name_source& names, std::string word) : parser_(parser), names_(names), word_(std::move(word)) {}

  void run(const console_words& before) {
    if (before.empty()) return add_first_words();
    auto words = parser_.expand(before);
    if (words.empty()) return add_first_words();  // the only word is `fairlead`
    auto* at = &parser_.app();
    std::size_t used = 0;
    for (CLI::App* next = nullptr; used < words.size() && (next = child(*at, words[used])) != nullptr; ++used) at = next;
    if (used == 0) return;
    if (words.front() == "help") return add_help({words.begin() + 1, words.end()});
    if (words.front() == "watch") return add_watched({words.begin() + 1, words.end()}, *at);
    const console_words rest{words.begin() + static_cast<std::ptrdiff_t>(used), words.end()};
    if (at->get_require_subcommand_min() > 0) {
      if (!rest.empty()) return;
      add_children(*at);
      if (words.front() == "task") add_names(name_kind::task);  // `task ID` is an alias of `task show ID`
      if (words.front() == "job") add_names(name_kind::job);
      return;
    }
    std::string path;
    for (std::size_t i = 0; i < used; ++i) path += (i == 0 ? "" : " ") + words[i];
    add_arguments(*at, path, rest);
  }

  std::set<std::string>& found() { return found_; }

 private:
  void add(const std::string& candidate) {
    // A name with control characters is not offered, because it could steer the terminal.
    if (begins_with(candidate, word_) && printable(candidate) == candidate) found_.insert(prefix_ + candidate);
  }

  void add_names(name_kind kind, const std::string& of = {}) {
    for (const auto& name : names_.names(kind, of)) add(name);
  }

  void add_children(const CLI::App& of) {
    for (const auto* one : of.get_subcommands([](const CLI::App*) { return true; })) add(one->get_name());
  }

  void add_first_words() {
    add_children(parser_.app());
    for (const auto& alias : console_aliases()) add(alias.name);
  }

  void add_help(const console_words& words) {
    if (words.empty()) return add_first_words();
    auto* at = &parser_.app();
    for (const auto& word : parser_.expand(words)) {
      at = child(*at, word);
      if (at == nullptr) return;
    }
    add_children(*at);
  }

  void add_watched(const console_words& words, const CLI::App& watch) {
    std::size_t at = 0;
    while (at < words.size() && !words[at].empty() && words[at].front() == '-') {
      const bool separate = words[at].find('=') == std::string::npos && takes_value(option_of(watch, words[at]));
      at += separate ? 2 : 1;
    }
    if (at > words.size()) return;  // the word is the number of an option
    if (at == words.size() && begins_with(word_, "-")) return add_options(watch);
    run({words.begin() + static_cast<std::ptrdiff_t>(at), words.end()});
  }

  void add_options(const CLI::App& command) {
    for (const auto* option : command.get_options())
      for (const auto& name : option->get_lnames()) add("--" + name);
  }

  void add_arguments(const CLI::App& command, const std::string& path, const console_words& rest) {
    console_words positional;
    const CLI::Option* open = nullptr;  // an option whose value is missing
    for (const auto& word : rest) {
      if (open != nullptr)
        open = nullptr;
      else if (word.size() > 1 && word.front() == '-')
        open = word.find('=') == std::string::npos && takes_value(option_of(command, word)) ? option_of(command, word) : nullptr;
      else
        positional.push_back(word);
    }
    if (open != nullptr) return add_values(path, open->get_single_name());
    if (const auto equals = word_.find('='); begins_with(word_, "--") && equals != std::string::npos) {
      const auto name = word_.substr(2, equals - 2);
      prefix_ = word_.substr(0, equals + 1);
      word_.erase(0, equals + 1);
      return add_values(path, name);
    }
    if (begins_with(word_, "-")) return add_options(command);
    add_positional(command, path, positional);
  }

  void add_values(const std::string& path, const std::string& option) {
    if (option == "workflow") return add_names(name_kind::workflow);
    if (option == "task" || option == "parent") return add_names(name_kind::task);
    std::vector<const char*> fixed;
    if (option == "sort") fixed = {"mailbox", "handled", "restarts", "path"};
    if (begins_with(path, "job")) {
      if (option == "name" || (option == "after" && path == "job list")) return add_names(name_kind::job);
      if (option == "overlap") fixed = {"allow", "skip", "queue", "replace"};
      if (option == "catch-up") fixed = {"all", "latest", "none"};
      if (option == "dst") fixed = {"vixie", "literal", "skip_once"};
    }
    if (option == "state" && begins_with(path, "alert")) fixed = {"open", "acknowledged", "resolved"};
    if (option == "state" && begins_with(path, "task"))
      for (const auto& one : task_states) fixed.push_back(core::state_word(one.state));
    for (const auto* word : fixed) add(word);
  }

  /// Completes the next positional argument.
  void add_positional(const CLI::App& command, const std::string& path, const console_words& given) {
    auto left = given.size();
    for (const auto* option : command.get_options()) {
      if (!option->get_positional()) continue;
      const auto most = static_cast<std::size_t>(std::max(1, option->get_items_expected_max()));
      if (left < most) return add_for(option->get_single_name(), path, given, left);
      left -= most;
    }
  }

  void add_for(const std::string& name, const std::string& path, const console_words& given, std::size_t index) {
    if (name == "ID") {
      if (index == 1) return add_names(name_kind::step, given.front());
      const auto* verb = begins_with(path, "task ") ? find_task_verb(path.substr(5)) : nullptr;
      return add_names(verb != nullptr && verb->mends ? name_kind::parked_task : name_kind::task);
    }
    if (name == "NAME" && path == "task signal") return add_names(name_kind::signal, given.front());
    if (begins_with(path, "job") && (name == "NAME" || name == "PART")) return add_names(name_kind::job);
    if (name == "INSTANCE") return add_names(name_kind::instance);
    if (name == "NODE") return add_names(name_kind::node);
    if (name == "WORKFLOW" || (name == "NAME" && begins_with(path, "workflow "))) return add_names(name_kind::workflow);
    if (name == "NUMBER") return add_names(name_kind::alert);
    if (name == "LEVEL")
      for (const auto* level : {"debug", "info", "warning", "error"}) add(level);
    if ((name == "NAME" && begins_with(path, "agent")) || name == "PART") add_names(name_kind::agent);
    if ((name == "NAME" && path == "agent show") || name == "PART") add_names(name_kind::instance);
    if (name == "PART") add_names(name_kind::node);
  }

  console_parser& parser_;
  name_source& names_;
  std::string word_;
  std::string prefix_;
  std::set<std::string> found_;
};

}  // namespace

console_candidates complete(console_parser& parser, std::string_view text, name_source& names) {
  auto point = console_point_of(text);
  console_candidates out{point.start, point.quote, {}};
  if (point.remark) return out;
  search look{parser, names, point.word};
  look.run(point.before);
  out.words.assign(look.found().begin(), look.found().end());
  return out;
}

std::string common_beginning(const std::vector<std::string>& words) {
  if (words.empty()) return "";
  auto out = words.front();
  for (const auto& word : words) {
    const auto differs = std::mismatch(out.begin(), out.end(), word.begin(), word.end()).first;
    out.erase(differs, out.end());
  }
  // The result must not end inside a UTF-8 character.
  while (!out.empty() && words.front().size() > out.size() && (static_cast<unsigned char>(words.front()[out.size()]) & 0xC0U) == 0x80U)
    out.pop_back();
  return out;
}

}  // namespace fairlead::app
