#include <gtest/gtest.h>

#include "app/console/line.hpp"

namespace fairlead::app {
namespace {

using words = std::vector<console_words>;

words parsed(const std::string& text) {
  const auto out = parse_console(text);
  EXPECT_TRUE(out.ok()) << text;
  return out ? *out : words{};
}

TEST(console_line, separates_commands_by_semicolons_and_line_ends) {
  EXPECT_EQ(parsed("nodes; tasks --parked\nquit"), (words{{"nodes"}, {"tasks", "--parked"}, {"quit"}}));
}

TEST(console_line, leaves_out_empty_commands_and_remarks) { EXPECT_EQ(parsed(" ;; # look\n\tnodes # at; these\n"), (words{{"nodes"}})); }

TEST(console_line, a_hash_inside_a_word_is_no_remark) { EXPECT_EQ(parsed("steps poll#7"), (words{{"steps", "poll#7"}})); }

TEST(console_line, takes_single_quotes_as_they_are) {
  EXPECT_EQ(parsed(R"(retry t --input '{"a": "x;\n"}')"), (words{{"retry", "t", "--input", R"({"a": "x;\n"})"}}));
}

TEST(console_line, knows_escapes_in_double_quotes_and_outside) {
  EXPECT_EQ(parsed(R"(a "b \"c\" \\ \n" d\ e\;f)"), (words{{"a", R"(b "c" \ \n)", "d e;f"}}));
}

TEST(console_line, an_empty_quoted_word_is_a_word) { EXPECT_EQ(parsed("a ''"), (words{{"a", ""}})); }

TEST(console_line, refuses_an_open_quote_and_says_where_it_opens) {
  const auto out = parse_console("tasks 'open");
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_NE(out.failure().sentence.find("character 7"), std::string::npos) << out.failure().sentence;
}

TEST(console_line, refuses_a_backslash_at_the_end_and_what_is_not_utf_8_and_what_is_too_long) {
  EXPECT_FALSE(parse_console("tasks \\").ok());
  EXPECT_FALSE(parse_console("tasks \xff").ok());
  EXPECT_TRUE(parse_console(std::string(longest_console_line, 'a')).ok());
  EXPECT_FALSE(parse_console(std::string(longest_console_line + 1, 'a')).ok());
}

TEST(console_line, knows_what_is_being_typed) {
  const auto point = console_point_of("nodes; task show ab");
  EXPECT_EQ(point.before, (console_words{"task", "show"}));
  EXPECT_EQ(point.word, "ab");
  EXPECT_EQ(point.start, 17u);
  const auto fresh = console_point_of("task show ");
  EXPECT_EQ(fresh.before, (console_words{"task", "show"}));
  EXPECT_EQ(fresh.word, "");
  EXPECT_EQ(fresh.start, 10u);
  const auto quoted = console_point_of("task show \"a b");
  EXPECT_EQ(quoted.word, "a b");
  EXPECT_EQ(quoted.quote, '"');
  EXPECT_EQ(quoted.start, 10u);
  EXPECT_TRUE(console_point_of("nodes # ta").remark);
}

TEST(console_line, a_quoted_word_is_read_back_as_it_was) {
  for (const auto* word : {"plain", "", "a b", "it's", R"("x")", R"(\)", "a;b#c", "tab\there"})
    for (const char quote : {'\0', '\'', '"'}) EXPECT_EQ(parsed(quoted_word(word, quote)), (words{{word}})) << word << " in " << quote;
}

}  // namespace
}  // namespace fairlead::app
