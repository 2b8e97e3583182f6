#include "app/cli/table.hpp"

#include <algorithm>
#include <stdexcept>

namespace fairlead::app {

namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

std::size_t text_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto c = static_cast<unsigned char>(text[i]);
    if (c == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0) {  // U+0080 to U+009F
      out += '?';
      ++i;
    } else {
      out += c < 0x20 || c == 0x7F ? '?' : text[i];
    }
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t width) {
  if (text_width(text) <= width) return std::string{text};
  std::size_t end = 0;
  for (std::size_t characters = 0; end < text.size(); ++end) {
    if (continues_character(text[end])) continue;
    if (characters++ == width - std::min<std::size_t>(width, 3)) break;
  }
  return std::string{text.substr(0, end)} + "...";
}

text_table::text_table(std::vector<column> columns) : columns_(std::move(columns)) {
  for (const auto& column : columns_) widths_.push_back(text_width(column.title));
}

void text_table::add(std::vector<std::string> cells) {
  if (cells.size() != columns_.size()) throw std::logic_error("a table row has another number of cells than there are columns");
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = printable(cells[i]);
    widths_[i] = std::max(widths_[i], text_width(cells[i]));
  }
  rows_.push_back(std::move(cells));
}

std::string text_table::text(bool titles) const {
  std::string out;
  auto add_line = [&](auto cell_of) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& cell = cell_of(i);
      std::string padding(widths_[i] - text_width(cell), ' ');
      if (i != 0) line += "  ";
      line += columns_[i].side == align::right ? padding + cell : cell + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  };
  if (titles) add_line([&](std::size_t i) -> const std::string& { return columns_[i].title; });
  for (const auto& row : rows_) add_line([&](std::size_t i) -> const std::string& { return row[i]; });
  return out;
}

}  // namespace fairlead::app
