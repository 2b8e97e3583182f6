#include "actors/core/cluster/state_comparison.hpp"

#include <gtest/gtest.h>

namespace fairlead::core {
namespace {

constexpr std::int64_t now_ms = 1'700'000'000'000;

v1::StateComparison asked(std::uint64_t number = 3) {
  v1::StateComparison out;
  out.set_number(number);
  out.set_asked_at_unix_ms(now_ms - 1'000);
  return out;
}

/// Answers by replica, from 1 on; 0: none. All of them vote.
v1::StateComparison of(const std::vector<std::uint64_t>& hashes, std::uint64_t leader = 1) {
  std::vector<replica_answer> all;
  for (const auto hash : hashes) {
    const auto id = all.size() + 1;
    all.push_back({id, "n" + std::to_string(id), true, std::nullopt});
    if (hash != 0) all.back().hash = std::pair{hash, std::uint64_t{9}};
  }
  return ended(asked(), 12, all, leader, now_ms);
}

std::string differing(const v1::StateComparison& what) {
  std::string out;
  for (const auto& one : what.replicas())
    if (one.differs()) out += one.node() + " ";
  return out;
}

TEST(state_comparison, whoever_has_another_state_than_the_majority_differs_the_leader_as_well) {
  EXPECT_EQ(differing(of({7, 7, 7})), "");
  EXPECT_EQ(differing(of({7, 7, 8})), "n3 ");
  EXPECT_EQ(differing(of({8, 7, 7})), "n1 ");
  EXPECT_EQ(differing(of({7, 8, 7, 9, 7})), "n2 n4 ");
  EXPECT_FALSE(of({8, 7, 7}).no_majority());
  EXPECT_EQ(difference_of(of({8, 7, 7}), 1), "its state is not that of the other nodes");
  EXPECT_EQ(difference_of(of({8, 7, 7}), 2), "");
  EXPECT_EQ(difference_of(of({8, 7, 7}), 4), "") << "there is no such replica";
}

TEST(state_comparison, who_has_not_answered_neither_differs_nor_counts) {
  const auto two = of({7, 7, 0});
  EXPECT_EQ(differing(two), "");
  EXPECT_FALSE(two.no_majority()) << "two of three";
  EXPECT_FALSE(two.replicas(2).answered());
  EXPECT_TRUE(is_same(two));
  const auto one = of({7, 0, 0});
  EXPECT_TRUE(one.no_majority());
  EXPECT_TRUE(is_same(one)) << "nothing is known of the others";
  EXPECT_EQ(differing(of({0, 0, 0})), "");
}

TEST(state_comparison, without_a_majority_the_others_are_compared_with_the_leader) {
  const auto two = of({7, 8}, 2);
  EXPECT_TRUE(two.no_majority());
  EXPECT_EQ(differing(two), "n1 ");
  EXPECT_EQ(difference_of(two, 1), "its state is not that of the node that led, and no majority of the votes says whose is right");
  EXPECT_EQ(differing(of({7, 8, 9}, 3)), "n1 n2 ");
  EXPECT_EQ(differing(of({0, 8, 9}, 1)), "n3 ") << "the leader does not know its own";
}

TEST(state_comparison, a_standby_is_compared_and_has_no_vote) {
  const std::pair<std::uint64_t, std::uint64_t> right{7, 9}, wrong{8, 9};
  const auto what = ended(asked(), 12, {{1, "n1", true, wrong}, {2, "n2", false, right}, {3, "n3", false, right}}, 1, now_ms);
  EXPECT_EQ(differing(what), "n2 n3 ");
  EXPECT_TRUE(what.no_majority()) << "nobody agrees with the only one that votes";
  const auto two = ended(asked(), 12, {{1, "n1", true, wrong}, {2, "n2", false, wrong}, {3, "n3", false, right}}, 1, now_ms);
  EXPECT_EQ(differing(two), "n3 ");
  EXPECT_FALSE(two.no_majority());
}

TEST(state_comparison, a_copy_does_not_count_before_its_state_was_known_to_be_right) {
  const std::pair<std::uint64_t, std::uint64_t> right{7, 9}, wrong{8, 9};
  // The leader's is wrong, and n3 has got a copy of it.
  auto what = ended(asked(), 12, {{1, "n1", true, wrong}, {2, "n2", true, right}, {3, "n3", true, wrong, 10}}, 1, now_ms);
  EXPECT_TRUE(what.no_majority());
  EXPECT_EQ(differing(what), "n2 ");
  // While n2 was away nothing was known of it, so that both have the same says nothing.
  what = ended(asked(), 12, {{1, "n1", true, wrong}, {2, "n2", true, std::nullopt}, {3, "n3", true, wrong, 10}}, 1, now_ms);
  what = ended(what, 20, {{1, "n1", true, wrong}, {2, "n2", true, right}, {3, "n3", true, wrong, 10}}, 1, now_ms);
  EXPECT_TRUE(what.no_majority());
  // All had the same once, and n3 has got no copy since.
  what = ended(asked(), 12, {{1, "n1", true, right}, {2, "n2", true, right}, {3, "n3", true, right, 10}}, 1, now_ms);
  EXPECT_EQ(what.replicas(2).sound_index(), 12U);
  const auto later = ended(what, 20, {{1, "n1", true, right}, {2, "n2", true, wrong}, {3, "n3", true, right, 10}}, 1, now_ms);
  EXPECT_FALSE(later.no_majority());
  EXPECT_EQ(differing(later), "n2 ");
  EXPECT_EQ(later.replicas(1).sound_index(), 12U) << "it was then";
  EXPECT_EQ(later.replicas(2).sound_index(), 20U);
  // It got one.
  EXPECT_TRUE(ended(what, 20, {{1, "n1", true, wrong}, {2, "n2", true, right}, {3, "n3", true, wrong, 15}}, 1, now_ms).no_majority());
}

TEST(state_comparison, what_has_ended_keeps_what_was_asked) {
  const auto what = of({7, 7, 7});
  EXPECT_EQ(what.number(), 3U);
  EXPECT_EQ(what.asked_at_unix_ms(), now_ms - 1'000);
  EXPECT_EQ(what.ended_at_unix_ms(), now_ms);
  EXPECT_EQ(what.index(), 12U);
  EXPECT_TRUE(in_progress(asked()));
  EXPECT_FALSE(in_progress(what));
  EXPECT_FALSE(in_progress({})) << "there was none";
}

TEST(state_comparison, is_due_once_a_day_and_after_an_hour_if_a_state_differs) {
  EXPECT_FALSE(is_due(std::nullopt, now_ms, compare_first_ms - 1));
  EXPECT_TRUE(is_due(std::nullopt, now_ms, compare_first_ms));
  const auto same = of({7, 7, 7});
  EXPECT_FALSE(is_due(same, same.asked_at_unix_ms() + compare_every_ms - 1, 0));
  EXPECT_TRUE(is_due(same, same.asked_at_unix_ms() + compare_every_ms, 0));
  const auto other = of({7, 7, 8});
  EXPECT_FALSE(is_due(other, other.asked_at_unix_ms() + compare_again_ms - 1, 0));
  EXPECT_TRUE(is_due(other, other.asked_at_unix_ms() + compare_again_ms, 0));
  // The clock was a day ahead when it was asked.
  EXPECT_FALSE(is_due(same, same.asked_at_unix_ms() - compare_every_ms, 0));
  EXPECT_TRUE(is_due(same, same.asked_at_unix_ms() - compare_every_ms - 1, 0));
}

}  // namespace
}  // namespace fairlead::core
