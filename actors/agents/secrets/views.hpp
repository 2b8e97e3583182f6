#pragma once
// A text with an encoding removed: escapes of JSON, percent signs, character references or line breaks. Each byte of such a view knows its
// origin, so that a value found in the view can be replaced in the text.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::agents {

enum class secret_encoding {
  json,       // \" \/ \u002f
  percent,    // %2F
  form,       // as percent, and + for a blank
  html,       // &amp; &#47; &#x2f;
  unwrapped,  // line breaks left out, as base64 in mail and PEM has them
};

inline constexpr secret_encoding all_secret_encodings[] = {secret_encoding::json, secret_encoding::percent, secret_encoding::form,
                                                           secret_encoding::html, secret_encoding::unwrapped};

struct secret_view {
  std::string text;
  /// For each byte of `text`, and for its end: its position in the original text.
  std::vector<std::uint32_t> origin;
};

/// `text` decoded; nullopt: it had nothing to decode. `origin` is that of `text`, empty if `text` is the original.
std::optional<secret_view> decode_view(std::string_view text, const std::vector<std::uint32_t>& origin, secret_encoding encoding);

}  // namespace fairlead::agents
