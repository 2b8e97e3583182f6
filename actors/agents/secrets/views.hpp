#pragma once
// A text as others may have written it: with escapes of JSON, percent signs, character references or line breaks taken away. Each byte of
// such a view knows where it came from, so that what is found in the view can be replaced in the text.

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
  /// Of each byte of `text`, and of its end: where it begins in the text looked at.
  std::vector<std::uint32_t> origin;
};

/// `text` decoded; nullopt when there was nothing to decode. `origin` is that of `text`, empty when it is the text itself.
std::optional<secret_view> decode_view(std::string_view text, const std::vector<std::uint32_t>& origin, secret_encoding encoding);

}  // namespace fairlead::agents
