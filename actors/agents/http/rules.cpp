#include "actors/agents/http/rules.hpp"

#include <algorithm>
#include <charconv>

#include "actors/agents/attempt_results.hpp"
#include "actors/agents/http/status.hpp"
#include "actors/core/text/json.hpp"

namespace fairlead::agents {

namespace {

constexpr std::size_t most_code_bytes = 64;
constexpr std::size_t most_message_bytes = 300;

bool allowed(http_meaning meaning, rule_place place) {
  switch (meaning) {
    case http_meaning::transient: return true;
    case http_meaning::success:
    case http_meaning::in_doubt:
    case http_meaning::permanent: return place == rule_place::call;
    case http_meaning::done:
    case http_meaning::never_happened:
    case http_meaning::unknown: return place == rule_place::lookup;
  }
  return false;
}

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

bool is_number(std::string_view json) { return !json.empty() && (json.front() == '-' || (json.front() >= '0' && json.front() <= '9')); }

bool is_integer(std::string_view json) { return json.find_first_of(".eE") == std::string_view::npos; }

// Numbers are compared by value if that is exact; all else by its decoded text.
bool same_scalar(std::string_view a, std::string_view b) {
  if (a == b) return true;
  if (a.empty() || b.empty()) return false;
  if (a.front() == '"' && b.front() == '"') return core::decode_json_string(a) == core::decode_json_string(b);
  if (!is_number(a) || !is_number(b) || (is_integer(a) && is_integer(b))) return false;
  double x = 0;
  double y = 0;
  const auto first = std::from_chars(a.data(), a.data() + a.size(), x);
  const auto second = std::from_chars(b.data(), b.data() + b.size(), y);
  return first.ec == std::errc{} && second.ec == std::errc{} && x == y;
}

// The content of a string, or the spelling of any other scalar; nullopt for null and for no scalar.
std::optional<std::string> text_of(std::string_view json) {
  if (json.empty() || json == "null" || json.front() == '{' || json.front() == '[') return std::nullopt;
  return json.front() == '"' ? core::decode_json_string(json) : std::string{json};
}

result<std::optional<response_template>> prepare_text(const std::string& where, const std::string& json, bool is_code) {
  if (json.empty()) return std::optional<response_template>{};
  if (!core::check_json(json).ok() || json.front() != '"')
    return invalid(where + " is not a text", "write a text or one ${ } over the response");
  auto compiled = compile_response_template(json);
  if (!compiled.ok()) return invalid(where + ": " + compiled.failure().sentence, compiled.failure().remedy);
  if (is_code && compiled->value.expressions().empty()) {
    const auto word = core::decode_json_string(json);
    if (word.empty() || word.size() > most_code_bytes || !std::all_of(word.begin(), word.end(), in_word)) {
      return invalid(where + " '" + printable(word, 80) + "' is not a valid code", "use letters, digits, _, . and -; at most 64 in all");
    }
  }
  return std::optional<response_template>{std::move(compiled).value()};
}

std::optional<std::string> rendered(const std::optional<response_template>& from, const core::document& doc) {
  if (!from) return std::nullopt;
  const auto json = from->value.render(doc, {});
  return json.ok() ? text_of(core::trim_json(*json)) : std::nullopt;
}

}  // namespace

result<http_prepared_rule> prepare_rule(const std::string& where, const http_rule& rule, rule_place place) {
  if (!allowed(rule.is, place)) {
    return invalid(
        where + ": is: " + std::string{meaning_word(rule.is)} + " is not a valid meaning here",
        place == rule_place::call ? "use success, transient, in_doubt or permanent" : "use done, never_happened, unknown or transient");
  }
  for (const auto& range : rule.status) {
    if (range.first < 100 || range.last > 599 || range.first > range.last) {
      return invalid(
          where + ": status: " + std::to_string(range.first) + "-" + std::to_string(range.last) + " is not a valid range of statuses",
          "use numbers from 100 to 599, the lower number first");
    }
  }
  if (rule.path.empty() && rule.status.empty())
    return invalid(where + " has neither status nor path", "add status or path, to say which answers the rule is for");
  if (rule.path.empty() && (!rule.one_of.empty() || rule.present))
    return invalid(where + " has a comparison but no path", "add path: .body.…");
  if (!rule.path.empty() && rule.one_of.empty() == !rule.present) {
    return invalid(where + " must have exactly one comparison for its path", "add one of equals, one_of and present");
  }
  for (const auto& value : rule.one_of) {
    if (!core::check_json(value).ok() || core::trim_json(value) != value || value.front() == '{' || value.front() == '[') {
      return invalid(where + ": '" + printable(value, 60) + "' is not a string, number, boolean or null", "compare with a single value");
    }
  }
  const bool is_fault = rule.is == http_meaning::transient || rule.is == http_meaning::in_doubt || rule.is == http_meaning::permanent;
  if (!is_fault && (!rule.code.empty() || !rule.message.empty())) {
    return invalid(where + ": code and message are only for faults, but " + std::string{meaning_word(rule.is)} + " is not a fault",
                   "remove code and message");
  }
  http_prepared_rule out;
  out.written = rule;
  if (!rule.path.empty()) {
    auto path = compile_response_path(rule.path);
    if (!path.ok()) return invalid(where + ": path " + path.failure().sentence, path.failure().remedy);
    out.path = std::move(path).value();
  }
  auto code = prepare_text(where + ": code", rule.code, true);
  if (!code.ok()) return code.failure();
  out.code = std::move(code).value();
  auto message = prepare_text(where + ": message", rule.message, false);
  if (!message.ok()) return message.failure();
  out.message = std::move(message).value();
  return out;
}

bool needs_body(const http_prepared_rule& rule) { return rule.path && rule.path->in_body; }

bool fits(const http_prepared_rule& rule, int status, const core::document& doc) {
  if (!rule.written.status.empty() && !names_status(rule.written.status, status)) return false;
  if (!rule.path) return true;
  const auto found = core::find_path(rule.path->path, doc);
  const auto value = found ? core::trim_json(*found) : std::string_view{};
  // Many services write "error": null instead of leaving it out.
  if (rule.written.present) return *rule.written.present == (found && value != "null");
  return found && std::any_of(rule.written.one_of.begin(), rule.written.one_of.end(),
                              [&](const std::string& wanted) { return same_scalar(wanted, value); });
}

std::optional<std::string> code_of(const http_prepared_rule& rule, const core::document& doc) {
  auto out = rendered(rule.code, doc);
  if (!out || out->empty()) return std::nullopt;
  out->resize(std::min(out->size(), most_code_bytes));
  std::replace_if(
      out->begin(), out->end(), [](char c) { return !in_word(c); }, '_');
  return out;
}

std::optional<std::string> message_of(const http_prepared_rule& rule, const core::document& doc) {
  const auto text = rendered(rule.message, doc);
  if (!text || text->empty()) return std::nullopt;
  return printable(*text, most_message_bytes);
}

}  // namespace fairlead::agents
