#include "app/door/range.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "actors/core/text/text.hpp"

namespace fairlead::app::door {

namespace {

/// A number with too many digits is larger than any body.
std::optional<std::size_t> position_in(std::string_view digits) {
  std::size_t out = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  if (digits.empty() || read.ptr != digits.data() + digits.size()) return std::nullopt;
  return read.ec == std::errc::result_out_of_range ? std::numeric_limits<std::size_t>::max() : out;
}

}  // namespace

asked_part part_of(const request_head& asked, std::size_t bytes) {
  constexpr std::string_view unit = "bytes=";
  const auto header = find_header(asked, "Range");
  if (!header || count_headers(asked, "Range") > 1 || count_headers(asked, "If-Range") > 0) return whole_body{};
  // The name of a unit is compared as names of headers are.
  if (!is_header(header->substr(0, unit.size()), unit)) return whole_body{};
  const auto range = core::trimmed(header->substr(unit.size()));
  const auto dash = range.find('-');
  if (dash == std::string_view::npos) return whole_body{};
  const auto from = position_in(range.substr(0, dash)), to = position_in(range.substr(dash + 1));
  if ((!from && dash != 0) || (!to && dash + 1 != range.size()) || (!from && !to)) return whole_body{};
  if (!from) {
    // The last ones.
    const auto last = std::min(*to, bytes);
    return last == 0 ? asked_part{beyond_body{}} : body_part{bytes - last, last};
  }
  if (to && *to < *from) return whole_body{};
  if (*from >= bytes) return beyond_body{};
  return body_part{*from, (to ? std::min(*to, bytes - 1) : bytes - 1) - *from + 1};
}

}  // namespace fairlead::app::door
