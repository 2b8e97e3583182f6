#include "actors/core/cron/cursor.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace fairlead::core {

bool cron_cursor::take(char wanted) {
  if (at_ == text_.size() || peek() != wanted) return false;
  ++at_;
  return true;
}

bool cron_cursor::take_name(std::string_view name, bool before_l) {
  if (peek(0) != name[0] || peek(1) != name[1] || peek(2) != name[2]) return false;
  if (is_cron_letter(peek(3)) && !(before_l && peek(3) == 'L' && !is_cron_letter(peek(4)))) return false;
  at_ += 3;
  return true;
}

bool cron_cursor::read_number(std::uint32_t& out, std::uint32_t least, std::uint32_t most, std::string_view expected) {
  const auto start = at_;
  std::uint32_t value = 0;
  for (; is_cron_digit(peek()); ++at_) value = std::min<std::uint32_t>(value * 10 + static_cast<std::uint32_t>(peek() - '0'), 1'000);
  if (at_ != start && value >= least && value <= most) {
    out = value;
    return true;
  }
  at_ = start;
  return refuse(expected);
}

bool cron_cursor::ends_item(std::string_view others) {
  if (at_ == text_.size() || peek() == ',') return true;
  return refuse(std::string(others) + "`,` or a blank");
}

bool cron_cursor::refuse(std::string_view expected) {
  const auto what = at_ == text_.size() ? "The " + std::string(field_) + " ends" : spell_cron_token(text_.substr(at_)) + " is not allowed";
  return fail(what + " here; expected " + std::string(expected));
}

bool cron_cursor::fail(std::string sentence) {
  problem_ = {position_ + at_, std::move(sentence)};
  return false;
}

std::string spell_cron_token(std::string_view text) {
  // A word or number, as far as a reader needs it; never bytes that are no text.
  constexpr std::size_t most = 24;
  if (text.empty()) return "nothing";
  const auto alike = is_cron_digit(text[0]) ? is_cron_digit : is_cron_letter;
  std::size_t size = 0;
  while (size < text.size() && size < most && alike(text[size])) ++size;
  if (size > 0) return "`" + std::string(text.substr(0, size)) + (size == most ? "…`" : "`");
  const auto byte = static_cast<unsigned char>(text[0]);
  if (byte > ' ' && byte < 0x7f) return {'`', text[0], '`'};
  std::array<char, 16> spelled{};
  std::snprintf(spelled.data(), spelled.size(), "byte 0x%02x", byte);
  return spelled.data();
}

}  // namespace fairlead::core
