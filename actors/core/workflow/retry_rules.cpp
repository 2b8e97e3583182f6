#include "actors/core/workflow/retry_rules.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fairlead::core {

namespace {

constexpr int most_rules = 16;
constexpr int most_codes = 16;
constexpr std::size_t most_code_bytes = 64;

constexpr std::string_view own_codes[] = {"callback_awaited",  // the agent has accepted the step, and its callback has not come
                                          "callback_timeout",  "expression",     "input_type",       "item_failed", "join",
                                          "key_expired",       "output_type",    "repeat_exhausted", "restored",    "restored_key",
                                          "restored_next_key", "signal_timeout", "terminated",       "undo_input"};

bool is_code(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
  });
}

class rules_checker {
 public:
  explicit rules_checker(const v1::StepDefinition& step) : step_(step) {}

  std::vector<definition_problem> run() {
    if (step_.retry_size() > most_rules) {
      add("retry", "there are " + std::to_string(step_.retry_size()) + " rules; at most " + std::to_string(most_rules) + " are allowed",
          "put codes that are retried alike into one rule");
      return std::move(found_);
    }
    for (int i = 0; i < step_.retry_size(); ++i) check_codes(i);
    return std::move(found_);
  }

 private:
  void add(std::string field, std::string sentence, std::string remedy) {
    found_.push_back({step_.name(), std::move(field), std::move(sentence), std::move(remedy)});
  }

  void check_codes(int index) {
    const auto field = "retry[" + std::to_string(index) + "].on";
    const auto& codes = step_.retry(index).on();
    if (codes.empty()) return add(field, "the rule names no code", "add on: CODE, such as http_502");
    if (codes.size() > most_codes)
      return add(field, "there are " + std::to_string(codes.size()) + " codes; at most " + std::to_string(most_codes) + " are allowed",
                 "let a code that ends with * stand for several, or make another rule");
    for (auto code = codes.begin(); code != codes.end(); ++code) {
      if (std::find(codes.begin(), code, *code) != code) {
        add(field, shown_name(*code) + " is given twice", "remove one of them");
        continue;
      }
      check_code(field, *code);
      check_hidden(field, index, *code);
    }
  }

  void check_code(const std::string& field, const std::string& code) {
    const auto star = code.find('*');
    if (star != std::string::npos && star + 1 != code.size())
      return add(field, shown_name(code) + " has a * that is not its last character",
                 "put the * at the end: http_5* stands for all codes that begin with http_5");
    if (code.empty() || code.size() > most_code_bytes || !is_code(std::string_view{code}.substr(0, star)))
      return add(field, shown_name(code) + " is not the code of a fault",
                 "a code has letters, digits, _, . and -, at most 64 in all; * at its end stands for any end");
    if (is_found_by_scheduler(code))
      add(field, shown_name(code) + " is no fault that an agent reports, so it is not retried by a rule",
          "remove it; docs/agents.md lists the codes that a rule can name");
  }

  /// The first rule that names a code counts.
  void check_hidden(const std::string& field, int index, const std::string& code) {
    for (int earlier = 0; earlier < index; ++earlier) {
      for (const auto& other : step_.retry(earlier).on()) {
        if (!names_code(other, code)) continue;
        return add(field,
                   shown_name(code) + " has no effect: the rule retry[" + std::to_string(earlier) + "] names it already" +
                       (other == code ? "" : " by " + shown_name(other)),
                   other == code ? "remove it from one of the rules" : "put this rule before that one");
      }
    }
  }

  const v1::StepDefinition& step_;
  std::vector<definition_problem> found_;
};

}  // namespace

bool is_found_by_scheduler(std::string_view code) {
  return std::find(std::begin(own_codes), std::end(own_codes), code) != std::end(own_codes);
}

bool names_code(std::string_view pattern, std::string_view code) {
  if (pattern.empty() || pattern.back() != '*') return pattern == code;
  pattern.remove_suffix(1);
  return code.substr(0, pattern.size()) == pattern;
}

int rule_for(const v1::StepDefinition& step, std::string_view code) {
  for (int i = 0; i < step.retry_size(); ++i) {
    const auto& codes = step.retry(i).on();
    const auto named = std::any_of(codes.begin(), codes.end(), [code](const std::string& one) { return names_code(one, code); });
    if (named) return is_found_by_scheduler(code) ? -1 : i;
  }
  return -1;
}

std::vector<definition_problem> check_retry_rules(const v1::StepDefinition& step) { return rules_checker{step}.run(); }

}  // namespace fairlead::core
