#include "messages/error.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>

namespace fairlead {
namespace {

TEST(result, is_either_a_value_or_an_error) {
  const result<int> good = 5;
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(*good, 5);
  const result<int> bad = error{v1::ERROR_CODE_NOT_FOUND, "there is no task t1", "look again"};
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.failure().code, v1::ERROR_CODE_NOT_FOUND);
  EXPECT_THROW(bad.value(), std::bad_variant_access);
  EXPECT_THROW(good.failure(), std::bad_variant_access);
}

TEST(result, gives_up_a_value_that_can_only_be_moved) {
  result<std::unique_ptr<int>> one = std::make_unique<int>(7);
  ASSERT_TRUE(one.ok());
  const auto taken = std::move(one).value();
  EXPECT_EQ(*taken, 7);
}

TEST(status, says_only_whether_it_worked) {
  EXPECT_TRUE(status{nothing{}}.ok());
  EXPECT_FALSE(status(error{}).ok());
  EXPECT_EQ(error{}.code, v1::ERROR_CODE_INTERNAL) << "an error nobody described is a bug";
}

TEST(error, travels_as_a_message) {
  const error sent{v1::ERROR_CODE_CONFLICT, "task t1 exists", "use another id"};
  const auto got = error::from_proto(sent.to_proto());
  EXPECT_EQ(got.code, sent.code);
  EXPECT_EQ(got.sentence, sent.sentence);
  EXPECT_EQ(got.remedy, sent.remedy);
}

TEST(error_code, has_a_word_of_its_own) {
  std::set<std::string> words;
  for (int code = v1::ErrorCode_MIN; code <= v1::ErrorCode_MAX; ++code) {
    ASSERT_TRUE(v1::ErrorCode_IsValid(code));
    const std::string word = code_word(static_cast<v1::ErrorCode>(code));
    EXPECT_NE(word, "unknown") << code;
    words.insert(word);
  }
  EXPECT_EQ(words.size(), static_cast<std::size_t>(v1::ErrorCode_MAX) + 1);
  EXPECT_STREQ(code_word(static_cast<v1::ErrorCode>(999)), "unknown");
}

}  // namespace
}  // namespace fairlead
