#pragma once
// Tables for people: aligned, ASCII, no wider than their content.

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

  /// As many cells as there are columns; anything else is a bug.
  void add(std::vector<std::string> cells);

  bool empty() const { return rows_.empty(); }

  /// Lines with `\n`, titles first unless they were shown already. Columns are two spaces apart; no line ends in a space.
  std::string text(bool titles = true) const;

  /// Forgets the rows and keeps the widths, for the next page.
  void clear_rows() { rows_.clear(); }

 private:
  std::vector<column> columns_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

/// Control characters become `?`: what a service has sent must not steer a terminal.
std::string printable(std::string_view text);

/// Cut to `width` characters, the last three being dots when something was cut.
std::string shortened(std::string_view text, std::size_t width);

/// Characters, not bytes, of UTF-8 text.
std::size_t text_width(std::string_view text);

}  // namespace fairlead::app
