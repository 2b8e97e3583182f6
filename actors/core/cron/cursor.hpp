#pragma once
// A position in the text of one field, and the problem found there. For fields.cpp.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "actors/core/cron/expression.hpp"

namespace fairlead::core {

inline bool is_cron_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_cron_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline char cron_upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

/// Readers return false if `problem` says why.
class cron_cursor {
 public:
  /// `field` is its name, for sentences; `position` is where it begins in the expression.
  cron_cursor(const char* field, std::string_view text, std::size_t position) : field_{field}, text_{text}, position_{position} {}

  /// In upper case; 0 beyond the end.
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? cron_upper(text_[at_ + ahead]) : '\0'; }

  /// `wanted` is given in upper case; letters match in any case.
  bool take(char wanted);

  /// A word of three letters, given in upper case; followed by no further letter but perhaps the `L` of `FRIL`.
  bool take_name(std::string_view name, bool before_l);

  bool read_number(std::uint32_t& out, std::uint32_t least, std::uint32_t most, std::string_view expected);

  /// True at a comma and at the end; `others` names, for the sentence, what else could follow.
  bool ends_item(std::string_view others);

  /// Fails: the text here is not the `expected` one.
  bool refuse(std::string_view expected);
  bool fail(std::string sentence);

  std::size_t at() const { return at_; }
  void go_back(std::size_t at) { at_ = at; }
  const cron_problem& problem() const { return problem_; }

 private:
  const char* field_;
  std::string_view text_;
  std::size_t position_;
  std::size_t at_ = 0;
  cron_problem problem_;
};

/// The beginning of `text` for a sentence: a word or number, a sign, or a byte by its number.
std::string spell_cron_token(std::string_view text);

}  // namespace fairlead::core
