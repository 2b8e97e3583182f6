#pragma once
// Tables for a terminal: aligned, ASCII, no wider than their content.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::app {

enum class align { left, right };

class text_table {
 public:
  struct column {
    std::string title;
    align side = align::left;
  };

  explicit text_table(std::vector<column> columns);

  /// `cells` must have one cell for each column.
  void add(std::vector<std::string> cells);

  bool empty() const { return rows_.empty(); }

  /// The lines, each with a newline. The titles come first unless an earlier page has shown them.
  /// Two spaces separate columns; no line ends in a space.
  std::string text(bool titles = true) const;

  /// Removes the rows but keeps the widths, for the next page.
  void clear_rows() { rows_.clear(); }

 private:
  std::vector<column> columns_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

/// Replaces control characters by `?`, because text from a service must not control the terminal.
std::string printable(std::string_view text);

/// Cuts the text to `width` characters. A cut text ends in three dots.
std::string shortened(std::string_view text, std::size_t width);

/// The number of UTF-8 characters, not of bytes.
std::size_t text_width(std::string_view text);

}  // namespace fairlead::app
