#include "actors/agents/http/status.hpp"
#include "app/config/http.hpp"

namespace fairlead::app {

namespace {

bool is_scalar(const yaml_node& node) {
  return node.value().kind == yaml_value::kind_type::scalar || node.value().kind == yaml_value::kind_type::null;
}

// A value for a comparison, as JSON.
bool read_scalar(const yaml_node& node, std::vector<std::string>& out) {
  if (!is_scalar(node)) {
    node.expected("a string, a number, true, false or null");
    return false;
  }
  auto json = node.json();
  if (json) out.push_back(std::move(*json));
  return json.has_value();
}

bool read_comparison(yaml_section& section, agents::http_rule& out) {
  const auto equals = section.find("equals");
  const auto one_of = section.find("one_of");
  const auto present = section.find("present");
  const int said = (equals ? 1 : 0) + (one_of ? 1 : 0) + (present ? 1 : 0);
  if (out.path.empty() && said > 0) {
    const auto& first = equals ? *equals : one_of ? *one_of : *present;
    first.complain("path is missing, so there is no value to compare", "add path: .body.…, or leave this key out");
    return false;
  }
  if (!out.path.empty() && said != 1) {
    section.node().complain(said == 0 ? "the rule does not say what to compare the value at its path with"
                                      : "the rule has more than one comparison for its path",
                            "add one of equals, one_of and present");
    return false;
  }
  if (equals) return read_scalar(*equals, out.one_of);
  if (one_of) {
    const auto items = one_of->items();
    if (one_of->is_list() && items.empty()) one_of->complain("the list is empty, so the rule never matches");
    bool good = !items.empty();
    for (const auto& item : items) good = read_scalar(item, out.one_of) && good;
    return good;
  }
  if (present) out.present = present->boolean();
  return !present || out.present;
}

std::optional<http_rule_section> read_rule(const yaml_node& node,
                                           const std::vector<std::pair<std::string, agents::http_meaning>>& meanings) {
  if (!node.is_map()) {
    node.expected("a map such as { status: 4xx, path: .body.code, equals: sold_out, is: permanent }");
    return std::nullopt;
  }
  http_rule_section out{{}, node, {}, {}, {}};
  yaml_section section{node};
  bool good = read_http_statuses(section.find("status"), out.rule.status);
  out.path = section.find("path");
  if (out.path) {
    const auto text = out.path->text();
    good = good && text;
    out.rule.path = text.value_or("");
  }
  if (out.path && out.rule.path.empty()) {
    // Reported already; the comparison keys cannot be checked.
    for (const char* key : {"equals", "one_of", "present"}) static_cast<void>(section.find(key));
  } else {
    good = read_comparison(section, out.rule) && good;
  }
  if (!out.path && out.rule.status.empty() && good) {
    node.complain("the rule has neither status nor path", "add status or path, to say which answers the rule is for");
    good = false;
  }
  section.require("is", "the meaning of such an answer");
  good = section.word("is", out.rule.is, meanings) && good;
  out.code = section.find("code");
  if (out.code) out.rule.code = out.code->json().value_or("");
  out.message = section.find("message");
  if (out.message) out.rule.message = out.message->json().value_or("");
  section.finish();
  if (!good) return std::nullopt;
  return out;
}

}  // namespace

bool read_http_statuses(const std::optional<yaml_node>& node, std::vector<agents::status_range>& out) {
  if (!node) return true;
  bool good = true;
  for (const auto& item : node->is_list() ? node->items() : std::vector<yaml_node>{*node}) {
    agents::status_range range;
    if (item.value().kind == yaml_value::kind_type::scalar && agents::parse_status_range(item.value().text, range)) {
      out.push_back(range);
    } else {
      item.expected("a status such as 503, 5xx or 500-599");
      good = false;
    }
  }
  return good;
}

std::vector<http_rule_section> read_http_rules(const std::optional<yaml_node>& node,
                                               const std::vector<std::pair<std::string, agents::http_meaning>>& meanings) {
  std::vector<http_rule_section> out;
  if (!node) return out;
  for (const auto& item : node->items()) {
    if (auto rule = read_rule(item, meanings)) out.push_back(std::move(*rule));
  }
  return out;
}

}  // namespace fairlead::app
