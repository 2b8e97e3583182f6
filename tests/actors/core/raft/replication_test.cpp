#include <gtest/gtest.h>

#include "tests/actors/core/raft/group.hpp"

namespace fairlead::raft {
namespace {

TEST(replication, an_entry_is_committed_when_a_majority_has_it_durable) {
  group three{three_voters};
  three.elect(1);
  EXPECT_EQ(three.propose_text(1, "pay"), 12U);
  three.sync(1);
  EXPECT_EQ(three.core(1).commit_index(), 11U);
  three.silent[3] = true;
  three.settle();
  EXPECT_EQ(three.core(1).commit_index(), 12U);
  EXPECT_EQ(three.at(1).committed.back().bytes(), "pay");
}

TEST(replication, a_follower_confirms_nothing_before_it_is_durable) {
  group three{three_voters};
  EXPECT_TRUE(three.step(2, received{{1, 2, 5, append{1, 10, 1, 10, 0, {text(11, 5, "x")}}}}).messages.empty());
  three.sync(2);
  ASSERT_EQ(three.wire.size(), 1U);
  EXPECT_EQ(std::get<append_reply>(three.wire.front().body).matched, 11U);
}

TEST(replication, a_leader_counts_itself_only_for_what_its_disk_has) {
  group three{three_voters};
  three.elect(1);
  three.propose_text(1, "pay");
  three.step(1, received{{2, 1, three.core(1).term(), append_reply{2, false, 12, 0, 0, 0}}});
  EXPECT_EQ(three.core(1).commit_index(), 11U);
  three.step(1, received{{3, 1, three.core(1).term(), append_reply{2, false, 12, 0, 0, 0}}});
  EXPECT_EQ(three.core(1).commit_index(), 12U);
  EXPECT_EQ(three.at(1).committed.back().index, 11U);  // given out when it is durable here as well
  three.sync(1);
  EXPECT_EQ(three.at(1).committed.back().index, 12U);
}

// B1, R1 (Ongaro 2014, figure 3.7)
TEST(replication, an_entry_of_a_former_term_is_committed_only_by_one_of_this_term) {
  group three{three_voters};
  three.start(1, {{2, 1}, {10, 1, three_voters}, {text(11, 2, "old")}, 10});
  three.pass(1, 2 * group::election_ms);
  three.step(1, received{{2, 1, 3, vote_reply{true, true}}});
  three.sync(1);
  three.step(1, received{{2, 1, 3, vote_reply{false, true}}});
  ASSERT_EQ(three.core(1).current_role(), role::leader);
  three.sync(1);
  three.step(1, received{{2, 1, 3, append_reply{1, false, 11, 0, 0, 0}}});
  EXPECT_EQ(three.core(1).commit_index(), 10U);
  three.step(1, received{{2, 1, 3, append_reply{2, false, 12, 0, 0, 0}}});
  EXPECT_EQ(three.core(1).commit_index(), 12U);
}

// B2, B3, R2, R3
TEST(replication, a_follower_with_left_over_entries_confirms_and_commits_only_what_this_leader_has_shown) {
  group three{three_voters};
  three.start(2, {{3, 0}, {10, 1, three_voters}, {text(11, 3, "left over"), text(12, 3, "left over")}, 10});
  const auto out = three.step(2, received{{1, 2, 4, append{1, 10, 1, 12, 0, {}}}});
  three.sync(2);
  EXPECT_EQ(std::get<append_reply>(three.wire.front().body).matched, 10U);
  EXPECT_EQ(three.core(2).commit_index(), 10U);

  three.step(2, received{{1, 2, 4, append{2, 10, 1, 12, 0, {text(11, 4, "new")}}}});
  three.sync(2);
  EXPECT_EQ(three.core(2).entries().last_index(), 11U);
  EXPECT_EQ(three.core(2).commit_index(), 11U);
  ASSERT_EQ(three.at(2).committed.size(), 1U);
  EXPECT_EQ(three.at(2).committed.front().bytes(), "new");
}

TEST(replication, a_write_from_before_a_cut_says_nothing_of_the_entries_behind_it) {
  group three{three_voters};
  three.step(2, received{{3, 2, 3, append{1, 10, 1, 10, 0, {text(11, 3, "a"), text(12, 3, "b")}}}});
  const auto before = three.at(2).position;
  three.step(2, received{{1, 2, 4, append{1, 10, 1, 12, 0, {text(11, 4, "c"), text(12, 4, "d")}}}});
  three.step(2, durable{before});
  EXPECT_TRUE(three.at(2).committed.empty());
  three.sync(2);
  EXPECT_EQ(three.at(2).committed.size(), 2U);
}

// B4, R4
TEST(replication, commits_go_on_while_newer_entries_keep_coming) {
  group three{three_voters};
  three.elect(1);
  for (int i = 0; i < 5; ++i) {
    const auto index = three.propose_text(1, "pay");
    three.propose_text(1, "and another that nobody has yet");
    three.sync(1);
    three.step(1, received{{2, 1, three.core(1).term(), append_reply{100, false, index, 0, 0, 0}}});
    EXPECT_EQ(three.core(1).commit_index(), index);
  }
}

TEST(replication, what_is_missing_is_found_in_two_messages_a_term_apart) {
  group three{three_voters};
  three.start(1, {{6, 0}, {10, 1, three_voters}, {text(11, 2, "a"), text(12, 2, "b"), text(13, 6, "c")}, 10});
  three.start(2, {{4, 0}, {10, 1, three_voters}, {text(11, 2, "a"), text(12, 4, "x"), text(13, 4, "y"), text(14, 4, "z")}, 10});
  three.elect(1);
  EXPECT_EQ(three.core(2).entries().last_index(), 14U);
  EXPECT_EQ(three.core(2).entries().at(13).bytes(), "c");
  EXPECT_EQ(three.core(1).others().at(2).match, 14U);
}

TEST(replication, so_much_that_is_not_confirmed_is_sent_and_no_more) {
  group three{three_voters};
  three.elect(1);
  three.wire.clear();
  for (int i = 0; i < 20; ++i) three.propose_text(1, std::string(60, 'x'));
  std::size_t bytes = 0;
  for (const auto& each : three.wire)
    if (each.to == 2)
      for (const auto& one : std::get<append>(each.body).entries) bytes += one.bytes().size();
  EXPECT_GE(bytes, 240U);
  EXPECT_LE(bytes, 360U);
}

TEST(replication, to_a_replica_that_does_not_answer_one_message_is_sent) {
  group three{three_voters};
  three.elect(1);
  three.step(1, unreachable{2});
  three.wire.clear();
  for (int i = 0; i < 20; ++i) three.propose_text(1, "pay");
  std::size_t to_it = 0;
  for (const auto& each : three.wire) to_it += each.to == 2 ? 1 : 0;
  EXPECT_EQ(to_it, 1U);
}

TEST(replication, what_was_lost_is_sent_again_after_two_heartbeats) {
  group three{three_voters};
  three.elect(1);
  three.propose_text(1, "pay");
  three.wire.clear();
  for (int i = 0; i < 3; ++i) {
    three.pass(1, group::heartbeat_ms);
    three.settle();
  }
  EXPECT_EQ(three.core(2).entries().last_index(), 12U);
  EXPECT_EQ(three.core(3).entries().last_index(), 12U);
}

TEST(replication, a_replica_that_needs_what_is_no_longer_kept_is_known) {
  group three{three_voters};
  three.silent[3] = true;
  three.elect(1);
  three.propose_text(1, "pay");
  three.settle();
  three.step(1, compact{12});
  three.silent.clear();
  three.pass(1, 4 * group::heartbeat_ms);
  three.settle();
  EXPECT_TRUE(three.core(1).others().at(3).lacks_base);
  EXPECT_FALSE(three.core(1).others().at(2).lacks_base);
  EXPECT_EQ(std::get<base>(three.at(1).records.back()).index, 12U);
}

// It has entries of a former term where the base is. Only a copy of the state helps it, and until that comes it is left in peace.
TEST(replication, a_replica_that_disagrees_at_the_base_is_not_asked_over_and_over) {
  group two{{{1, 2}, {}}};
  two.start(1, {{3, 0}, {15, 3, {{1, 2}, {}}}, {text(16, 3, "x")}, 15});
  std::vector<entry> left_over;
  for (log_index index = 11; index <= 20; ++index) left_over.push_back(text(index, 2, "left over"));
  two.start(2, {{3, 0}, {10, 1, {{1, 2}, {}}}, left_over, 10});
  std::size_t moved = 0;
  two.watch = [&](replica_id, const input&, const output& out) { moved += out.messages.size(); };
  two.elect(1);
  EXPECT_TRUE(two.core(1).others().at(2).lacks_base);
  EXPECT_LT(moved, 20U);
}

TEST(replication, rounds_do_not_hasten_what_is_asked_of_a_slow_replica) {
  group three{three_voters};
  three.elect(1);
  three.propose_text(1, "pay");
  three.wire.clear();
  std::size_t appends = 0;
  three.watch = [&](replica_id id, const input&, const output& out) { appends += id == 1 ? bodies<append>(out.messages).size() : 0; };
  for (std::uint64_t ticket = 1; ticket <= 50; ++ticket) {
    three.step(1, confirm{ticket});
    three.settle();
  }
  EXPECT_LE(appends, 2U);
}

// What it rejected before it was removed says nothing of what it has now.
TEST(replication, a_replica_that_left_and_came_back_is_counted) {
  group two{{{1}, {2}}};
  two.step(1, tick{});
  two.settle();
  for (int i = 0; i < 5; ++i) {
    two.propose_text(1, "pay");
    two.settle();
  }
  for (const auto& who : {members{{1}, {}}, members{{1}, {2}}}) {
    two.step(1, change_members{who});
    two.settle();
  }
  two.pass(1, 2 * group::heartbeat_ms);
  two.settle();
  ASSERT_EQ(two.core(1).others().at(2).match, two.core(1).entries().last_index());
  two.step(1, received{{2, 1, two.core(1).term(), append_reply{5, true, 0, 13, 10, 1}}});
  EXPECT_FALSE(two.core(1).others().at(2).went_back());
}

// Nor does what it confirmed then: its store may be lost.
TEST(replication, what_a_replica_confirmed_before_it_left_is_not_counted_when_it_comes_back) {
  group two{{{1}, {2}}};
  two.step(1, tick{});
  two.settle();
  two.propose_text(1, "pay");
  two.settle();
  ASSERT_EQ(two.core(1).others().at(2).match, 12U);
  two.silent[2] = true;
  for (const auto& who : {members{{1}, {}}, members{{1}, {2}}}) {
    two.step(1, change_members{who});
    two.settle();
  }
  two.step(1, received{{2, 1, two.core(1).term(), append_reply{1, false, 12, 0, 0, 0}}});
  EXPECT_EQ(two.core(1).others().at(2).match, 0U);
  two.silent.clear();
  two.pass(1, 2 * group::heartbeat_ms);
  two.settle();
  EXPECT_EQ(two.core(1).others().at(2).match, two.core(1).entries().last_index());
}

TEST(replication, a_journal_that_does_not_belong_to_the_state_is_refused) {
  group three{three_voters};
  EXPECT_THROW(three.start(1, {{1, 0}, {20, 1, three_voters}, {}, 15}), std::logic_error);
  EXPECT_THROW(three.start(1, {{1, 0}, {10, 1, three_voters}, {text(11, 1, "x")}, 15}), std::logic_error);
}

TEST(replication, many_rejections_of_one_gap_make_one_message) {
  group two{{{1, 2}, {}}};
  two.elect(1);
  two.wire.clear();
  for (int i = 0; i < 5; ++i) two.propose_text(1, std::string(55, 'x'));
  const auto sent = two.wire;
  two.wire.clear();
  ASSERT_EQ(sent.size(), 5U);
  for (std::size_t i = 1; i < sent.size(); ++i) two.step(2, received{sent[i]});  // the first is lost
  std::size_t answered = 0;
  two.watch = [&](replica_id id, const input&, const output& out) { answered += id == 1 ? out.messages.size() : 0; };
  const auto rejections = std::move(two.wire);
  two.wire.clear();
  for (const auto& each : rejections) two.step(1, received{each});
  EXPECT_EQ(rejections.size(), 4U);
  EXPECT_EQ(answered, 1U);
  // And when it has answered that one, the rejections that are late say nothing either.
  two.settle();
  answered = 0;
  for (const auto& each : rejections) two.step(1, received{each});
  EXPECT_EQ(answered, 0U);
}

/// 1 leads; 3 has confirmed entries up to 12 to it, and begins on an older copy of its store.
group group_with_a_loss() {
  group three{three_voters};
  three.elect(1);
  three.propose_text(1, "pay");
  three.settle();
  three.start(3, {{three.core(1).term(), 0}, {10, 1, three_voters}, {}, 10});
  return three;
}

// R14
TEST(replication, a_replica_that_has_lost_what_it_confirmed_is_not_counted_any_more) {
  auto three = group_with_a_loss();
  three.silent[2] = true;
  three.propose_text(1, "more");
  for (int i = 0; i < 4; ++i) {
    three.settle();
    three.pass(1, group::heartbeat_ms);
  }
  EXPECT_TRUE(three.core(1).others().at(3).went_back());
  EXPECT_EQ(three.core(1).commit_index(), 12U);
}

TEST(replication, a_replica_that_has_lost_what_it_confirmed_takes_part_no_more_once_it_is_told) {
  auto three = group_with_a_loss();
  EXPECT_FALSE(three.core(3).went_back());
  three.propose_text(1, "more");
  three.settle();
  ASSERT_TRUE(three.core(1).others().at(3).went_back());
  three.pass(1, 2 * group::heartbeat_ms);
  three.settle();
  EXPECT_TRUE(three.core(3).went_back());
  EXPECT_EQ(three.core(3).quarantined(), "it lacks entries that it had confirmed: its store is an older copy");
  // Neither does it vote.
  three.wire.clear();
  three.step(3, received{{2, 3, three.core(1).term() + 1, vote_request{false, true, 100, three.core(1).term()}}});
  EXPECT_TRUE(three.wire.empty());
}

TEST(replication, a_replica_that_has_lost_what_it_confirmed_hears_so_before_there_is_anything_new) {
  auto three = group_with_a_loss();
  three.pass(1, 2 * group::heartbeat_ms);
  three.settle();
  EXPECT_TRUE(three.core(3).went_back());
}

TEST(replication, a_replica_whose_latest_store_is_back_does_not_take_itself_for_an_older_one) {
  group three{three_voters};
  three.elect(1);
  three.propose_text(1, "pay");
  three.settle();
  const auto term = three.core(1).term();
  three.start(3, {{term, 0}, {10, 1, three_voters}, {text(11, term, "epoch"), text(12, term, "pay")}, 10});
  for (const auto& [what, lacks] : {std::pair{heartbeat{0, 0, 0, 12, term}, false},
                                    {heartbeat{0, 0, 0, 12, 0}, false},
                                    {heartbeat{0, 0, 0, 9, 1}, false},
                                    {heartbeat{0, 0, 0, 12, term + 1}, true}}) {
    three.step(3, received{{1, 3, term, what}});
    EXPECT_EQ(three.core(3).went_back(), lacks) << what.lacks_index << "/" << what.lacks_term;
  }
}

TEST(replication, a_replica_whose_latest_store_is_back_is_counted_again) {
  auto three = group_with_a_loss();
  const auto term = three.core(1).term();
  const auto beat = [&] {
    for (int i = 0; i < 4; ++i) {
      three.pass(1, group::heartbeat_ms);
      three.settle();
    }
  };
  three.propose_text(1, "more");
  three.settle();
  ASSERT_TRUE(three.core(1).others().at(3).went_back());
  three.start(3, {{term, 0}, {10, 1, three_voters}, {text(11, term, "epoch"), text(12, term, "pay")}, 10});
  beat();
  EXPECT_FALSE(three.core(1).others().at(3).went_back());
  EXPECT_EQ(three.core(3).entries().last_index(), 13U);
  three.silent[2] = true;
  three.propose_text(1, "with 3 alone");
  beat();
  EXPECT_EQ(three.core(1).commit_index(), 14U);
}

TEST(replication, what_a_replica_had_confirmed_and_lost_is_not_counted_for_entries_that_are_not_committed_yet) {
  group three{three_voters};
  three.elect(1);
  three.silent[2] = true;
  // 3 has confirmed it, and the disk of 1 is slow.
  const auto index = three.propose_text(1, "pay");
  three.sync(3);
  while (!three.wire.empty()) {
    const auto next = three.wire.front();
    three.wire.pop_front();
    if (next.to == 2) continue;
    three.step(next.to, received{next});
    three.sync(3);
  }
  ASSERT_EQ(three.core(1).others().at(3).match, index);
  ASSERT_LT(three.core(1).commit_index(), index);
  three.start(3, {{three.core(1).term(), 0}, {10, 1, three_voters}, {}, 10});
  three.propose_text(1, "more");
  while (!three.wire.empty()) {
    const auto next = three.wire.front();
    three.wire.pop_front();
    if (next.to != 2) three.step(next.to, received{next});
    three.sync(3);
  }
  ASSERT_TRUE(three.core(1).others().at(3).went_back());
  three.sync(1);
  EXPECT_LT(three.core(1).commit_index(), index);
}

TEST(replication, a_replica_that_has_lost_what_it_confirmed_is_told_no_commits) {
  group three{three_voters};
  three.elect(1);
  three.propose_text(1, "pay");
  three.settle();
  three.start(3, {{three.core(1).term(), 0}, {10, 1, three_voters}, {text(11, 1, "left over"), text(12, 1, "left over")}, 10});
  three.propose_text(1, "more");
  three.settle();
  ASSERT_TRUE(three.core(1).others().at(3).went_back());
  three.pass(1, 2 * group::heartbeat_ms);
  three.settle();
  EXPECT_EQ(three.core(3).commit_index(), 10U);
}

TEST(replication, a_late_rejection_makes_no_replica_lack_the_base) {
  group two{{{1, 2}, {}}};
  two.elect(1);
  for (int i = 0; i < 5; ++i) two.propose_text(1, "pay");
  two.settle();
  two.step(1, compact{16});
  two.propose_text(1, "pay");
  two.step(1, received{{2, 1, two.core(1).term(), append_reply{99, true, 0, 17, 12, two.core(1).term()}}});
  EXPECT_FALSE(two.core(1).others().at(2).lacks_base);
}

// 2 has made another entry at 11 in term 3, and its message is late. 1 in term 4 and 3 in term 5 have committed the entry of term 2.
TEST(replication, what_a_leader_commits_is_given_out_when_its_term_is_durable) {
  group five{{{1, 2, 3, 4, 5}, {}}};
  five.start(5, {{2, 1}, {10, 1, {{1, 2, 3, 4, 5}, {}}}, {text(11, 2, "kept")}, 10});
  five.step(5, received{{1, 5, 4, append{1, 11, 2, 10, 0, {text(12, 4, "kept")}}}});
  five.step(5, received{{3, 5, 5, append{1, 12, 4, 12, 0, {text(13, 5, "kept")}}}});
  EXPECT_TRUE(five.at(5).committed.empty());
  five.sync(5);
  EXPECT_EQ(five.at(5).committed.size(), 2U);
}

TEST(replication, a_late_rejection_is_no_loss) {
  group three{three_voters};
  three.elect(1);
  three.propose_text(1, "pay");
  three.settle();
  three.step(1, received{{3, 1, three.core(1).term(), append_reply{1, true, 0, 10, 10, 1}}});
  EXPECT_FALSE(three.core(1).others().at(3).went_back());
}

// R13
TEST(replication, a_second_leader_in_the_term_of_the_first_ends_the_replica) {
  group three{three_voters};
  three.elect(1);
  three.step(1, received{{2, 1, three.core(1).term(), heartbeat{}}});
  EXPECT_EQ(three.core(1).quarantined(), "replica 2 leads in term 2, and so does this one");
  EXPECT_EQ(three.core(1).current_role(), role::follower);
  EXPECT_EQ(three.propose_text(1, "pay"), 0U);
}

TEST(replication, a_leader_that_contradicts_what_is_committed_ends_the_replica) {
  group three{three_voters};
  three.elect(1);
  three.pass(1, group::heartbeat_ms);
  three.settle();
  three.step(2, received{{3, 2, 9, append{1, 10, 1, 11, 0, {text(11, 9, "other")}}}});
  EXPECT_EQ(three.core(2).quarantined(), "the leader has another entry at index 11, which is committed here");
}

TEST(replication, followers_know_what_the_clock_of_their_leader_shows_although_it_was_set_back_and_stamps_stay) {
  group three{three_voters};
  three.elect(1);
  three.propose_text(1, "pay");
  three.settle();
  EXPECT_EQ(three.core(2).shown_stamp_ms(), three.core(2).entries().last_stamp_ms());
  three.now.shard_ms -= 50'000;
  three.propose_text(1, "pay");
  three.settle();
  EXPECT_EQ(three.core(1).shown_stamp_ms(), three.now.shard_ms);
  EXPECT_EQ(three.core(2).shown_stamp_ms(), three.now.shard_ms);
  EXPECT_EQ(three.core(2).entries().last_stamp_ms(), three.now.shard_ms + 50'000);
  // Its own first entry says nothing about the clock of the leader before it.
  const auto shown = three.now.shard_ms;
  three.elect(2);
  EXPECT_EQ(three.core(2).shown_stamp_ms(), shown);
}

TEST(replication, stamps_never_fall_and_followers_know_what_the_clock_of_their_leader_shows) {
  group three{three_voters};
  three.elect(1);
  const auto first = three.core(1).entries().last_stamp_ms();
  three.now.shard_ms -= 50'000;
  three.propose_text(1, "pay");
  three.settle();
  EXPECT_EQ(three.core(1).entries().last_stamp_ms(), first);
  three.step(1, compact{12});
  three.propose_text(1, "pay");
  EXPECT_EQ(three.core(1).entries().last_stamp_ms(), first);
  three.settle();
  EXPECT_EQ(three.core(2).last_stamp().stamp_ms, three.now.shard_ms);
  three.now.shard_ms += 90'000;
  three.pass(1, group::heartbeat_ms);
  three.settle();
  EXPECT_EQ(three.core(2).last_stamp().stamp_ms, three.now.shard_ms);
  EXPECT_EQ(three.core(2).last_stamp().boot_ms, three.now.boot_ms);
}

}  // namespace
}  // namespace fairlead::raft
