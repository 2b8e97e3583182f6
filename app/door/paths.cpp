#include "app/door/paths.hpp"

#include <algorithm>

#include "app/door/target.hpp"

namespace fairlead::app::door {

namespace {

std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> out;
  for (;;) {
    path.remove_prefix(1);
    const auto end = path.find('/');
    out.push_back(path.substr(0, end));
    if (end == std::string_view::npos) return out;
    path.remove_prefix(end);
  }
}

std::optional<std::vector<std::string>> parts_of(std::string_view pattern, const std::vector<std::string>& segments) {
  const auto wanted = segments_of(pattern);
  if (wanted.size() != segments.size()) return std::nullopt;
  std::vector<std::string> out;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const bool any = wanted[i].starts_with('{');
    if (any ? segments[i].empty() : segments[i] != wanted[i]) return std::nullopt;
    if (any) out.push_back(segments[i]);
  }
  return out;
}

bool is_known(std::string_view method) {
  constexpr std::string_view all[] = {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"};
  return std::find(std::begin(all), std::end(all), method) != std::end(all);
}

}  // namespace

std::variant<path_match, problem, answer> find_path(const std::vector<path_pattern>& table, std::string_view method,
                                                    std::string_view path) {
  if (!is_known(method))
    return problem{
        "not_implemented", "The method " + std::string{method} + " is not known.", "Use GET, POST, PUT or DELETE.", {}, {}, true};
  const problem nowhere{"not_found", "There is no path " + std::string{path} + ".", "GET /v1/openapi.json has the paths.", {}, {}, false};
  if (path.empty() || path.front() != '/') return nowhere;
  std::vector<std::string> segments;
  for (const auto one : segments_of(path)) {
    auto decoded = decode_percent(one);
    if (!decoded)
      return problem{"invalid_argument",
                     "The path is not UTF-8 with two hexadecimal digits behind each %.",
                     "Encode the path (RFC 3986).",
                     {},
                     {},
                     false};
    segments.push_back(std::move(*decoded));
  }
  const auto wanted = method == "HEAD" ? std::string_view{"GET"} : method;
  std::string allowed;
  for (std::size_t i = 0; i < table.size(); ++i) {
    auto parts = parts_of(table[i].path, segments);
    if (!parts) continue;
    if (table[i].method == wanted) return path_match{i, std::move(*parts)};
    allowed += std::string{table[i].method} + ", " + (table[i].method == "GET" ? "HEAD, " : "");
  }
  if (allowed.empty()) return nowhere;
  allowed += "OPTIONS";
  if (method == "OPTIONS") {
    answer out;
    out.status = 204;
    out.more = {{"Allow", allowed}};
    return out;
  }
  return problem{"method_not_allowed",      "The path " + std::string{path} + " does not have " + std::string{method} + ".",
                 "It has " + allowed + ".", {},
                 {{"Allow", allowed}},      false};
}

}  // namespace fairlead::app::door
