#pragma once
// The tables of keys in docs/: what the page says is the default.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace fairlead::app {

/// The literal defaults of a table by key: what is in backticks at the beginning of the cell, or a bare number, size or duration. Keys
/// without a value (`none`, `required`, a sentence) are left out. `first_cell`: of the table's heading; `which`: of several such tables.
inline std::map<std::string, std::string> documented_defaults(const std::string& page, const std::string& first_cell, int which = 0) {
  const auto* source = std::getenv("FAIRLEAD_SOURCE");
  std::ifstream file{std::string{source != nullptr ? source : "."} + "/docs/" + page};
  EXPECT_TRUE(file.is_open()) << page;
  std::map<std::string, std::string> out;
  std::string line;
  std::size_t at = 0;  // of the column Default; 0: not in the table
  int tables = 0;
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    std::istringstream rest{line};
    for (std::string cell; std::getline(rest, cell, '|');) {
      const auto begin = cell.find_first_not_of(' ');
      cells.push_back(begin == std::string::npos ? "" : cell.substr(begin, cell.find_last_not_of(' ') - begin + 1));
    }
    if (line.empty() || line.front() != '|') {
      at = 0;
    } else if (cells.size() > 1 && cells[1] == first_cell) {
      if (tables++ != which) continue;
      for (std::size_t i = 0; i < cells.size(); ++i)
        if (cells[i] == "Default") at = i;
    } else if (at != 0 && cells.size() > at && cells[1].front() == '`') {
      const auto key = cells[1].substr(1, cells[1].find('`', 1) - 1);
      const auto& cell = cells[at];
      if (!cell.empty() && cell.front() == '`')
        out[key] = cell.substr(1, cell.find('`', 1) - 1);
      else if (static const std::regex bare{"[0-9.]+(ms|s|m|h|d|KiB|MiB|GiB)?"}; std::regex_match(cell.substr(0, cell.find(';')), bare))
        out[key] = cell.substr(0, cell.find(';'));
    }
  }
  EXPECT_GT(tables, which) << page << " has no table that begins with " << first_cell;
  EXPECT_FALSE(out.empty()) << page << ": " << first_cell;
  return out;
}

}  // namespace fairlead::app
