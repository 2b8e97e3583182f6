#pragma once
// Helpers for reading the lines of a crontab.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace fairlead::app {

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
inline bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }

std::size_t skip_blanks(std::string_view line, std::size_t at);
std::size_t end_of_word(std::string_view line, std::size_t at);

/// The text in backquotes for a message, cut to a readable length.
std::string quote(std::string_view text);

/// The number of UTF-8 characters.
int characters(std::string_view text);

/// A name of a variable that a shell can export.
bool is_identifier(std::string_view name);

/// A user name that the system's tools accept. The name becomes part of a shell word and of other
/// names.
bool is_user_name(std::string_view name);

/// A word that has only characters of cron fields and is not likely a program's name.
bool looks_like_field(std::string_view word);

/// The offset of the first syntax that job schedules have and crontabs do not. Cron would refuse or
/// misread it.
std::optional<std::size_t> beyond_cron(std::string_view field);

}  // namespace fairlead::app
