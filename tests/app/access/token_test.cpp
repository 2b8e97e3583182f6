#include "app/access/token.hpp"

#include <gtest/gtest.h>

#include <set>

namespace fairlead::app {
namespace {

TEST(token, has_an_id_a_secret_and_a_checksum) {
  const auto made = make_token();
  ASSERT_TRUE(made);
  EXPECT_EQ(made->text.size(), 3U + 12 + 1 + 43 + 1 + 6);
  EXPECT_TRUE(made->text.starts_with("fl_" + made->id + "_"));
  EXPECT_EQ(id_of_token(made->text), made->id);
}

TEST(token, is_another_one_each_time) {
  std::set<std::string> seen;
  for (int i = 0; i < 1'000; ++i) seen.insert(make_token()->text);
  EXPECT_EQ(seen.size(), 1'000U);
}

TEST(token, with_one_other_character_is_none) {
  const auto text = make_token()->text;
  int passed = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    for (const char c : {'A', 'b', '9', '_', ' '})
      if (auto other = text; other[i] != c) {
        other[i] = c;
        passed += id_of_token(other).has_value();
      }
  EXPECT_EQ(passed, 0);
  for (std::size_t size = 0; size < text.size(); ++size) EXPECT_FALSE(id_of_token(text.substr(0, size)));
  EXPECT_FALSE(id_of_token(text + "a"));
}

TEST(token, is_kept_as_its_sha_256) {
  EXPECT_EQ(token_hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_TRUE(same_hash("ab", "ab"));
  EXPECT_FALSE(same_hash("ab", "ac"));
  EXPECT_FALSE(same_hash("ab", "abc"));
}

}  // namespace
}  // namespace fairlead::app
