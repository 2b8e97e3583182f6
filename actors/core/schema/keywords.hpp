#pragma once
// Which JSON Schemas a workflow may have: a part of draft 7 that can be checked in bounded time.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::core {

struct schema_problem {
  std::string place;     // dotted, as in the YAML file: `input.properties.amount_cents.type`
  std::string sentence;  // without a full stop
  std::string remedy;    // may be empty
};

/// All problems of the schema, at most 20; empty: input_schema can compile it. `at` is the key that holds the schema. Total and bounded
/// for any text.
std::vector<schema_problem> check_schema(std::string_view json, const std::string& at);

inline constexpr std::size_t max_schema_bytes = 65'536;
/// Subschemas inside each other, with `$ref` followed.
inline constexpr std::size_t max_schema_depth = 64;
inline constexpr std::size_t max_subschemas = 2'000;
inline constexpr std::size_t max_property_name_bytes = 128;

/// A keyword or a name in a sentence: in quotes, short, and without control characters.
std::string shown_keyword(std::string_view text);

}  // namespace fairlead::core
