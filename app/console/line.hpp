#pragma once
// Splits a line of the console into commands and words, by the shell's rules as far as the console
// needs them.
//
// Blanks separate words. '...' is literal. "..." is literal except for \" and \\. Elsewhere a
// backslash makes the next character literal. A semicolon or the end of the line ends a command. A
// # at the beginning of a word begins a remark.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"

namespace fairlead::app {

using console_words = std::vector<std::string>;

/// No operator types a longer line.
inline constexpr std::size_t longest_console_line = 65'536;  // bytes

/// The commands of a text without empty ones. Error: invalid_argument for an open quote or a text
/// that is too long or not UTF-8.
result<std::vector<console_words>> parse_console(std::string_view text);

/// The word at the end of a text that is being typed.
struct console_point {
  console_words before;   // the finished words of the same command
  std::string word;       // the unfinished word, without its quotes
  std::size_t start = 0;  // offset of the unfinished word in the text
  char quote = 0;         // the open quote, 0 for none
  bool remark = false;
};
console_point console_point_of(std::string_view text);

/// Quotes a word so that parse_console gives the same word. `quote`: the quote that the operator
/// has typed, 0 for none.
std::string quoted_word(std::string_view word, char quote = 0);

}  // namespace fairlead::app
