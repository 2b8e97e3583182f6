#include <gtest/gtest.h>

#include "app/config/config.hpp"
#include "tests/app/config/node_file.hpp"

namespace fairlead::app {
namespace {

TEST(config_replies, gives_receivers_up_after_a_day_unless_told_otherwise) {
  EXPECT_EQ(parsed("").config.reply_give_up_after_ms, 24 * 3'600'000);
  const auto file = parsed("replies: { give_up_after: 90m }");
  EXPECT_EQ(shown(file.problems), lines{});
  EXPECT_EQ(file.config.reply_give_up_after_ms, 90 * 60'000);
}

TEST(config_replies, refuses_less_than_a_minute_and_what_it_does_not_know) {
  const auto hasty = parsed("replies: { give_up_after: 59s }").problems;
  ASSERT_EQ(hasty.size(), 1U);
  EXPECT_NE(to_text(hasty[0]).find("n.yaml:3:"), std::string::npos) << to_text(hasty[0]);
  EXPECT_NE(to_text(hasty[0]).find("replies.give_up_after"), std::string::npos) << to_text(hasty[0]);
  EXPECT_EQ(parsed("replies: { give_up_after: 1m }").problems.size(), 0U);
  EXPECT_EQ(parsed("replies: { give_up: 1h }").problems.size(), 1U);
  EXPECT_EQ(parsed("replies: 1h").problems.size(), 1U);
}

}  // namespace
}  // namespace fairlead::app
