#include "app/cli/screen/table.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace fairlead::app {
namespace {

TEST(cli_table, is_no_wider_than_its_content_and_aligns_numbers_right) {
  text_table table{{{"STEP"}, {"TRIES", align::right}, {"AGENT"}}};
  table.add({"reserve", "1", "inventory"});
  table.add({"ship", "12", ""});
  EXPECT_EQ(table.text(),
            "STEP     TRIES  AGENT\n"
            "reserve      1  inventory\n"
            "ship        12\n");
}

TEST(cli_table, counts_characters_and_not_bytes) {
  text_table table{{{"A"}, {"B"}}};
  table.add({"Münster", "x"});
  table.add({"Reims", "y"});
  EXPECT_EQ(table.text(),
            "A        B\n"
            "Münster  x\n"
            "Reims    y\n");
}

TEST(cli_table, keeps_its_widths_from_page_to_page) {
  text_table table{{{"TASK"}, {"STATE"}}};
  table.add({"a-long-id", "running"});
  table.clear_rows();
  EXPECT_TRUE(table.empty());
  table.add({"b", "pending"});
  EXPECT_EQ(table.text(false), "b          pending\n");
}

TEST(cli_table, never_hands_control_characters_to_a_terminal) {
  EXPECT_EQ(printable("a\x1b[31mred\nb\x7f"), "a?[31mred?b?");
  EXPECT_EQ(printable("csi\xc2\x9b"
                      "31m"),
            "csi?31m");
  EXPECT_EQ(printable("Größe"), "Größe");
  text_table table{{{"WHY"}}};
  table.add({"\x1b[2J"});
  EXPECT_EQ(table.text(), "WHY\n?[2J\n");
}

TEST(cli_table, refuses_a_row_of_another_length_as_a_bug) {
  text_table table{{{"A"}, {"B"}}};
  EXPECT_THROW(table.add({"only one"}), std::logic_error);
}

TEST(cli_table, shortens_at_characters_and_says_so) {
  EXPECT_EQ(shortened("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(shortened("abcdefghi", 8), "abcde...");
  EXPECT_EQ(shortened("äöüäöüäöü", 8), "äöüäö...");
}

}  // namespace
}  // namespace fairlead::app
