#include "actors/core/cron/expression.hpp"

#include <algorithm>

#include "actors/core/cron/cursor.hpp"
#include "actors/core/cron/fields.hpp"
#include "messages/time.hpp"

namespace fairlead::core {

namespace {

using parsed = std::variant<cron_expression, cron_problem>;

struct macro {
  std::string_view name;
  std::string_view fields;
};

constexpr std::array<macro, 7> macros{{
    {"@yearly", "0 0 1 1 *"},
    {"@annually", "0 0 1 1 *"},
    {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},
    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
}};

struct word {
  std::string_view text;
  std::size_t position = 1;
};

/// The first N words between blanks and tabs.
template <std::size_t N>
std::size_t split(std::string_view text, std::array<word, N>& words) {
  constexpr std::string_view blanks = " \t";
  std::size_t count = 0;
  for (auto at = text.find_first_not_of(blanks); at != std::string_view::npos && count < N; at = text.find_first_not_of(blanks, at)) {
    const auto end = std::min(text.find_first_of(blanks, at), text.size());
    words[count++] = {text.substr(at, end - at), at + 1};
    at = end;
  }
  return count;
}

std::string lower(std::string_view text) {
  std::string out{text};
  for (auto& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

/// A word of the text for a sentence: whole if it is short and printable.
std::string spell_word(std::string_view text) {
  const bool plain = text.size() <= 32 && std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
  return plain ? "`" + std::string(text) + "`" : "a word that begins with " + spell_cron_token(text);
}

/// `@daily`, or the duration of `@every` in seconds.
std::variant<std::string_view, std::int64_t, cron_problem> parse_macro(const word* words, std::size_t count, std::size_t end) {
  const auto name = lower(words[0].text);
  if (name == "@reboot") {
    return cron_problem{words[0].position, "`@reboot` is not supported: it has no time; expected fields or another macro"};
  }
  const bool every = name == "@every";
  const auto* const known = std::find_if(macros.begin(), macros.end(), [&](const macro& m) { return m.name == name; });
  if (!every && known == macros.end()) {
    return cron_problem{words[0].position,
                        spell_word(words[0].text) +
                            " is not a known macro; expected @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly " +
                            "or @every with a duration"};
  }
  const std::size_t wanted = every ? 2 : 1;
  if (count > wanted) return cron_problem{words[wanted].position, spell_word(words[wanted].text) + " follows; expected nothing more"};
  if (!every) return known->fields;

  constexpr auto* expected = "expected a duration of whole seconds from 1s to 10 years, such as 90s, 1h30m or 7d";
  if (count < 2) return cron_problem{end, std::string("The expression ends here; ") + expected};
  std::int64_t every_ms = 0;
  if (!parse_duration(std::string(words[1].text), every_ms) || every_ms < 1'000 || every_ms % 1'000 != 0) {
    return cron_problem{words[1].position, spell_word(words[1].text) + " is not allowed here; " + expected};
  }
  return every_ms / 1'000;
}

}  // namespace

std::variant<cron_expression, cron_problem> cron_expression::parse(std::string_view text, std::string_view job) {
  if (text.size() > max_cron_bytes) {
    return cron_problem{max_cron_bytes + 1,
                        "The expression has " + std::to_string(text.size()) + " bytes; expected at most " + std::to_string(max_cron_bytes)};
  }
  std::array<word, 7> words;
  const auto count = split(text, words);
  const auto end = text.size() + 1;
  cron_expression out;
  if (count > 0 && words[0].text[0] == '@') {
    auto macro = parse_macro(words.data(), count, end);
    if (auto* problem = std::get_if<cron_problem>(&macro)) return *std::move(problem);
    if (const auto* fields = std::get_if<std::string_view>(&macro)) return parse(*fields, job);
    out.every_s_ = std::get<std::int64_t>(macro);
    return out;
  }
  if (count < 5) {
    const auto had = count == 0 ? "no field" : count == 1 ? "one field" : std::to_string(count) + " fields";
    return cron_problem{end, "The expression ends after " + had +
                                 "; expected five (minute, hour, day of the month, month, day of the week), or six with seconds first"};
  }
  if (count > 6) {
    return cron_problem{words[6].position, spell_word(words[6].text) + " is a seventh field; expected five, or six with seconds first"};
  }
  auto field = static_cast<int>(6 - count);
  for (std::size_t i = 0; i < count; ++i, ++field) {
    auto problem = read_cron_field(static_cast<cron_field>(field), words[i].text, words[i].position, job, out.sets_);
    if (problem) return *std::move(problem);
  }
  return out;
}

}  // namespace fairlead::core
