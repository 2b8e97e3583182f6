#pragma once
// What is typed into the console, as commands and words: the rules of a shell, as far as they are needed.
//
// Words stand apart by blanks. '...' is taken as it is, "..." but for \" and \\, and a backslash elsewhere takes the next character as it is.
// A semicolon or the end of the line ends a command. What follows a # that begins a word is a remark.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"

namespace fairlead::app {

using console_words = std::vector<std::string>;

/// More is no line that a person has typed.
inline constexpr std::size_t longest_console_line = 65'536;  // bytes

/// The commands of a text, empty ones left out. Error: invalid_argument for an open quote or a text that is too long or not UTF-8.
result<std::vector<console_words>> parse_console(std::string_view text);

/// What is being typed at the end of a text.
struct console_point {
  console_words before;   // the words of its command that are finished
  std::string word;       // the one that is being typed, without its quotes
  std::size_t start = 0;  // where in the text it begins
  char quote = 0;         // the quote that is open there
  bool remark = false;
};
console_point console_point_of(std::string_view text);

/// The word so that it is read back as it is. `quote`: the one that it has been begun with, 0 for none.
std::string quoted_word(std::string_view word, char quote = 0);

}  // namespace fairlead::app
