#include "messages/ids.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <thread>
#include <unordered_set>
#include <vector>

namespace fairlead {
namespace {

TEST(task_id, holds_one_to_256_of_the_allowed_characters) {
  for (const std::string id : {"a", "order-1", "A.b_C:d@e/f-9", "0"}) EXPECT_TRUE(valid_task_id(id)) << id;
  EXPECT_TRUE(valid_task_id(std::string(256, 'x')));
  EXPECT_FALSE(valid_task_id(std::string(257, 'x')));
  for (const std::string id : {"", " ", "a b", "a\n", "a#b", "a?b", "\xc3\xa4", "a\\b", "a*b", "a,b"})
    EXPECT_FALSE(valid_task_id(id)) << id;
  EXPECT_FALSE(valid_task_id(std::string{"a\0b", 3}));
}

TEST(task_id, of_a_child_is_longer_and_has_its_own_sign) {
  for (const std::string id : {"a", "order-1", "order-1/ship~1", "job@2026-03-29T01:00:00Z/ship~1/pack~12"})
    EXPECT_TRUE(possible_task_id(id)) << id;
  EXPECT_FALSE(valid_task_id("order-1/ship~1"));
  EXPECT_TRUE(possible_task_id(std::string(256, 'x')));
  EXPECT_FALSE(possible_task_id(std::string(257, 'x'))) << "chosen by somebody";
  EXPECT_TRUE(possible_task_id(std::string(478, 'x') + "~1"));
  EXPECT_FALSE(possible_task_id(std::string(479, 'x') + "~1"));
  for (const std::string id : {"", " ", "a b/ship~1", "a/ship~1\n", "a#b~1", "\xc3\xa4~1"}) EXPECT_FALSE(possible_task_id(id)) << id;
}

TEST(uuid_v7, has_the_form_that_the_rfc_gives_it) {
  const std::regex form{"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"};
  for (int i = 0; i < 100; ++i) {
    const auto id = make_uuid_v7(1'700'000'000'000 + i);
    EXPECT_TRUE(std::regex_match(id, form)) << id;
    EXPECT_TRUE(valid_task_id(id));
  }
}

TEST(uuid_v7, begins_with_its_moment) {
  const auto id = make_uuid_v7(0x0199'abcd'ef01);
  EXPECT_EQ(id.substr(0, 13), "0199abcd-ef01");
}

TEST(uuid_v7, sorts_strictly_by_the_order_of_making) {
  auto last = make_uuid_v7(0x0199'abcd'ef02);
  for (int i = 0; i < 20'000; ++i) {  // more than one millisecond's counter holds
    auto next = make_uuid_v7(0x0199'abcd'ef02);
    ASSERT_LT(last, next);
    last = std::move(next);
  }
  EXPECT_LT(last, make_uuid_v7(1)) << "also when the clock goes back";
}

TEST(uuid_v7, is_unique_across_threads) {
  std::vector<std::vector<std::string>> made(4);
  std::vector<std::thread> threads;
  for (auto& mine : made)
    threads.emplace_back([&mine] {
      for (int i = 0; i < 5'000; ++i) mine.push_back(make_uuid_v7(0x0199'abcd'ff00 + i / 100));
    });
  for (auto& one : threads) one.join();
  std::set<std::string> all;
  for (const auto& mine : made) {
    EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
    all.insert(mine.begin(), mine.end());
  }
  EXPECT_EQ(all.size(), 20'000u);
}

TEST(strong_id, compares_and_hashes_with_its_own_kind) {
  EXPECT_EQ(task_number{3}, task_number{3});
  EXPECT_NE(task_number{3}, task_number{4});
  EXPECT_LT(task_number{3}, task_number{4});
  EXPECT_EQ(task_number{}.get(), 0u);
  const std::unordered_set<task_id> set{task_id{"a"}, task_id{"b"}, task_id{"a"}};
  EXPECT_EQ(set.size(), 2u);
  EXPECT_FALSE((std::is_convertible_v<std::uint64_t, task_number>));
  EXPECT_FALSE((std::is_assignable_v<task_number&, epoch>));
}

}  // namespace
}  // namespace fairlead
