#include "app/crontab/words.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "actors/core/text/text.hpp"

namespace fairlead::app {

std::size_t skip_blanks(std::string_view line, std::size_t at) {
  while (at < line.size() && is_blank(line[at])) ++at;
  return at;
}

std::size_t end_of_word(std::string_view line, std::size_t at) {
  while (at < line.size() && !is_blank(line[at])) ++at;
  return at;
}

std::string quote(std::string_view text) {
  constexpr std::size_t most = 40;
  return "`" + core::clean_text(text, most) + (text.size() > most ? "…" : "") + "`";
}

int characters(std::string_view text) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; };
  return static_cast<int>(std::count_if(text.begin(), text.end(), begins));
}

bool is_identifier(std::string_view name) {
  if (name.empty() || is_digit(name.front())) return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

bool is_user_name(std::string_view name) {
  constexpr std::size_t most = 32;
  if (name.empty() || name.size() > most || !(is_letter(name.front()) || name.front() == '_')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.'; });
}

namespace {

/// `L`, `15W`, `LW` and `friL` of other schedulers. `letters` is the field without its digits.
bool is_last_or_working_day(std::string_view letters) {
  std::string word{letters};
  std::transform(word.begin(), word.end(), word.begin(), lower);
  if (word == "l" || word == "w" || word == "lw") return true;
  constexpr std::array<std::string_view, 7> days{"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
  return word.size() == 4 && word.back() == 'l' && std::find(days.begin(), days.end(), word.substr(0, 3)) != days.end();
}

}  // namespace

bool looks_like_field(std::string_view word) {
  if (word.empty() || !(is_digit(word.front()) || word.front() == '*' || word.front() == '?')) return false;
  return word.find_first_not_of("0123456789*?,/-") == std::string_view::npos;
}

std::optional<std::size_t> beyond_cron(std::string_view field) {
  if (const auto at = field.find_first_of("?#~"); at != std::string_view::npos) return at;
  for (std::size_t at = 0; at < field.size();) {
    const auto begin = at;
    while (at < field.size() && is_letter(field[at])) ++at;
    if (is_last_or_working_day(field.substr(begin, at - begin))) return begin;
    at = std::max(at, begin + 1);
  }
  // A step is allowed only after `*` or a range.
  for (std::size_t at = 0; at < field.size();) {
    const auto end = std::min(field.find(',', at), field.size());
    const auto item = field.substr(at, end - at);
    const auto slash = item.find('/');
    const bool stepped = slash != std::string_view::npos && slash > 0;
    if (stepped && item.front() != '*' && item.substr(0, slash).find('-') == std::string_view::npos) return at + slash;
    at = end + 1;
  }
  return std::nullopt;
}

}  // namespace fairlead::app
