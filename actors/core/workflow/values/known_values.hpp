#pragma once
// What the input's schema, the values and the types of steps say about a path before any task has run.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/expression/path.hpp"

namespace google::protobuf {
class Descriptor;
}

namespace fairlead::core {

struct known_value {
  /// Of the value: `boolean`, `number`, `string`, `object`, `array` or `null`; empty: not known.
  std::string type;
  /// Why there can be no such value, from `which` or `but` on; empty: there may be one.
  std::string refusal;
  std::string remedy;
};

/// Looks at most so many bytes up; then it knows nothing. A schema may refer to its parts in ways that multiply.
class schema_reader {
 public:
  /// `schema` is valid JSON, and need not be a sound schema.
  explicit schema_reader(std::string_view schema);

  /// `parts` begin with `input`.
  known_value look_up(const std::vector<path_part>& parts);

 private:
  known_value walk(std::string_view schema, const std::vector<path_part>& parts, std::size_t at, int depth);
  static known_value no_property(std::string_view properties, const std::vector<path_part>& parts, std::size_t at);

  std::string_view schema_;
  std::int64_t bytes_left_ = 256 << 20;
};

/// In a step's value as the file has it. Where an expression stands nothing is known. `parts[at]` is the first below the value.
known_value look_up_literal(std::string_view json, const std::vector<path_part>& parts, std::size_t at);

/// In an output of this type, whose names stand in either spelling. `parts[at]` is the first below the output.
known_value look_up_typed(const google::protobuf::Descriptor& type, const std::vector<path_part>& parts, std::size_t at);

/// `text`, `a number`: for sentences. `type` is one of known_value.
std::string json_type_words(std::string_view type);

}  // namespace fairlead::core
