#include "app/door/message.hpp"

#include <algorithm>

namespace fairlead::app::door {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::optional<std::string_view> authority_of(const request_head& head) {
  const std::string_view target{head.target};
  const std::string_view scheme = target.starts_with("https://") ? "https://" : "http://";
  if (!target.starts_with(scheme)) return std::nullopt;
  return target.substr(scheme.size(), target.find_first_of("/?", scheme.size()) - scheme.size());
}

std::string_view path_of(const request_head& head) {
  auto path = std::string_view{head.target}.substr(0, head.target.find('?'));
  if (const auto authority = authority_of(head))
    path.remove_prefix(static_cast<std::size_t>(authority->data() + authority->size() - head.target.data()));
  return path;
}

bool is_header(std::string_view name, std::string_view wanted) {
  return std::equal(name.begin(), name.end(), wanted.begin(), wanted.end(), [](char a, char b) { return lower(a) == lower(b); });
}

std::optional<std::string_view> find_header(const request_head& in, std::string_view name) {
  for (const auto& [one, value] : in.fields)
    if (is_header(one, name)) return value;
  return std::nullopt;
}

std::size_t count_headers(const request_head& in, std::string_view name) {
  return static_cast<std::size_t>(
      std::count_if(in.fields.begin(), in.fields.end(), [&](const auto& one) { return is_header(one.first, name); }));
}

}  // namespace fairlead::app::door
