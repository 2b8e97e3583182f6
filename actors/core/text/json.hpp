#pragma once
// Looking into JSON texts without parsing them: slices of the text itself, so that every spelling survives.
//
// All functions but `check_json`, `append_json_string` and `jq_keeps_number` want text that check_json has accepted. Given anything else they stay
// inside the text and their answer means nothing.

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "messages/error.hpp"

namespace fairlead::core {

/// True and the offending position when `text` is one valid JSON value (RFC 8259, UTF-8). At most 64 levels deep.
status check_json(std::string_view text);

/// The text without insignificant white space; `text` must be valid.
std::string minify_json(std::string_view text);

/// Without the white space around the value.
std::string_view trim_json(std::string_view text);

/// The value of a member of `object`, verbatim. Of doubled keys the last one counts. nullopt: there is none, or it is no object.
std::optional<std::string_view> json_member(std::string_view object, std::string_view name);

/// An element of `array`, verbatim; -1 is the last. nullopt: there is none, or it is no array.
std::optional<std::string_view> json_element(std::string_view array, std::int64_t index);

/// `an object`, `a string`, …: what a person would call `value`.
const char* json_kind(std::string_view value);

/// What a string says: `raw` with its quotes. Also reads jq's string literals, whose escapes are the same.
std::string decode_json_string(std::string_view raw);

/// Appends `text`, which is UTF-8, as a JSON string with quotes.
void append_json_string(std::string& out, std::string_view text);

/// The first byte from `p` on that is not plain within a string: a quote, a backslash, a control character, or a byte beyond ASCII.
inline const char* skip_plain(const char* p, const char* end) {
  const auto special = [](unsigned char c) { return c == '"' || c == '\\' || c < 0x20 || c >= 0x80; };
  if constexpr (std::endian::native == std::endian::little) {
    // Eight bytes at once. The top bit of each byte says whether it is special; one above a special byte may say so wrongly, which does not
    // matter, because the lowest one counts.
    constexpr std::uint64_t each = 0x0101010101010101;
    constexpr std::uint64_t top = 0x80 * each;
    for (; end - p >= 8; p += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, p, sizeof word);
      const auto quote = (word ^ ('"' * each)) - each;
      const auto backslash = (word ^ ('\\' * each)) - each;
      const auto control = word - 0x20 * each;
      const auto found = (quote | backslash | control | word) & top;
      if (found != 0) return p + std::countr_zero(found) / 8;
    }
  }
  while (p < end && !special(static_cast<unsigned char>(*p))) ++p;
  return p;
}

/// The end of the string that begins (with its quote) at `p`.
const char* skip_json_string(const char* p, const char* end);

/// `.name`, or `["other name"]`: a step of a path as jq spells it.
std::string spell_json_key(std::string_view name);

/// Whether jq 1.6, which computes in doubles, hands `number` on with the same value. Plain integers beyond 2^53 never count as kept.
bool jq_keeps_number(std::string_view number);

/// A number that jq would change.
struct changed_number {
  std::string path;  // where it stands, from the value looked at: `.items[0]["big id"]`
  std::string number;
};

/// The first number in `value` that jq would change.
std::optional<changed_number> find_changed_number(std::string_view value);

}  // namespace fairlead::core
