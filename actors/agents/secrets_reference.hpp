#pragma once
// The spelling of a reference to a secret: `$secret{NAME}`.

#include <cstddef>
#include <optional>
#include <string_view>

#include "messages/error.hpp"

namespace fairlead::agents {

inline constexpr std::string_view secret_opening = "$secret{";
inline constexpr std::size_t max_secret_name = 64;

struct secret_reference {
  std::size_t begin = 0;  // of the `$`
  std::size_t end = 0;    // after the `}`
  std::string_view name;
};

/// A-Z a-z 0-9 _ . -, 1 to 64 of them: no escapes are needed in a redacted output.
bool valid_secret_name(std::string_view name);

/// The first reference in `text` at or after `from`. The error gives the position of an invalid one.
result<std::optional<secret_reference>> next_secret_reference(std::string_view text, std::size_t from);

}  // namespace fairlead::agents
