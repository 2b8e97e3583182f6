#include "actors/agents/http/document.hpp"

#include <algorithm>
#include <array>

#include "actors/agents/attempt_results.hpp"
#include "actors/core/text/json.hpp"

namespace fairlead::agents {

namespace {

constexpr std::array<std::string_view, 3> response_roots{"status", "headers", "body"};

// The root with which a path begins: `.body.id` gives `body`; empty: none of an answer's roots.
std::string_view root_of(std::string_view path) {
  path.remove_prefix(std::min(path.find_first_not_of(" \t"), path.size()));
  if (path.empty() || path.front() != '.') return {};
  path.remove_prefix(1);
  for (const auto root : response_roots) {
    if (path.substr(0, root.size()) != root) continue;
    const auto next = path.size() > root.size() ? path[root.size()] : ' ';
    if (next == '.' || next == '[' || next == '?' || next == ' ' || next == '\t' || next == '}') return root;
  }
  return {};
}

}  // namespace

response_document::response_document(int status, const std::vector<std::pair<std::string, std::string>>& headers,
                                     std::optional<std::string_view> body_json) {
  text_ = "{\"status\":" + std::to_string(status) + ",\"headers\":{";
  std::vector<std::pair<std::string, std::string>> merged;
  for (const auto& [name, value] : headers) {
    auto key = name;
    std::replace(key.begin(), key.end(), '-', '_');
    const auto same = std::find_if(merged.begin(), merged.end(), [&](const auto& m) { return m.first == key; });
    if (same == merged.end()) {
      merged.emplace_back(std::move(key), value);
    } else {
      same->second += ", " + value;
    }
  }
  for (std::size_t i = 0; i < merged.size(); ++i) {
    if (i > 0) text_ += ',';
    // Header bytes beyond ASCII have no known encoding; they would not be JSON.
    core::append_json_string(text_, printable(merged[i].first, merged[i].first.size()));
    text_ += ':';
    core::append_json_string(text_, printable(merged[i].second, merged[i].second.size()));
  }
  text_ += '}';
  if (body_json) text_.append(",\"body\":").append(*body_json);
  text_ += '}';
}

std::optional<std::string_view> response_document::root(std::string_view name, std::string_view) const {
  if (name == "input") return text_;
  return std::nullopt;
}

std::string as_written(std::string sentence) {
  for (const auto root : response_roots) {
    const auto inside = ".input." + std::string{root};
    for (auto at = sentence.find(inside); at != std::string::npos; at = sentence.find(inside, at)) sentence.erase(at, 6);
  }
  return sentence;
}

result<response_template> compile_response_template(std::string_view json) {
  std::string inside;
  bool mentions_body = false;
  std::size_t at = 0;
  for (auto opening = json.find("\"${"); opening != std::string_view::npos; opening = json.find("\"${", at)) {
    const auto rest = json.substr(opening + 3);
    const auto root = root_of(rest);
    if (root.empty()) {
      return invalid("${" + std::string{rest.substr(0, rest.find_first_of("}\""))} + "} does not begin with .status, .headers or .body",
                     "use a plain path into the response");
    }
    mentions_body = mentions_body || root == "body";
    const auto dot = opening + 3 + rest.find('.');
    inside += json.substr(at, dot - at);
    inside += ".input";
    at = dot;
  }
  inside += json.substr(at);
  auto compiled = core::input_template::compile(inside);
  if (!compiled.ok()) return error{compiled.failure().code, as_written(compiled.failure().sentence), compiled.failure().remedy};
  if (!compiled->plain()) {
    return invalid("${ " + as_written(compiled->worker_expressions().front()) + " } is more than a plain path",
                   "take the value unchanged, and compute in the `with` of a later step");
  }
  return response_template{std::move(compiled).value(), mentions_body};
}

result<response_path> compile_response_path(std::string_view text) {
  const auto root = root_of(text);
  auto path = root.empty() ? std::nullopt : core::parse_plain_path(".input" + std::string{text});
  if (!path || path->optional) {
    return invalid("'" + printable(text, 100) + "' is not a plain path into the response",
                   "write .status, .headers.NAME or .body.… without `?`");
  }
  return response_path{std::move(*path), root == "body", std::string{text}};
}

}  // namespace fairlead::agents
