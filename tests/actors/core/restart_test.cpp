#include "actors/core/restart.hpp"

#include <gtest/gtest.h>

namespace fairlead::core {
namespace {

using indexes = std::vector<std::size_t>;
using kinds = std::vector<restart_kind>;
using std::chrono::seconds;

const kinds three(3, restart_kind::permanent);

restart_policy with(restart_strategy strategy, std::uint32_t restarts = 5, duration within = seconds{30}) {
  return {strategy, restarts, within};
}

/// All of `count` run but `which`.
std::vector<bool> all_but(std::size_t which, std::size_t count = 3) {
  std::vector<bool> out(count, true);
  out.at(which) = false;
  return out;
}

moment at(int second) { return from_unix_ms(1'700'000'000'000) + seconds{second}; }

TEST(restart_book, one_for_one_starts_the_one_that_ended) {
  restart_book book{with(restart_strategy::one_for_one), three};
  const auto plan = book.ended(1, true, all_but(1), at(0));
  EXPECT_TRUE(plan.stop.empty());
  EXPECT_EQ(plan.start, indexes{1});
  EXPECT_FALSE(plan.give_up);
}

TEST(restart_book, one_for_all_stops_the_others_in_reverse_and_starts_all_in_order) {
  restart_book book{with(restart_strategy::one_for_all), three};
  const auto plan = book.ended(1, true, all_but(1), at(0));
  EXPECT_EQ(plan.stop, (indexes{2, 0}));
  EXPECT_EQ(plan.start, (indexes{0, 1, 2}));
}

TEST(restart_book, rest_for_one_leaves_alone_what_was_started_before) {
  restart_book book{with(restart_strategy::rest_for_one), kinds(4, restart_kind::permanent)};
  const auto plan = book.ended(1, true, all_but(1, 4), at(0));
  EXPECT_EQ(plan.stop, (indexes{3, 2}));
  EXPECT_EQ(plan.start, (indexes{1, 2, 3}));
}

TEST(restart_book, a_permanent_child_is_started_again_however_it_ended_a_transient_one_after_an_error_a_temporary_one_never) {
  for (const auto failed : {false, true}) {
    restart_book book{with(restart_strategy::one_for_one), {restart_kind::permanent, restart_kind::transient, restart_kind::temporary}};
    EXPECT_EQ(book.ended(0, failed, all_but(0), at(0)).start, indexes{0});
    EXPECT_EQ(book.ended(1, failed, all_but(1), at(0)).start, failed ? indexes{1} : indexes{});
    EXPECT_TRUE(book.ended(2, failed, all_but(2), at(0)).start.empty());
  }
}

TEST(restart_book, an_end_that_is_not_answered_by_a_start_is_no_restart) {
  restart_book book{with(restart_strategy::one_for_all, 0), {restart_kind::transient, restart_kind::temporary}};
  EXPECT_FALSE(book.ended(0, false, all_but(0, 2), at(0)).give_up);
  EXPECT_FALSE(book.ended(1, true, all_but(1, 2), at(0)).give_up);
  EXPECT_TRUE(book.ended(0, true, all_but(0, 2), at(0)).give_up);
}

TEST(restart_book, a_group_does_not_bring_back_who_had_ended_for_good_nor_a_temporary_one) {
  restart_book book{with(restart_strategy::one_for_all), {restart_kind::permanent, restart_kind::transient, restart_kind::temporary}};
  ASSERT_TRUE(book.ended(1, false, all_but(1), at(0)).start.empty());
  const auto plan = book.ended(0, true, {false, false, true}, at(1));
  EXPECT_EQ(plan.stop, indexes{2});
  EXPECT_EQ(plan.start, indexes{0});
}

TEST(restart_book, more_restarts_than_allowed_within_the_window_give_up_and_stop_all_in_reverse) {
  restart_book book{with(restart_strategy::one_for_one, 2, seconds{10}), three};
  EXPECT_FALSE(book.ended(1, true, all_but(1), at(0)).give_up);
  EXPECT_FALSE(book.ended(2, true, all_but(2), at(4)).give_up);
  const auto plan = book.ended(1, true, all_but(1), at(10));
  EXPECT_TRUE(plan.give_up);
  EXPECT_EQ(plan.stop, (indexes{2, 0}));
  EXPECT_TRUE(plan.start.empty());
  EXPECT_EQ(book.recent(), 3U);
}

TEST(restart_book, restarts_that_lie_back_further_than_the_window_do_not_count) {
  restart_book book{with(restart_strategy::one_for_one, 2, seconds{10}), three};
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(book.ended(0, true, all_but(0), at(6 * i)).give_up);
  EXPECT_EQ(book.recent(), 2U);
}

TEST(restart_book, no_restart_allowed_means_the_first_end_gives_up) {
  restart_book book{with(restart_strategy::rest_for_one, 0), three};
  const auto plan = book.ended(1, true, all_but(1), at(0));
  EXPECT_TRUE(plan.give_up);
  EXPECT_EQ(plan.stop, (indexes{2, 0}));
}

TEST(restart_book, a_start_that_fails_counts_as_a_restart) {
  restart_book book{with(restart_strategy::one_for_all, 2, seconds{10}), three};
  EXPECT_FALSE(book.ended(1, true, all_but(1), at(0)).give_up);
  const auto plan = book.start_failed(1, {true, false, false}, at(0));
  EXPECT_EQ(plan.stop, indexes{0});
  EXPECT_EQ(plan.start, (indexes{0, 1}));
  EXPECT_TRUE(book.start_failed(1, {true, false, false}, at(0)).give_up);
}

TEST(restart_book, one_more_child_is_the_last) {
  restart_book book{with(restart_strategy::rest_for_one), {restart_kind::permanent}};
  book.add(restart_kind::permanent);
  const auto plan = book.ended(0, true, {false, true}, at(0));
  EXPECT_EQ(plan.stop, indexes{1});
  EXPECT_EQ(plan.start, (indexes{0, 1}));
}

TEST(restart_names, are_the_words_that_people_read) {
  EXPECT_STREQ(name_of(restart_strategy::one_for_one), "one_for_one");
  EXPECT_STREQ(name_of(restart_strategy::one_for_all), "one_for_all");
  EXPECT_STREQ(name_of(restart_strategy::rest_for_one), "rest_for_one");
  EXPECT_STREQ(name_of(restart_kind::permanent), "permanent");
  EXPECT_STREQ(name_of(restart_kind::transient), "transient");
  EXPECT_STREQ(name_of(restart_kind::temporary), "temporary");
}

}  // namespace
}  // namespace fairlead::core
