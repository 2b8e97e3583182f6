#pragma once
// The bytes of a YAML file: what is text and where a byte stands.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::app {

struct text_position {
  int line = 1;    // from 1
  int column = 1;  // from 1, in characters
};

class yaml_source {
 public:
  explicit yaml_source(std::string_view text);

  text_position position_of(std::size_t byte) const;

  /// The line without its end; empty beyond the last.
  std::string_view line(int number) const;

  /// The first byte that does not belong in a text file: a control character, or what is not UTF-8.
  std::optional<std::size_t> first_bad_byte() const;

  /// True when the null at `byte` was written as `~`, `null`, `Null` or `NULL`.
  bool null_is_written(std::size_t byte) const;

  /// False when a quoted scalar begins at `byte` (after its tag or anchor) and its closing quote never comes.
  bool quote_is_closed(std::size_t byte) const;

 private:
  std::size_t characters_before(std::size_t byte) const;

  std::string_view text_;
  std::vector<std::size_t> counts_;  // characters before every 64th byte
  std::vector<std::size_t> starts_;  // of lines
};

}  // namespace fairlead::app
