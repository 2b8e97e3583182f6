#pragma once
// Paths and queries of requests (RFC 3986), decoded once and never twice.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::app::door {

/// nullopt: a `%` without two hexadecimal digits, a zero byte, or no UTF-8.
std::optional<std::string> decode_percent(std::string_view text);
/// So that it is one segment of a path, or one value of a query.
std::string encode_percent(std::string_view text);

using parameters = std::vector<std::pair<std::string, std::string>>;

/// `a=1&b=2`, with `+` for a space, as forms are encoded. nullopt: it cannot be decoded.
std::optional<parameters> parse_query(std::string_view query);

}  // namespace fairlead::app::door
