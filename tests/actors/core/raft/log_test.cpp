#include "actors/core/raft/log.hpp"

#include <gtest/gtest.h>

#include "tests/actors/core/raft/group.hpp"

namespace fairlead::raft {
namespace {

log some_log() {
  return log{{10, 2, {{1, 2, 3}, {}}},
             {text(11, 2, "a"), text(12, 3, "bb"), {13, 3, 0, entry_kind::members, encode({{1, 2}, {3}})}, text(14, 5, "cccc")}};
}

TEST(log, knows_the_terms_from_its_base_on) {
  const auto of = some_log();
  EXPECT_EQ(of.term_at(9), std::nullopt);
  EXPECT_EQ(of.term_at(10), 2U);
  EXPECT_EQ(of.term_at(14), 5U);
  EXPECT_EQ(of.term_at(15), std::nullopt);
}

TEST(log, is_covered_by_one_with_a_later_term_or_more_of_the_same) {
  const auto of = some_log();
  EXPECT_TRUE(of.is_covered_by(11, 6));
  EXPECT_TRUE(of.is_covered_by(14, 5));
  EXPECT_FALSE(of.is_covered_by(13, 5));
  EXPECT_FALSE(of.is_covered_by(99, 4));
}

TEST(log, finds_where_logs_that_disagree_may_agree) {
  const auto of = some_log();
  EXPECT_EQ(of.last_of_term(14, 4), 13U);
  EXPECT_EQ(of.last_of_term(99, 2), 11U);
  EXPECT_EQ(of.last_of_term(12, 9), 12U);
  EXPECT_EQ(of.last_of_term(14, 1), 10U);
}

TEST(log, gives_entries_up_to_a_size_and_one_at_least) {
  const auto of = some_log();
  EXPECT_EQ(of.slice(11, 3).size(), 2U);
  EXPECT_EQ(of.slice(14, 1).size(), 1U);
  EXPECT_TRUE(of.slice(15, 1).empty());
}

// B6, R7
TEST(log, members_go_out_of_force_with_the_entry_that_named_them) {
  auto of = some_log();
  EXPECT_EQ(of.current_members(), (members{{1, 2}, {3}}));
  EXPECT_EQ(of.members_index(), 13U);
  of.cut_from(13);
  EXPECT_EQ(of.current_members(), (members{{1, 2, 3}, {}}));
  EXPECT_EQ(of.last_index(), 12U);
}

TEST(log, members_stay_in_force_when_their_entry_is_no_longer_kept) {
  auto of = some_log();
  of.raise_base(12);
  EXPECT_EQ(of.members_at(12), (members{{1, 2, 3}, {}}));
  of.raise_base(14);
  EXPECT_EQ(of.current_members(), (members{{1, 2}, {3}}));
  EXPECT_EQ(of.base_term(), 5U);
  EXPECT_EQ(of.bytes(), 0U);
}

TEST(log, has_no_gaps_and_is_not_cut_below_its_base) {
  auto of = some_log();
  EXPECT_THROW(of.append(text(16, 5, "x")), std::logic_error);
  EXPECT_THROW(of.cut_from(10), std::logic_error);
  EXPECT_THROW(of.raise_base(15), std::logic_error);
}

TEST(members, are_read_only_if_they_make_sense) {
  EXPECT_EQ(decode_members(*encode({{1, 5}, {3}})), (members{{1, 5}, {3}}));
  for (const auto& wrong : {members{{}, {1}}, members{{0, 1}, {}}, members{{2, 1}, {}}, members{{1, 1}, {}}, members{{1, 2}, {2}}})
    EXPECT_EQ(decode_members(*encode(wrong)), std::nullopt);
  EXPECT_EQ(decode_members("\xff\xff"), std::nullopt);
}

TEST(members, change_by_one_voter_so_that_majorities_meet) {
  EXPECT_TRUE(one_voter_apart({{1, 2, 3}, {}}, {{1, 2, 3, 4}, {}}));
  EXPECT_TRUE(one_voter_apart({{1, 2, 3}, {4}}, {{1, 2}, {3, 5}}));
  EXPECT_FALSE(one_voter_apart({{1, 2, 3}, {}}, {{1, 2, 4}, {}}));
}

}  // namespace
}  // namespace fairlead::raft
