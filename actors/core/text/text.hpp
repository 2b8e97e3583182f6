#pragma once
// Text from outside that will be stored: Protobuf's string fields hold only UTF-8, and a row that breaks this cannot be read again. Also
// sizes as text.

#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead::core {

/// At most `limit` bytes of `text`, with U+FFFD for every byte that is not part of valid UTF-8; never ends inside a character.
std::string clean_text(std::string_view text, std::size_t limit);

/// The same for the end of `text`, and never more than `limit` bytes.
std::string clean_end(std::string_view text, std::size_t limit);

/// `settle_completed` of OPERATOR_VERB_SETTLE_COMPLETED, the name of an enum's value.
std::string verb_word(std::string_view name);

/// A key that a file or a client gave, for the path of what is below it: at most 256 bytes and `…`. Beside very many values each path would
/// repeat it. Of what is cut already nothing more is cut.
std::string shown_key(std::string_view key);

/// Without spaces and tabs at both ends.
std::string_view trimmed(std::string_view text);

/// How much of what an attempt prints is kept.
inline constexpr std::size_t kept_log_bytes = std::size_t{64} << 10;

/// `1.5 GiB`.
std::string bytes_text(std::uint64_t bytes);

}  // namespace fairlead::core
