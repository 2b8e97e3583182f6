#include "app/dev/scripts.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>

#include "actors/core/expression/expression.hpp"
#include "actors/core/text/json.hpp"
#include "actors/core/text/text.hpp"
#include "actors/core/workflow/check.hpp"
#include "app/yaml/reader.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

constexpr std::int64_t longest_sleep_ms = std::int64_t{24} * 3'600'000;
constexpr std::size_t most_actions = 100;
constexpr const char* known_actions = "write echo, sleep:2s, fail:transient, fail:permanent:CODE, fail:in_doubt or return:JSON";

/// Returns the part up to `mark` and removes that part and `mark` from `text`.
std::string_view take(std::string_view& text, char mark) {
  const auto end = std::min(text.find(mark), text.size());
  const auto out = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return out;
}

bool is_code(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
  });
}

result<script_action> parse_fail(std::string_view rest) {
  script_action out;
  out.what = script_action::kind::fail;
  const auto has_code = rest.find(':') != std::string_view::npos;
  const auto kind = take(rest, ':');
  if (kind == "transient")
    out.fault = v1::FAULT_KIND_TRANSIENT;
  else if (kind == "permanent")
    out.fault = v1::FAULT_KIND_PERMANENT;
  else if (kind == "in_doubt")
    out.fault = v1::FAULT_KIND_IN_DOUBT;
  else
    return invalid("'" + std::string{kind} + "' is not a kind of fault", "write fail:transient, fail:permanent or fail:in_doubt");
  if (has_code && !is_code(rest))
    return invalid("'" + std::string{rest} + "' is not a valid code", "a code has 1 to 64 letters, digits, _, . and -");
  out.code = has_code ? std::string{rest} : "scripted";
  return out;
}

/// One action without `return`.
result<script_action> parse_action(std::string_view text) {
  auto rest = text;
  const auto has_more = text.find(':') != std::string_view::npos;
  const auto word = take(rest, ':');
  script_action out;
  if (word == "echo" && !has_more) return out;
  if (word == "fail" && has_more) return parse_fail(rest);
  if (word == "sleep" && has_more) {
    out.what = script_action::kind::sleep;
    if (!parse_duration(std::string{rest}, out.sleep_ms) || out.sleep_ms < 0 || out.sleep_ms > longest_sleep_ms)
      return invalid("'" + std::string{rest} + "' is not a valid time to sleep", "write a duration of up to 24h, such as 500ms or 2s");
    return out;
  }
  return invalid(text.empty() ? "an action is missing" : "'" + core::clean_text(text, 100) + "' is not an action", known_actions);
}

result<script_action> parse_return(std::string_view json) {
  script_action out;
  out.what = script_action::kind::give;
  out.output = std::string{json};
  if (const auto checked = core::check_json(out.output); !checked.ok())
    return invalid("return: is not followed by JSON: " + checked.failure().sentence, "write it like return:{\"receipt\":\"r1\"}");
  return out;
}

error at_character(std::size_t place, error why) {
  why.sentence = "at character " + std::to_string(place + 1) + ": " + why.sentence;
  return why;
}

/// `agent.call`. Names may have dots too, so every dot is tried, and exactly one split must fit.
std::optional<std::pair<std::string, std::string>> split_call(std::string_view text) {
  std::optional<std::pair<std::string, std::string>> out;
  for (auto dot = text.find('.'); dot != std::string_view::npos; dot = text.find('.', dot + 1)) {
    const auto agent = text.substr(0, dot);
    const auto call = text.substr(dot + 1);
    if (!core::valid_agent_name(agent) || !core::valid_agent_name(call)) continue;
    if (out) return std::nullopt;
    out.emplace(agent, call);
  }
  return out;
}

constexpr const char* how_to_name = "write AGENT.CALL with names that have no dots themselves, such as payment.charge";

// ---- files ----

void read_action(const yaml_node& node, script& out) {
  if (node.is_map()) {
    yaml_section section{node};
    if (const auto value = section.require("return", "the output")) {
      script_action give;
      give.what = script_action::kind::give;
      give.output = value->json().value_or("null");
      out.push_back(std::move(give));
    }
    section.finish();
    return;
  }
  const auto text = node.text();
  if (!text) return;
  auto parsed = parse_script(*text);
  if (!parsed) {
    node.complain(parsed.failure().sentence, parsed.failure().remedy);
    return;
  }
  std::move(parsed->begin(), parsed->end(), std::back_inserter(out));
}

void read_actions(const yaml_node& node, script& out) {
  if (!node.is_list()) return read_action(node, out);
  const auto items = node.items();
  if (items.empty()) node.complain("the script is empty", known_actions);
  for (const auto& item : items) read_action(item, out);
}

}  // namespace

result<script> parse_script(std::string_view text) {
  constexpr std::string_view giving = "return:";
  script out;
  std::size_t at = 0;
  for (;;) {
    const auto begin = std::min(text.find_first_not_of(' ', at), text.size());
    const auto from = text.substr(begin);
    if (from.substr(0, giving.size()) == giving) {
      auto action = parse_return(core::trimmed(from.substr(giving.size())));
      if (!action) return at_character(begin, action.failure());
      out.push_back(std::move(*action));
      return out;
    }
    const auto comma = text.find(',', at);
    auto action = parse_action(core::trimmed(text.substr(at, comma == std::string_view::npos ? comma : comma - at)));
    if (!action) return at_character(begin, action.failure());
    out.push_back(std::move(*action));
    if (out.size() > most_actions)
      return at_character(at, invalid("more than 100 actions", "remove some: the last action is used for all further attempts"));
    if (comma == std::string_view::npos) return out;
    at = comma + 1;
  }
}

status add_script(std::string_view text, scripts& out) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos)
    return invalid("'" + std::string{text} + "' has no =", "write it like payment.charge=fail:transient,echo");
  const auto name = text.substr(0, equals);
  auto call = split_call(name);
  if (!call) return invalid("'" + std::string{name} + "' does not name a call", how_to_name);
  auto parsed = parse_script(text.substr(equals + 1));
  if (!parsed) {
    auto why = parsed.failure();
    why.sentence = "the script of " + std::string{name} + " " + why.sentence;
    return why;
  }
  if (!out.emplace(std::move(*call), std::move(*parsed)).second)
    return invalid(std::string{name} + " has two scripts", "give one script, with the actions of successive attempts separated by commas");
  return nothing{};
}

std::vector<problem> read_scripts(const std::string& path, scripts& out) {
  std::vector<problem> problems;
  const auto text = read_text_file(path, problems);
  if (!text) return problems;
  auto document = parse_yaml(path, *text);
  if (document.root) {
    const auto root = yaml_node::root(document);
    for (const auto& [name, node] : root.entries()) {
      auto call = split_call(name);
      if (!call) {
        node.complain("this key does not name a call", how_to_name);
        continue;
      }
      script actions;
      read_actions(node, actions);
      if (!actions.empty()) out.emplace(std::move(*call), std::move(actions));
    }
  }
  problems = std::move(document.problems);
  std::stable_sort(problems.begin(), problems.end(),
                   [](const problem& a, const problem& b) { return std::tie(a.line, a.column) < std::tie(b.line, b.column); });
  return problems;
}

const script_action& action_of(const script& what, std::uint32_t attempt) {
  return what[std::min<std::size_t>(attempt == 0 ? 0 : attempt - 1, what.size() - 1)];
}

}  // namespace fairlead::app
