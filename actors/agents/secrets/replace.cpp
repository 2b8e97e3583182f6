#include <algorithm>

#include "actors/agents/secrets/search.hpp"
#include "actors/core/text/json.hpp"

namespace fairlead::agents {

namespace {

std::string mark_of(std::string_view name) { return "[secret " + std::string{name} + "]"; }

std::string replaced(std::string_view text, const std::vector<secret_place>& places) {
  std::string out;
  out.reserve(text.size());
  std::size_t at = 0;
  for (const auto& place : places) {
    out.append(text, at, place.begin - at);
    out += mark_of(place.name);
    at = place.end;
  }
  out.append(text, at);
  return out;
}

/// For JSON: every string, number or word that a place touches becomes a string that names the secret. A value may be a number, or may span
/// several values (a key file in JSON): then only punctuation is left of it.
std::string replaced_whole(std::string_view text, const std::vector<secret_place>& places) {
  std::string out;
  auto place = places.begin();
  for (std::size_t at = 0; at < text.size();) {
    const auto c = text[at];
    if (std::string_view{" \t\r\n{}[],:"}.find(c) != std::string_view::npos) {
      out += c;
      ++at;
      continue;
    }
    const auto end = c == '"' ? static_cast<std::size_t>(core::skip_json_string(text.data() + at, text.data() + text.size()) - text.data())
                              : std::min(text.find_first_of(" \t\r\n{}[],:", at), text.size());
    while (place != places.end() && place->end <= at) ++place;
    if (place != places.end() && place->begin < end) {
      out += '"' + mark_of(place->name) + '"';
    } else {
      out.append(text, at, end - at);
    }
    at = end;
  }
  return out;
}

}  // namespace

std::string replace_secrets(std::string text, const std::vector<secret_place>& places) {
  if (places.empty()) return text;
  const wiped_at_end wiping{text};
  auto out = replaced(text, places);
  if (!core::check_json(text).ok() || core::check_json(out).ok()) return out;
  wipe(out);
  out = replaced_whole(text, places);
  return out;
}

}  // namespace fairlead::agents
