// Guesses a short name for a command of a crontab. Only names of jobs use it, so a wrong guess does
// no harm.

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "app/crontab/import.hpp"
#include "app/crontab/words.hpp"

namespace fairlead::app {

namespace {

using names = std::set<std::string_view>;

const names operators{"&&", "||", ";", "|", "&", "(", ")", "{", "}", "!", "then", "do", "else"};
const names transparent{"if", "while", "time", "exec", "nohup", "command", "eval", "chronic", "cronic", "setsid"};
const names preparations{"cd", "source", ".", "export", "test", "[", "[[", "umask", "ulimit", "sleep", "set"};
const names interpreters{"sh", "bash", "dash", "zsh", "ksh", "python", "python2", "python3", "perl", "ruby", "php", "node"};

// Programs that run another program: their options with a separate argument, and the number of
// words before the other program.
struct wrapper {
  std::string_view with_argument;
  int words = 0;
};
const std::map<std::string_view, wrapper> wrappers{
    {"sudo", {"ughpCrtU", 0}}, {"nice", {"n", 0}}, {"ionice", {"cn", 0}},    {"timeout", {"sk", 1}},
    {"flock", {"wE", 1}},      {"env", {"uC", 0}}, {"solo", {"", 0}},        {"runuser", {"ug", 0}},
    {"stdbuf", {"ioe", 0}},    {"chrt", {"", 1}},  {"cpulimit", {"lpe", 0}}, {"taskset", {"", 1}},
};

std::vector<std::string_view> words_of(std::string_view command) {
  std::vector<std::string_view> out;
  for (auto at = skip_blanks(command, 0); at < command.size(); at = skip_blanks(command, at)) {
    // `;` ends a word even without a blank before it.
    const auto end = command[at] == ';' ? at + 1 : std::min(end_of_word(command, at), command.find(';', at));
    out.push_back(command.substr(at, end - at));
    at = end;
  }
  return out;
}

std::string_view base_name(std::string_view word) {
  while (!word.empty() && std::string_view{"\"'`();/"}.find(word.back()) != std::string_view::npos) word.remove_suffix(1);
  const auto slash = word.rfind('/');
  return slash == std::string_view::npos ? word : word.substr(slash + 1);
}

bool is_assignment(std::string_view word) {
  const auto equals = word.find('=');
  return equals != std::string_view::npos && is_identifier(word.substr(0, equals));
}

std::string as_name(std::string_view word) {
  constexpr std::size_t most = 40;
  std::string out;
  for (const char c : word) {
    const bool fits = is_letter(c) || is_digit(c) || c == '.' || c == '_';
    if (fits || (!out.empty() && out.back() != '-')) out += fits ? c : '-';
    if (out.size() == most) break;
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out.empty() ? "command" : out;
}

class program_finder {
 public:
  explicit program_finder(std::string_view command) : words_{words_of(command)} {}

  std::string_view find() {
    while (at_ < words_.size()) {
      const auto word = words_[at_];
      const auto name = base_name(word);
      if (operators.count(word) > 0 || transparent.count(name) > 0 || is_assignment(word)) {
        ++at_;
      } else if (preparations.count(word) > 0) {
        // A line without another command gets the name of this one, such as `cd`.
        if (!skip_to_next_command()) return word.front() == '[' ? std::string_view{"test"} : word;
      } else if (const auto found = wrappers.find(name); found != wrappers.end()) {
        ++at_;
        skip_wrapper(found->second);
        if (at_ >= words_.size()) return name;
      } else {
        return interpreters.count(name) > 0 ? script_of(name) : name;
      }
    }
    return words_.empty() ? std::string_view{} : base_name(words_.front());
  }

 private:
  bool skip_to_next_command() {
    for (auto next = at_ + 1; next + 1 < words_.size(); ++next) {
      if (words_[next] != "&&" && words_[next] != "||" && words_[next] != ";") continue;
      at_ = next + 1;
      return true;
    }
    return false;
  }

  void skip_wrapper(const wrapper& how) {
    for (; at_ < words_.size() && words_[at_].front() == '-'; ++at_) {
      const auto option = words_[at_];
      if (option.size() == 2 && how.with_argument.find(option[1]) != std::string_view::npos) ++at_;
    }
    for (int word = 0; word < how.words; ++word) ++at_;
  }

  std::string_view script_of(std::string_view interpreter) const {
    for (auto next = at_ + 1; next < words_.size(); ++next) {
      const auto word = words_[next];
      if (word == "-m" && next + 1 < words_.size()) return words_[next + 1];
      if (word == "-c" || word == "-e" || word == "-r") return interpreter;
      if (word.front() == '-') continue;
      const bool path = is_letter(word.front()) || std::string_view{"/.$~_\"'"}.find(word.front()) != std::string_view::npos;
      return path ? base_name(word) : interpreter;
    }
    return interpreter;
  }

  std::vector<std::string_view> words_;
  std::size_t at_ = 0;
};

}  // namespace

std::string crontab_program(const std::string& command) { return as_name(program_finder{command}.find()); }

}  // namespace fairlead::app
