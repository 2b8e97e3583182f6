#include "actors/core/schema/misfits.hpp"

#include <algorithm>

#include "actors/core/schema/schema.hpp"
#include "actors/core/text/text.hpp"

namespace fairlead::core {

namespace {

constexpr std::size_t most_named = 5;
constexpr std::size_t most_name_bytes = 80;
constexpr std::size_t most_pointer_bytes = 200;
constexpr std::string_view whole = "the input ";  // in place of an empty pointer
constexpr std::string_view more = "and more";
constexpr std::string_view between = "; ";
constexpr std::string_view before_first = ": ";

bool has_pointer(std::string_view part) { return part.front() == '/' && part.find(before_first) != std::string_view::npos; }

/// Where a part begins, at `from` or later: after `between` with a pointer or with `whole`.
std::size_t next_part(std::string_view text, std::size_t from) {
  for (auto at = text.find(between, from); at != std::string_view::npos; at = text.find(between, at + 1)) {
    const auto rest = text.substr(at + between.size());
    if (rest.starts_with('/') || rest.starts_with(whole) || rest == more) return at;
  }
  return text.size();
}

}  // namespace

std::string pointer_of(const std::vector<std::string>& path) {
  std::string out;
  for (const auto& name : path) {
    std::string part;
    for (const char c : clean_text(name, most_name_bytes)) {
      if (c == '~' || c == '/')
        part += c == '~' ? "~0" : "~1";
      else
        part += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    }
    if (out.size() + part.size() > most_pointer_bytes) return out + "/…";
    out += '/' + part;
  }
  return out;
}

std::string misfits_text(const std::vector<misfit_place>& all) {
  std::vector<std::string> parts;
  for (const auto& one : all) {
    auto part = one.pointer.empty() ? std::string{whole} + one.sentence : one.pointer + ": " + one.sentence;
    if (std::find(parts.begin(), parts.end(), part) != parts.end()) continue;
    if (parts.size() == most_named) {
      parts.emplace_back(more);
      break;
    }
    parts.push_back(std::move(part));
  }
  std::string out;
  for (const auto& part : parts) out += (out.empty() ? "" : std::string{between}) + part;
  return out;
}

std::vector<misfit_place> misfit_places(std::string_view sentence) {
  constexpr std::string_view mark = " does not fit the schema of workflow ";
  const auto marked = sentence.find(mark);
  if (marked == std::string_view::npos) return {};
  const auto begin = sentence.find(before_first, marked + mark.size());
  if (begin == std::string_view::npos) return {};
  sentence.remove_prefix(begin + before_first.size());
  std::vector<misfit_place> out;
  while (!sentence.empty()) {
    const auto end = next_part(sentence, 0);
    const auto part = sentence.substr(0, end);
    if (part.starts_with(whole)) {
      out.push_back({"", std::string{part.substr(whole.size())}});
    } else if (!part.empty() && has_pointer(part)) {
      const auto cut = part.find(before_first);
      out.push_back({std::string{part.substr(0, cut)}, std::string{part.substr(cut + before_first.size())}});
    }
    sentence.remove_prefix(std::min(end + between.size(), sentence.size()));
  }
  return out;
}

error refused_input(const std::string& workflow, const std::string& misfits) {
  return invalid("the input does not fit the schema of workflow " + workflow + ": " + misfits,
                 "correct the input; fairlead workflow show " + workflow + " shows the schema");
}

}  // namespace fairlead::core
