#include "actors/core/text/text.hpp"

#include <gtest/gtest.h>

namespace fairlead::core {
namespace {

TEST(verb_word, is_the_name_of_the_value_without_that_of_the_enum) {
  EXPECT_EQ(verb_word("OPERATOR_VERB_SETTLE_COMPLETED"), "settle_completed");
  EXPECT_EQ(verb_word("LEAVE"), "leave");
  EXPECT_EQ(verb_word(""), "");
}

TEST(shown_key, cuts_a_long_key_once) {
  EXPECT_EQ(shown_key("ship"), "ship");
  EXPECT_EQ(shown_key(std::string(256, 'x')), std::string(256, 'x'));
  for (const std::size_t size : {253U, 254U, 255U, 256U}) {
    const auto cut = shown_key(std::string(size, 'x') + "→→");
    EXPECT_LE(cut.size(), 259U);
    EXPECT_EQ(shown_key(cut), cut);
  }
}

TEST(clean_text, leaves_valid_utf_8_as_it_is) {
  for (const std::string text : {"", "plain", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"})
    EXPECT_EQ(clean_text(text, 100), text);
}

TEST(clean_text, replaces_each_byte_that_is_no_utf_8) {
  const std::string r = "\xef\xbf\xbd";
  struct row {
    std::string in, out;
  };
  for (const auto& [in, out] : {row{"a\xff"
                                    "b",
                                    "a" + r + "b"},
                                row{"\xc3", r}, row{"\xc0\x80", r + r}, row{"\xed\xa0\x80", r + r + r},
                                row{"\xf4\x90\x80\x80", r + r + r + r}, row{"\xe2\x82", r + r}, row{"\x80", r}})
    EXPECT_EQ(clean_text(in, 100), out);
}

TEST(clean_text, ends_before_a_character_that_would_pass_the_limit) {
  EXPECT_EQ(clean_text("ab\xc3\xa4", 4), "ab\xc3\xa4");
  EXPECT_EQ(clean_text("ab\xc3\xa4", 3), "ab");
  EXPECT_EQ(clean_text("abc", 0), "");
}

TEST(clean_end, is_the_end_and_begins_with_a_whole_character) {
  EXPECT_EQ(clean_end("abc", 10), "abc");
  EXPECT_EQ(clean_end("abc", 2), "bc");
  EXPECT_EQ(clean_end("a\xc3\xa4"
                      "b",
                      2),
            "b");
  EXPECT_EQ(clean_end("a\xc3\xa4"
                      "b",
                      3),
            "\xc3\xa4"
            "b");
  EXPECT_EQ(clean_end("", 3), "");
}

TEST(clean_end, is_never_longer_than_the_limit_though_a_byte_that_is_replaced_grows) {
  const std::string r = "\xef\xbf\xbd";
  EXPECT_EQ(clean_end("\xff\xff\xff", 6), r + r);
  EXPECT_EQ(clean_end("\xff\xff\xff", 5), r);
}

}  // namespace
}  // namespace fairlead::core
