#pragma once
// Reads JSON texts without parsing them: results are slices of the text itself, so that every spelling survives.
//
// All functions except `check_json`, `append_json_string` and `jq_keeps_number` need text that check_json has accepted. Given other text
// they stay inside it, and their results are meaningless.

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "messages/error.hpp"

namespace fairlead::core {

/// Ok if `text` is one valid JSON value (RFC 8259, UTF-8), at most 64 levels deep; else the error names the position.
status check_json(std::string_view text);

/// The text without insignificant white space; `text` must be valid.
std::string minify_json(std::string_view text);

/// Without the white space around the value.
std::string_view trim_json(std::string_view text);

/// The value of a member of `object`, verbatim; of doubled keys the last counts. nullopt: no such member, or no object.
std::optional<std::string_view> json_member(std::string_view object, std::string_view name);

/// An element of `array`, verbatim; -1 is the last. nullopt: no such element, or no array.
std::optional<std::string_view> json_element(std::string_view array, std::int64_t index);

/// `an object`, `a string`, …: the kind of `value`, for sentences.
const char* json_kind(std::string_view value);

/// The content of a string; `raw` includes its quotes. Also reads jq's string literals, which have the same escapes.
std::string decode_json_string(std::string_view raw);

/// Appends `text`, which is UTF-8, as a JSON string with quotes.
void append_json_string(std::string& out, std::string_view text);

/// The first byte from `p` on that is special within a string: a quote, a backslash, a control character, or a byte beyond ASCII.
inline const char* skip_plain(const char* p, const char* end) {
  const auto special = [](unsigned char c) { return c == '"' || c == '\\' || c < 0x20 || c >= 0x80; };
  if constexpr (std::endian::native == std::endian::little) {
    // Eight bytes at once. The top bit of each byte says whether the byte is special. A byte above a special byte may be marked wrongly,
    // which does no harm, because the lowest mark counts.
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

/// `.name`, or `["other name"]`: one part of a path as jq spells it.
std::string spell_json_key(std::string_view name);

/// Whether jq 1.6, which computes in doubles, passes `number` on with the same value. Plain integers beyond 2^53 never count as kept.
bool jq_keeps_number(std::string_view number);

/// A number that jq would change.
struct changed_number {
  std::string path;  // from the root of the checked value: `.items[0]["big id"]`
  std::string number;
};

/// The first number in `value` that jq would change.
std::optional<changed_number> find_changed_number(std::string_view value);

/// `a number`, `an object`: for sentences that may not say the value. `text`: valid JSON, trimmed.
const char* json_kind_words(std::string_view text);

}  // namespace fairlead::core
