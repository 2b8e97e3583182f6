#pragma once
// What a plain YAML scalar is: the core schema of YAML 1.2, seen from JSON.

#include <string_view>

namespace fairlead::app {

enum class scalar_type {
  text,          // yes, no, on, off and dates included
  boolean,       // true, True, TRUE, false, False, FALSE
  json_integer,  // spelled as JSON spells integers
  json_float,    // spelled as JSON spells other numbers
  other_number,  // a number in YAML whose spelling JSON does not know: 007, +5, 0x1F, 0o17, .5, 5., .inf, .nan
};

/// Of an unquoted scalar that is not null.
scalar_type type_of_scalar(std::string_view text);

}  // namespace fairlead::app
