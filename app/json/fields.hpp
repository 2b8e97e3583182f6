#pragma once
// JSON objects that programs send, field by field. What is not expected is refused, with a pointer to it (RFC 6901).

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"

namespace fairlead::app {

/// Reads the value of a field: JSON without white space around it. `field` begins sentences: "Field 'name'". `pointer` is that of the value; on an error
/// it may have been moved to a part of it.
using json_taker = std::function<status(const std::string& field, std::string_view value, std::string& pointer)>;

struct json_field {
  std::string name;
  json_taker take;
  bool required = false;
};

/// Reads an object. Refuses anything else, unknown and doubled fields, and the lack of a required one. `what` begins sentences: "The body". On an error
/// `pointer` is the field at fault; empty: the text as a whole. `of`: " of 'reply'" in sentences about fields of that object.
status read_json_object(std::string_view text, const std::string& what, const std::vector<json_field>& fields, std::string& pointer,
                        const std::string& of = {});

// ---- takers; what they write to must outlive them ----

json_taker text_into(std::string& out);
/// Where a text that is given empty is another thing than none.
json_taker text_into(std::optional<std::string>& out);
json_taker flag_into(bool& out);
/// Any value, byte for byte.
json_taker json_into(std::string& out);
/// A whole number that fits.
template <class Number>
json_taker number_into(Number& out) {
  return [&out](const std::string& field, std::string_view value, std::string&) -> status {
    const auto read = std::from_chars(value.data(), value.data() + value.size(), out);
    if (read.ec == std::errc{} && read.ptr == value.data() + value.size()) return nothing{};
    using fits = std::numeric_limits<Number>;
    return invalid(field + " must be a whole number from " + std::to_string(fits::min()) + " to " + std::to_string(fits::max()),
                   "Give a whole number, without quotes.");
  };
}
/// A whole number from `least` to `most`.
template <class Number>
json_taker number_into(Number& out, std::int64_t least, std::int64_t most) {
  return [&out, least, most](const std::string& field, std::string_view value, std::string&) -> status {
    std::int64_t number = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
    if (read.ec != std::errc{} || read.ptr != value.data() + value.size() || number < least || number > most)
      return invalid(field + " must be a whole number from " + std::to_string(least) + " to " + std::to_string(most),
                     "Give a number in this range.");
    out = static_cast<Number>(number);
    return nothing{};
  };
}
/// An array of `least` to `most` values, each read by `take` under its place.
json_taker each_into(std::size_t most, std::function<status(std::size_t i, std::string_view value, std::string& pointer)> take,
                     std::size_t least = 1);
/// An array of `least` to `most` strings.
json_taker texts_into(std::vector<std::string>& out, std::size_t most, std::size_t least = 1);
/// A moment (read_start), and a duration of at least `least_ms`.
json_taker moment_into(std::int64_t& unix_ms);
json_taker duration_into(std::int64_t& ms, std::int64_t least_ms);

// ---- parts of these ----

/// The remedy for a value that is no string.
inline constexpr const char* give_text = "Give a text in double quotes.";

/// `found a number`.
std::string found_kind(std::string_view value);
/// `name` as a part of a pointer.
std::string pointer_part(const std::string& name);
/// The members of a valid object in their order, doubled ones too.
status for_each_json_member(std::string_view object, const std::function<status(const std::string& name, std::string_view value)>& visit);

}  // namespace fairlead::app
