// docs/api.md has the paths and the problem codes that there are, and no others.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "app/api/api.hpp"

namespace fairlead::app::api {
namespace {

/// The first two cells of the rows that match, joined by a space.
std::set<std::string> rows_of_page(const std::regex& row) {
  const auto* source = std::getenv("FAIRLEAD_SOURCE");
  std::ifstream page{std::string{source != nullptr ? source : "."} + "/docs/api.md"};
  EXPECT_TRUE(page.is_open());
  std::set<std::string> out;
  for (std::string line; std::getline(page, line);)
    if (std::smatch found; std::regex_search(line, found, row)) out.insert(found[1].str() + " " + found[2].str());
  return out;
}

TEST(documented_api, has_each_path) {
  std::set<std::string> served;
  for (const auto& one : routes()) served.insert(std::string{one.method} + " " + std::string{one.path});
  EXPECT_EQ(rows_of_page(std::regex{R"(^\| `([A-Z]+)` \| `([^`]+)` \|)"}), served);
}

TEST(documented_api, has_each_problem_code_with_its_status) {
  std::set<std::string> known;
  for (const auto& one : door::problem_kinds()) known.insert(std::to_string(one.status) + " " + std::string{one.code});
  EXPECT_EQ(rows_of_page(std::regex{R"(^\| (\d{3}) \| `(\w+)` \|)"}), known);
}

}  // namespace
}  // namespace fairlead::app::api
