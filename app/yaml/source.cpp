#include "app/yaml/source.hpp"

#include <algorithm>
#include <array>

namespace fairlead::app {

namespace {

// Length of the well-formed UTF-8 sequence (Unicode, table 3-7) at the front; 0 when there is none.
std::size_t sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto tail = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
  const auto first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return tail(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f)) return 0;
    return tail(1) && tail(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if ((first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f)) return 0;
    return tail(1) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

constexpr std::size_t stride = 64;

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

yaml_source::yaml_source(std::string_view text) : text_(text), starts_{0} {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i % stride == 0) counts_.push_back(characters);
    if (begins_character(text[i])) ++characters;
    if (text[i] == '\n') starts_.push_back(i + 1);
  }
  counts_.push_back(characters);
}

std::size_t yaml_source::characters_before(std::size_t byte) const {
  // The last, partial count stands for the end of the text.
  if (byte == text_.size()) return counts_.back();
  auto out = counts_[byte / stride];
  for (auto i = byte - byte % stride; i < byte; ++i) out += begins_character(text_[i]) ? 1 : 0;
  return out;
}

text_position yaml_source::position_of(std::size_t byte) const {
  byte = std::min(byte, text_.size());
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), byte);
  const auto start = *(after - 1);
  text_position out;
  out.line = static_cast<int>(after - starts_.begin());
  out.column = static_cast<int>(characters_before(byte) - characters_before(start)) + 1;
  return out;
}

std::string_view yaml_source::line(int number) const {
  if (number < 1 || static_cast<std::size_t>(number) > starts_.size()) return {};
  const auto start = starts_[static_cast<std::size_t>(number) - 1];
  return text_.substr(start, text_.find('\n', start) - start);
}

std::optional<std::size_t> yaml_source::first_bad_byte() const {
  for (std::size_t i = 0; i < text_.size();) {
    const auto c = static_cast<unsigned char>(text_[i]);
    if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f) return i;
    const auto size = sequence(text_.substr(i));
    if (size == 0) return i;
    i += size;
  }
  return std::nullopt;
}

bool yaml_source::null_is_written(std::size_t byte) const {
  constexpr std::array<std::string_view, 4> words{"~", "null", "Null", "NULL"};
  // Tags and anchors stand before the word.
  while (byte < text_.size() && (text_[byte] == '!' || text_[byte] == '&')) {
    while (byte < text_.size() && !blank(text_[byte])) ++byte;
    while (byte < text_.size() && blank(text_[byte])) ++byte;
  }
  const auto rest = text_.substr(std::min(byte, text_.size()));
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    if (rest.substr(0, word.size()) != word) return false;
    const char next = rest.size() > word.size() ? rest[word.size()] : '\n';
    return blank(next) || next == ',' || next == ']' || next == '}';
  });
}

bool yaml_source::quote_is_closed(std::size_t byte) const {
  while (byte < text_.size() && (text_[byte] == '!' || text_[byte] == '&')) {
    while (byte < text_.size() && !blank(text_[byte])) ++byte;
    while (byte < text_.size() && blank(text_[byte])) ++byte;
  }
  if (byte >= text_.size() || (text_[byte] != '"' && text_[byte] != '\'')) return true;
  const char quote = text_[byte];
  for (auto i = byte + 1; i < text_.size(); ++i) {
    if (quote == '"' && text_[i] == '\\') {
      ++i;
    } else if (text_[i] == quote) {
      if (quote == '"' || i + 1 >= text_.size() || text_[i + 1] != quote) return true;
      ++i;
    }
  }
  return false;
}

}  // namespace fairlead::app
