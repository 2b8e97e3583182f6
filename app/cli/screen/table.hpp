#pragma once
// Tables: aligned, ASCII, no wider than their content and, on a terminal, than the screen (screen.hpp).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::app {

enum class align { left, right };

/// What becomes of a column when the screen is too narrow for the table.
enum class narrow {
  keep,
  drop,   // it goes, the last of such columns first
  below,  // a cell that has no room is shown in lines below its row, with the column's title
};

/// A cell, with what it is sorted by if that is not its text.
struct cell {
  std::string text;
  std::optional<std::int64_t> key = std::nullopt;

  cell(std::string what) : text(std::move(what)) {}  // NOLINT(google-explicit-constructor)
  cell(const char* what) : text(what) {}             // NOLINT(google-explicit-constructor)
  cell(std::string what, std::int64_t sorted_by) : text(std::move(what)), key(sorted_by) {}
};

class text_table {
 public:
  struct column {
    std::string title;
    align side = align::left;
    narrow when = narrow::keep;
  };

  explicit text_table(std::vector<column> columns);

  /// `cells` must have one cell for each column.
  void add(std::vector<cell> cells);

  bool empty() const { return rows_.empty(); }

  /// The lines, each with a newline. The titles come first unless an earlier page has shown them.
  /// Two spaces separate columns; no line ends in a space. The rows are sorted, and have only the columns, that the screen asks for: a column
  /// that the table does not have is a CLI::ValidationError. With colours the titles are bold, and states have the colour of what they mean.
  std::string text(bool titles = true) const;

  /// Removes the rows but keeps the widths, for the next page.
  void clear_rows() { rows_.clear(); }

 private:
  /// The widths of the columns on a screen so wide (0: any width); 0: the column is not shown in the row.
  std::vector<std::size_t> fitted_widths(const std::vector<std::size_t>& shown, std::size_t width) const;
  /// The indexes of the columns that the screen asks for.
  std::vector<std::size_t> shown_columns() const;
  std::size_t column_named(const std::string& title, const char* option) const;
  std::vector<std::vector<cell>> sorted_rows() const;

  std::vector<column> columns_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<cell>> rows_;
};

/// Replaces control characters by `?`, because text from a service must not control the terminal.
std::string printable(std::string_view text);

/// Cuts the text to `width` characters. A cut text ends in three dots.
std::string shortened(std::string_view text, std::size_t width);

/// The number of UTF-8 characters, not of bytes.
std::size_t text_width(std::string_view text);

}  // namespace fairlead::app
