#include "app/cli/screen/table.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "app/cli/screen/screen.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t gap = 2;           // blanks between columns
constexpr std::size_t least_below = 16;  // characters of a column whose cells may stand below

bool says_state(std::string_view title) {
  static constexpr std::array titles{"STATE", "HEALTH", "BREAKER", "END", "CONNECTED"};
  return std::find(titles.begin(), titles.end(), title) != titles.end();
}

std::string lower(std::string text) {
  for (auto& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

/// `LAST FAULT` is written `last-fault` in options.
std::string as_option(const std::string& title) {
  auto out = lower(title);
  for (auto& c : out)
    if (c == ' ') c = '-';
  return out;
}

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

void text_table::add(std::vector<cell> cells) {
  if (cells.size() != columns_.size()) throw std::logic_error("a table row has another number of cells than there are columns");
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i].text = printable(cells[i].text);
    widths_[i] = std::max(widths_[i], text_width(cells[i].text));
  }
  rows_.push_back(std::move(cells));
}

std::size_t text_table::column_named(const std::string& title, const char* option) const {
  std::string all;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto known = as_option(columns_[i].title);
    if (known == as_option(title)) return i;
    all += (all.empty() ? "" : ", ") + known;
  }
  throw CLI::ValidationError(option, "there is no column '" + title + "'; the columns are " + all);
}

std::vector<std::size_t> text_table::shown_columns() const {
  std::vector<std::size_t> out;
  for (const auto& title : shown_on().columns) out.push_back(column_named(title, "--columns"));
  if (!out.empty()) return out;
  for (std::size_t i = 0; i < columns_.size(); ++i) out.push_back(i);
  return out;
}

std::vector<std::vector<cell>> text_table::sorted_rows() const {
  auto out = rows_;
  auto by = shown_on().sort;
  if (by.empty()) return out;
  const bool down = by.front() == '-';
  if (down) by.erase(0, 1);
  const auto at = column_named(by, "--sort");
  const auto number = columns_[at].side == align::right;
  const auto less = [&](const std::vector<cell>& one, const std::vector<cell>& other) {
    const auto& a = one[at];
    const auto& b = other[at];
    if (a.key && b.key) return *a.key < *b.key;
    if (number) return std::strtod(a.text.c_str(), nullptr) < std::strtod(b.text.c_str(), nullptr);
    return a.text < b.text;
  };
  std::stable_sort(out.begin(), out.end(), [&](const auto& a, const auto& b) { return down ? less(b, a) : less(a, b); });
  return out;
}

std::vector<std::size_t> text_table::fitted_widths(const std::vector<std::size_t>& shown, std::size_t width) const {
  std::vector<std::size_t> out(columns_.size(), 0);
  for (const auto i : shown) out[i] = widths_[i];
  const auto needed = [&] {
    std::size_t sum = 0;
    for (const auto one : out)
      if (one != 0) sum += one + (sum == 0 ? 0 : gap);
    return sum;
  };
  // Columns that somebody asked for by name do not go.
  if (width == 0 || needed() <= width || !shown_on().columns.empty()) return out;
  // First what may stand below gives room, down to its title; then columns go; then what is below has what is left.
  std::vector<std::size_t> below;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (columns_[i].when == narrow::below) below.push_back(i);
  for (const auto i : below) out[i] = std::min(out[i], std::max(text_width(columns_[i].title), least_below));
  for (std::size_t i = columns_.size(); i-- > 0 && needed() > width;)
    if (columns_[i].when == narrow::drop) out[i] = 0;
  for (std::size_t k = below.size(); k-- > 0 && needed() > width;) out[below[k]] = 0;
  for (const auto i : below)
    if (out[i] != 0 && needed() < width) out[i] = std::min(widths_[i], out[i] + width - needed());
  return out;
}

std::string text_table::text(bool titles) const {
  const auto& on = shown_on();
  const auto shown = shown_columns();
  const auto widths = fitted_widths(shown, on.width);
  std::string out;
  const auto add_line = [&](auto cell_of, auto paint) {
    std::string line;
    bool first = true;
    for (const auto i : shown) {
      if (widths[i] == 0) continue;
      std::string text = cell_of(i);
      const std::string padding(widths[i] - std::min(widths[i], text_width(text)), ' ');
      text = paint(i, text);
      if (!std::exchange(first, false)) line += std::string(gap, ' ');
      line += columns_[i].side == align::right ? padding + text : text + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  };
  if (titles)
    add_line([&](std::size_t i) { return columns_[i].title; },
             [&](std::size_t, const std::string& title) { return on.colours && !title.empty() ? "\x1b[1m" + title + "\x1b[0m" : title; });
  for (const auto& row : sorted_rows()) {
    const auto goes_below = [&](std::size_t i) { return columns_[i].when == narrow::below && text_width(row[i].text) > widths[i]; };
    add_line([&](std::size_t i) { return goes_below(i) ? std::string{} : row[i].text; },
             [&](std::size_t i, const std::string& text) { return says_state(columns_[i].title) ? coloured(text, text) : text; });
    for (const auto i : shown)
      if (goes_below(i)) out += fitted("    " + lower(columns_[i].title) + "  " + row[i].text) + '\n';
  }
  return out;
}

}  // namespace fairlead::app
