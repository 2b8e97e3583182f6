#include "actors/core/workflow/wait.hpp"

#include "messages/time.hpp"

namespace fairlead::core {

namespace {

// A text that an expression gives may have any length; no duration and no time that is meant has so many characters.
constexpr std::size_t longest_text = 128;

std::optional<std::int64_t> duration_of(std::string_view text) {
  std::int64_t ms = 0;
  if (text.size() > longest_text || !parse_duration(std::string{text}, ms) || ms > longest_wait_ms) return std::nullopt;
  return ms;
}

std::optional<std::int64_t> time_of(std::string_view text) {
  std::int64_t at = 0;
  if (text.size() > longest_text || !parse_utc(std::string{text}, at)) return std::nullopt;
  return at;
}

}  // namespace

result<std::int64_t> wait_end(std::string_view text, std::int64_t from_unix_ms) {
  if (const auto ms = duration_of(text)) return from_unix_ms + *ms;
  const auto at = time_of(text);
  if (!at)
    return invalid(std::string{"the text is neither a duration of at most "} + format_duration(longest_wait_ms) + " nor a time",
                   "give a duration such as 10m, or a time such as 2026-12-24T18:00:00Z");
  if (*at - from_unix_ms > longest_wait_ms)
    return invalid("the time " + format_utc(*at) + " is more than " + format_duration(longest_wait_ms) + " ahead", "give an earlier time");
  return *at;
}

bool is_wait_duration(std::string_view text) { return duration_of(text).has_value(); }

std::optional<std::string> canonical_wait(std::string_view text) {
  if (const auto ms = duration_of(text)) return format_duration(*ms);
  if (const auto at = time_of(text)) return format_utc(*at);
  return std::nullopt;
}

}  // namespace fairlead::core
