#pragma once
// The small pieces that lines of a crontab are made of.

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

/// For sentences: what stands there, short enough to be read.
std::string quote(std::string_view text);

/// How many characters of UTF-8.
int characters(std::string_view text);

/// A name that a shell can export.
bool is_identifier(std::string_view name);

/// What the system's tools let a user be called; it becomes part of a shell word and of names.
bool is_user_name(std::string_view name);

/// Made of what cron's fields are made of, and of nothing that a program is called.
bool looks_like_field(std::string_view word);

/// The offset of what expressions know and crontabs do not, so that cron itself would refuse it or read it otherwise.
std::optional<std::size_t> beyond_cron(std::string_view field);

}  // namespace fairlead::app
