#include "actors/agents/secrets/secrets.hpp"

#include <algorithm>

#include "actors/agents/secrets_reference.hpp"

namespace fairlead::agents {

bool valid_secret_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
  };
  return !name.empty() && name.size() <= max_secret_name && std::all_of(name.begin(), name.end(), fits);
}

result<std::optional<secret_reference>> next_secret_reference(std::string_view text, std::size_t from) {
  const auto begin = text.find(secret_opening, from);
  if (begin == std::string_view::npos) return std::optional<secret_reference>{};
  const auto name_begin = begin + secret_opening.size();
  // A name ends within its maximum length, so that a brace far behind it closes nothing.
  const auto end = text.substr(name_begin, max_secret_name + 1).find('}');
  const auto place = "at character " + std::to_string(begin + 1);
  if (end == std::string_view::npos)
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "the reference to a secret " + place + " is not closed", "write $secret{NAME}"};
  const auto name = text.substr(name_begin, end);
  if (!valid_secret_name(name))
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "the reference to a secret " + place + " has no name",
                 "a name has 1 to 64 letters, digits, _, . and -"};
  return std::optional<secret_reference>{{begin, name_begin + end + 1, name}};
}

bool secrets::mentioned(std::string_view text) { return text.find(secret_opening) != std::string_view::npos; }

result<std::vector<std::string>> secrets::names_in(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t at = 0;;) {
    const auto found = next_secret_reference(text, at);
    if (!found) return found.failure();
    if (!*found) return out;
    if (std::find(out.begin(), out.end(), (*found)->name) == out.end()) out.emplace_back((*found)->name);
    at = (*found)->end;
  }
}

}  // namespace fairlead::agents
