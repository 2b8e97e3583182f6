#include "actors/core/registry/limit_book.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace fairlead::core {
namespace {

using policies = google::protobuf::RepeatedPtrField<v1::LimitPolicy>;

v1::LimitPolicy limit(const std::string& call, const std::string& key, std::uint32_t concurrency, std::uint32_t rate = 0,
                      std::int64_t per_ms = 1'000) {
  v1::LimitPolicy out;
  out.set_call(call);
  out.set_key(key);
  out.set_concurrency(concurrency);
  out.set_rate(rate);
  if (rate > 0) out.set_rate_per_ms(per_ms);
  return out;
}

policies of(const std::vector<v1::LimitPolicy>& all) { return {all.begin(), all.end()}; }

std::string key_at(const std::string& path, const std::string& input) { return limit_key(parse_plain_path(".input" + path), input); }

class limit_book_test : public ::testing::Test {
 protected:
  limit_bucket& customer(const std::string& id) { return *book.keyed("charge", R"({"customer":{"id":)" + id + "}}", now).at(0); }
  /// Takes as many as there is room for.
  int take_all(limit_bucket& in, int at_most = 10'000) {
    int count = 0;
    for (; count < at_most && limit_book::has_room(in, now); ++count) book.take(in, now);
    return count;
  }

  moment now = from_unix_ms(1'700'000'000'000);
  limit_book book;
};

TEST(limit_key, is_the_text_at_the_path) {
  const auto* input = R"({"customer":{"id":"a b","n":[1, {"x":2.50}]},"no":null})";
  EXPECT_EQ(key_at(".customer.id", input), "\"a b\"");
  EXPECT_EQ(key_at(".customer.n[1].x", input), "2.50");
  EXPECT_EQ(key_at(".customer.n[-2]", input), "1");
  EXPECT_EQ(key_at(".no", input), "null");
  EXPECT_EQ(key_at(".customer.missing", input), "");
  EXPECT_EQ(key_at(".customer.id.deeper", input), "");
  EXPECT_EQ(key_at(".customer", "[]"), "");
  EXPECT_EQ(key_at(".customer", ""), "");
}

TEST(limit_key, is_the_same_for_every_spelling_of_a_string) {
  EXPECT_EQ(key_at(".c", R"({"c":"\u0041\u00e9"})"), key_at(".c", R"({"c":"Aé"})"));
}

TEST(limit_key, is_short_for_long_values_and_still_tells_them_apart) {
  std::set<std::string> seen;
  for (int i = 0; i < 1'000; ++i) {
    const auto key = key_at(".c", R"({"c":")" + std::string(300, 'x') + std::to_string(i) + "\"}");
    EXPECT_LE(key.size(), 64u);
    seen.insert(key);
  }
  EXPECT_EQ(seen.size(), 1'000u);
}

TEST_F(limit_book_test, gives_as_many_at_a_time_as_the_policy_says) {
  book.set_policies(of({limit("charge", "", 3)}), now);
  EXPECT_TRUE(book.common("refund", now).empty());
  auto& bucket = *book.common("charge", now).at(0);
  EXPECT_EQ(take_all(bucket), 3);
  book.give_back(bucket, std::nullopt, now);
  EXPECT_EQ(take_all(bucket), 1);
}

TEST_F(limit_book_test, counts_each_key_for_itself_and_all_without_one_together) {
  book.set_policies(of({limit("", ".customer.id", 2)}), now);
  EXPECT_TRUE(book.wants_input("anything"));
  EXPECT_EQ(take_all(customer("1")), 2);
  EXPECT_EQ(take_all(customer("2")), 2);
  auto& without = *book.keyed("charge", "{}", now).at(0);
  EXPECT_EQ(take_all(without), 2);
  EXPECT_EQ(take_all(*book.keyed("charge", "[7]", now).at(0)), 0);
}

TEST_F(limit_book_test, keeps_to_a_rate_with_a_burst_of_a_second) {
  book.set_policies(of({limit("", "", 0, 600, 60'000)}), now);
  auto& bucket = *book.common("charge", now).at(0);
  EXPECT_EQ(take_all(bucket), 1) << "what was handed over before the start is not known";
  now += duration{10'000};
  EXPECT_EQ(take_all(bucket), 10) << "one second's share";
  EXPECT_EQ(limit_book::opens_at(bucket), now + duration{100});
  now += duration{99};
  EXPECT_FALSE(limit_book::has_room(bucket, now));
  now += duration{1};
  EXPECT_EQ(take_all(bucket), 1);
  int in_a_minute = 0;
  for (int i = 0; i < 60'000; ++i) {
    now += duration{1};
    in_a_minute += take_all(bucket);
  }
  EXPECT_EQ(in_a_minute, 600);
}

TEST_F(limit_book_test, lets_one_through_where_the_rate_is_less_than_one_in_a_second) {
  book.set_policies(of({limit("", "", 0, 2, 60'000)}), now);
  auto& bucket = *book.common("charge", now).at(0);
  EXPECT_EQ(take_all(bucket), 1);
  EXPECT_EQ(limit_book::opens_at(bucket), now + duration{30'000});
  now += duration{600'000};
  EXPECT_EQ(take_all(bucket), 1);
}

TEST_F(limit_book_test, keeps_to_rates_of_many_in_a_millisecond) {
  book.set_policies(of({limit("", "", 0, 5'000, 1'000)}), now);
  auto& bucket = *book.common("charge", now).at(0);
  int taken = take_all(bucket);
  for (int i = 0; i < 2'000; ++i) {
    now += duration{1};
    taken += take_all(bucket);
  }
  EXPECT_NEAR(taken, 10'000, 10);
}

TEST_F(limit_book_test, is_not_stuck_by_a_clock_that_goes_back) {
  book.set_policies(of({limit("", "", 0, 10, 1'000)}), now);
  auto& bucket = *book.common("charge", now).at(0);
  take_all(bucket);
  now -= duration{3'600'000};
  EXPECT_EQ(take_all(bucket), 1) << "and no burst, however often the clock is set back";
  now += duration{100};
  EXPECT_EQ(take_all(bucket), 1);
  now += duration{3'000};
  EXPECT_TRUE(limit_book::has_room(bucket, now));
}

TEST_F(limit_book_test, gives_the_token_of_an_unused_slot_back) {
  book.set_policies(of({limit("", "", 0, 1, 60'000)}), now);
  auto& bucket = *book.common("charge", now).at(0);
  ASSERT_EQ(take_all(bucket), 1);
  book.give_back(bucket, now, now);
  EXPECT_EQ(take_all(bucket), 1);
  book.give_back(bucket, std::nullopt, now);
  EXPECT_EQ(take_all(bucket), 0);
}

TEST_F(limit_book_test, gives_only_back_what_time_has_not_made_room_for) {
  book.set_policies(of({limit("", "", 0, 1, 1'000)}), now);
  auto& bucket = *book.common("charge", now).at(0);
  ASSERT_EQ(take_all(bucket), 1);
  const auto taken = now;
  now += duration{400};
  book.give_back(bucket, taken, now);
  EXPECT_EQ(take_all(bucket), 1);
  EXPECT_EQ(limit_book::opens_at(bucket), now + duration{1'000});
  book.give_back(bucket, now - duration{60'000}, now);
  EXPECT_EQ(take_all(bucket), 0) << "the room that it took was free long before";
}

TEST_F(limit_book_test, lets_what_comes_back_together_not_go_out_again_at_once) {
  book.set_policies(of({limit("", "", 0, 4, 1'000)}), now);
  auto& bucket = *book.common("charge", now).at(0);
  std::vector<moment> taken;
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(take_all(bucket), 1);
    taken.push_back(now);
    now += duration{250};
  }
  int again = 0;
  for (const auto at : taken) {
    book.give_back(bucket, at, now);
    again += take_all(bucket);
  }
  EXPECT_EQ(again, 1);
}

TEST_F(limit_book_test, keeps_no_bucket_that_nobody_needs) {
  book.set_policies(of({limit("", ".customer.id", 2, 100, 1'000)}), now);
  for (int i = 0; i < 100'000; ++i) {
    auto& bucket = customer(std::to_string(i));
    book.take(bucket, now);
    book.give_back(bucket, std::nullopt, now);
    now += duration{10};
  }
  EXPECT_LT(book.size(), 500u);
  auto& held = customer("\"held\"");
  book.take(held, now);
  auto& used = customer("\"used\"");
  book.keep(used);
  for (int i = 0; i < 10'000; ++i) {
    customer(std::to_string(i));
    now += duration{10};
  }
  EXPECT_EQ(&customer("\"held\""), &held);
  EXPECT_EQ(&customer("\"used\""), &used);
  EXPECT_EQ(held.held, 1u);
}

TEST_F(limit_book_test, does_not_hand_a_key_a_fresh_burst_by_forgetting_it) {
  book.set_policies(of({limit("", ".customer.id", 0, 10, 1'000)}), now);
  now += duration{60'000};
  int taken = 0;
  for (int ms = 0; ms < 10'000; ms += 10) {
    now += duration{10};
    auto& bucket = customer("1");
    if (limit_book::has_room(bucket, now)) {
      book.take(bucket, now);
      book.give_back(bucket, std::nullopt, now);
      ++taken;
    }
    for (int i = 0; i < 5; ++i) customer(std::to_string(1'000 + i));
  }
  EXPECT_LE(taken, 110);
  EXPECT_GE(taken, 100);
}

TEST_F(limit_book_test, keeps_what_is_out_when_only_the_numbers_change) {
  book.set_policies(of({limit("charge", ".customer.id", 2)}), now);
  auto& bucket = customer("1");
  ASSERT_EQ(take_all(bucket), 2);
  EXPECT_FALSE(book.set_policies(of({limit("charge", ".customer.id", 3)}), now));
  EXPECT_EQ(take_all(bucket), 1);
  EXPECT_FALSE(book.set_policies(of({limit("charge", ".customer.id", 1)}), now));
  book.give_back(bucket, std::nullopt, now);
  book.give_back(bucket, std::nullopt, now);
  EXPECT_EQ(take_all(bucket), 0);
}

TEST_F(limit_book_test, lets_what_is_out_under_a_limit_that_is_gone_come_back) {
  book.set_policies(of({limit("", ".customer.id", 2), limit("charge", "", 5)}), now);
  auto& bucket = customer("1");
  auto& common = *book.common("charge", now).at(0);
  book.take(bucket, now);
  book.take(common, now);
  EXPECT_TRUE(book.set_policies(of({}), now));
  EXPECT_TRUE(book.empty());
  EXPECT_FALSE(book.give_back(bucket, std::nullopt, now));
  EXPECT_FALSE(book.give_back(common, std::nullopt, now));
  EXPECT_EQ(book.size(), 0u);
}

TEST_F(limit_book_test, says_what_a_limit_is) {
  book.set_policies(of({limit("charge", ".customer", 5), limit("", "", 0, 100, 1'000)}), now);
  EXPECT_EQ(book.rules().at(0)->name(), "limit 5 at a time for charge by .customer");
  EXPECT_EQ(book.rules().at(1)->name(), "limit 100 in 1s");
}

}  // namespace
}  // namespace fairlead::core
