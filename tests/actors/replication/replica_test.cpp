#include "actors/replication/replica.hpp"

#include <atomic>
#include <thread>

#include "actors/protocol/confirm.hpp"
#include "tests/actors/replication/replica_world.hpp"
#include "tests/eventually.hpp"

namespace fairlead {
namespace {

using testing::replica_world;

raft::replica_id other_than(raft::replica_id id) { return id == 1 ? 2 : 1; }

TEST(replica, of_a_group_of_one_leads_and_commits_at_once) {
  replica_world one{1};
  const auto epoch = one.it(1).raise_epoch();
  ASSERT_TRUE(epoch.ok()) << epoch.failure().sentence;
  EXPECT_TRUE(one.propose(1, "a", "1"));
  one.run();
  EXPECT_EQ(one.rows(1).at("a"), "1");
  const auto again = one.it(1).raise_epoch();
  ASSERT_TRUE(again.ok()) << again.failure().sentence;
  EXPECT_GT(*again, *epoch);
}

TEST(replica, of_a_group_of_one_has_all_after_a_kill_and_leads_in_a_later_term) {
  replica_world one{1};
  ASSERT_TRUE(one.it(1).raise_epoch().ok());
  for (int i = 0; i < 300; ++i) {
    EXPECT_TRUE(one.propose(1, "key " + std::to_string(i), std::string(3'000, 'x')));
    one.run();
    if (i % 70 == 0) one.apply(1);
  }
  const auto term = one.it(1).view().term;
  one.kill(1);
  one.start(1);
  EXPECT_EQ(one.rows(1).size(), 300U);
  ASSERT_TRUE(one.it(1).raise_epoch().ok());
  EXPECT_GT(one.it(1).view().term, term);
}

TEST(replica, shows_what_a_majority_has_on_every_replica) {
  replica_world three;
  const auto leader = three.elect();
  ASSERT_NE(leader, 0U);
  EXPECT_TRUE(three.propose(leader, "a", "1"));
  three.run();
  EXPECT_EQ(three.at(leader).committed_, 1U);
  three.pass(replica_world::heartbeat_ms);  // followers learn of a commit by the next word of the leader
  for (raft::replica_id id = 1; id <= 3; ++id) EXPECT_EQ(three.rows(id).at("a"), "1") << id;
}

TEST(replica, shows_nobody_what_a_leader_has_proposed_alone_and_drops_it) {
  replica_world three;
  const auto former = three.elect();
  ASSERT_NE(former, 0U);
  EXPECT_TRUE(three.propose(former, "kept", "1"));
  three.run();
  three.cut_off(former);
  EXPECT_TRUE(three.propose(former, "lost", "1"));
  EXPECT_TRUE(three.propose(former, "lost, too", std::string(100'000, 'x')));  // more than one record
  three.run();
  EXPECT_EQ(three.rows(former).count("lost"), 0U);
  const auto next = three.elect();
  ASSERT_NE(next, 0U);
  ASSERT_NE(next, former);
  EXPECT_EQ(three.rows(next).at("kept"), "1");
  EXPECT_TRUE(three.propose(next, "new", "1"));
  three.run();
  three.pass(2 * replica_world::election_ms);
  EXPECT_EQ(three.at(former).epoch, 0U) << "a leader without a majority steps down";
  three.heal();
  three.pass(2 * replica_world::election_ms);
  EXPECT_EQ(three.rows(former), three.rows(next));
  EXPECT_EQ(three.rows(former).count("lost"), 0U);
  // The cut is in its journal.
  three.kill(former);
  three.start(former);
  three.pass(2 * replica_world::election_ms);
  EXPECT_EQ(three.rows(former), three.rows(next));
}

TEST(replica, that_was_away_gets_what_it_lacks_although_the_others_have_applied_it_and_were_killed) {
  replica_world three;
  const auto leader = three.elect();
  ASSERT_NE(leader, 0U);
  const auto away = other_than(leader);
  three.kill(away);
  for (int i = 0; i < 60; ++i) {
    EXPECT_TRUE(three.propose(leader, "key " + std::to_string(i), std::string(10'000, 'x')));
    three.run();
  }
  three.pass(200);
  for (raft::replica_id id = 1; id <= 3; ++id)
    if (id != away) three.apply(id);
  for (raft::replica_id id = 1; id <= 3; ++id)
    if (id != away) three.kill(id);
  for (raft::replica_id id = 1; id <= 3; ++id) three.start(id);
  ASSERT_NE(three.elect(), 0U);
  three.pass(replica_world::election_ms);
  EXPECT_EQ(three.rows(away).size(), 60U);
}

TEST(replica, says_of_one_that_was_away_too_long_that_it_needs_a_copy) {
  replica_world three;
  const auto leader = three.elect();
  ASSERT_NE(leader, 0U);
  const auto away = other_than(leader);
  three.cut_off(away);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(three.propose(leader, "key", std::string(100'000, 'x')));
    three.run();
    for (raft::replica_id id = 1; id <= 3; ++id) three.apply(id);
  }
  three.pass(200);
  three.heal();
  three.pass(2 * replica_world::election_ms);
  const auto leads = three.elect();
  ASSERT_NE(leads, 0U);
  bool said = false;
  for (const auto& one : three.it(leads).view().others) said = said || (one.id == away && one.lacks_base);
  EXPECT_TRUE(said);
}

TEST(replica, keeps_its_term_and_vote_when_the_segment_that_had_them_is_gone) {
  replica_world three;
  const auto leader = three.elect();
  ASSERT_NE(leader, 0U);
  for (int i = 0; i < 120; ++i) {
    EXPECT_TRUE(three.propose(leader, "key", std::string(100'000, 'x')));
    three.run();
    for (raft::replica_id id = 1; id <= 3; ++id) three.apply(id);
  }
  three.pass(200);
  for (raft::replica_id id = 1; id <= 3; ++id) {
    const auto before = three.it(id).view();
    three.kill(id);
    three.start(id);
    const auto after = three.it(id).view();
    EXPECT_EQ(after.term, before.term) << id;
    EXPECT_EQ(after.last_index, before.last_index) << id;
    EXPECT_LT(three.at(id).stores->log().get_usage().segments, 40U) << id;
  }
  ASSERT_NE(three.elect(), 0U);
}

TEST(replica, answers_a_confirmed_round_when_it_has_shown_what_counted_then) {
  replica_world three;
  const auto leader = three.elect();
  ASSERT_NE(leader, 0U);
  const auto led = three.it(leader).confirm();
  three.run();
  EXPECT_TRUE(three.at(leader).answers.at(led));
  three.cut_off(leader);
  const auto alone = three.it(leader).confirm();
  three.run();
  EXPECT_EQ(three.at(leader).answers.count(alone), 0U);
  three.pass(3 * replica_world::election_ms);
  EXPECT_FALSE(three.at(leader).answers.at(alone));
  const auto followed = three.it(other_than(leader)).confirm();
  three.run();
  EXPECT_TRUE(three.at(other_than(leader)).answers.count(followed) > 0);
}

TEST(replica, does_not_confirm_for_a_read_before_the_scheduler_of_its_present_lead_has_begun) {
  replica_world three;
  const auto first = three.elect();
  const auto second = other_than(first);
  const auto asked = [&] {
    const auto ticket = three.it(first).confirm(confirm_begun);
    three.pass(3 * replica_world::heartbeat_ms);
    return three.at(first).answers.at(ticket);
  };
  EXPECT_FALSE(asked());
  ASSERT_TRUE(three.it(first).ask_epoch().ok());
  EXPECT_TRUE(asked());
  // It hands over, and leads again, before the Scheduler of its first lead has ended.
  ASSERT_TRUE(three.it(first).transfer(second).ok());
  three.run();
  ASSERT_EQ(three.elect(), second);
  EXPECT_FALSE(asked());
  three.pass(replica_world::election_ms);
  ASSERT_TRUE(three.it(second).transfer(first).ok());
  three.run();
  ASSERT_EQ(three.elect(), first);
  EXPECT_FALSE(asked()) << "that Scheduler does not know what the other node has committed";
  ASSERT_TRUE(three.it(first).ask_epoch().ok());
  EXPECT_TRUE(asked());
}

TEST(replica, does_not_confirm_to_a_scheduler_that_has_outlived_its_lead_that_it_leads) {
  replica_world three;
  const auto leader = three.elect();
  ASSERT_NE(leader, 0U);
  const auto answer = [&](std::uint64_t epoch) {
    const auto ticket = three.it(leader).confirm(epoch);
    three.run();
    return three.at(leader).answers.at(ticket);
  };
  const auto first = *three.it(leader).ask_epoch();
  ASSERT_NE(first, 0U);
  EXPECT_TRUE(answer(first));

  // Another leads in between.
  EXPECT_TRUE(three.it(leader).transfer(other_than(leader)).ok());
  three.run();
  ASSERT_EQ(three.elect(), other_than(leader));
  EXPECT_FALSE(answer(first));
  EXPECT_TRUE(three.it(other_than(leader)).transfer(leader).ok());
  three.run();
  ASSERT_EQ(three.elect(), leader);
  EXPECT_TRUE(answer(0));
  EXPECT_FALSE(answer(first));

  const auto second = *three.it(leader).ask_epoch();
  EXPECT_TRUE(answer(second));
  // A Scheduler begins anew while this one leads on.
  std::uint64_t third = 0;
  while (third == 0) {
    third = *three.it(leader).ask_epoch();
    three.run();
  }
  EXPECT_GT(third, second);
  EXPECT_FALSE(answer(second));
  EXPECT_TRUE(answer(third));
}

TEST(replica, whose_node_is_drained_hands_over_to_one_that_is_not_and_leads_again_if_it_must) {
  replica_world three;
  const auto leader = three.elect();
  ASSERT_NE(leader, 0U);
  const auto other = other_than(leader);
  const auto third = raft::replica_id{6} - leader - other;
  ASSERT_TRUE(three.propose(leader, "a", "1"));
  three.pass(replica_world::heartbeat_ms);
  ASSERT_TRUE(three.it(other).decline(true).ok());
  three.pass(2 * replica_world::heartbeat_ms);
  ASSERT_TRUE(three.it(leader).decline(true).ok());
  three.run();
  EXPECT_EQ(three.elect(), third);
  three.kill(third);
  const auto next = three.elect();
  EXPECT_TRUE(next == leader || next == other) << "both are drained, and nobody else is there";
  three.start(third);
  three.pass(3 * replica_world::election_ms);
  EXPECT_EQ(three.elect(), third) << "it is back";
}

TEST(replica, whose_turn_it_is_gets_the_lead_when_all_have_followed_for_a_while) {
  replica_world three;
  const auto leader = three.elect();
  ASSERT_NE(leader, 0U);
  const auto other = other_than(leader);
  for (raft::replica_id id = 1; id <= 3; ++id) three.it(id).prefer({other, leader});
  three.pass(50 * replica_world::election_ms);
  EXPECT_EQ(three.elect(), leader);
  three.pass(60 * replica_world::election_ms);
  EXPECT_EQ(three.elect(), other);
  three.pass(200 * replica_world::election_ms);
  EXPECT_EQ(three.elect(), other);
}

TEST(replica, takes_no_more_than_a_bound_that_no_majority_has) {
  replica_world three;
  const auto leader = three.elect();
  ASSERT_NE(leader, 0U);
  three.cut_off(leader);
  int taken = 0;
  for (; taken < 2'000 && three.propose(leader, "key", std::string(100'000, 'x')); ++taken) {
  }
  EXPECT_GT(taken, 500);
  EXPECT_LT(taken, 800);
}

TEST(replica, puts_no_more_batches_into_one_entry_than_any_journal_takes) {
  replica_world three{3, 1, std::uint64_t{8} << 20};
  const auto leader = three.elect();
  ASSERT_NE(leader, 0U);
  auto& at = three.at(leader);
  std::vector<store::batch> group(4);
  for (auto& one : group) {
    one.sequence = ++at.sequence;
    one.epoch = at.epoch;
    one.put(store::table::task, "key " + std::to_string(at.sequence), std::string(400'000, 'x'));
  }
  const auto before = three.it(leader).view().last_index;
  ASSERT_EQ(three.it(leader).propose(group).value(), replica::proposal::taken);
  EXPECT_EQ(three.it(leader).view().last_index, before + 2);
  three.run();
  EXPECT_EQ(three.rows(leader).size(), 4U);
}

TEST(replica, that_hands_its_lead_over_in_vain_gives_a_scheduler_an_epoch_after_that) {
  testing::replica_world three;
  const auto leader = three.elect();
  ASSERT_NE(leader, 0U);
  const auto first = three.it(leader).ask_epoch();
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(*first, three.at(leader).epoch) << "that of the leader itself";
  const auto next = leader == 1 ? 2 : 1;
  three.cut_off(next);
  ASSERT_TRUE(three.it(leader).transfer(next).ok());
  const auto meanwhile = three.it(leader).ask_epoch();
  ASSERT_TRUE(meanwhile.ok()) << "it leads still";
  EXPECT_EQ(*meanwhile, 0U);
  three.pass(2 * testing::replica_world::election_ms);
  EXPECT_EQ(*three.it(leader).ask_epoch(), 0U) << "a majority has to take it";
  three.run();
  const auto second = three.it(leader).ask_epoch();
  ASSERT_TRUE(second.ok());
  EXPECT_GT(*second, *first);
}

TEST(replica, refuses_batches_of_an_earlier_epoch) {
  replica_world one{1};
  const auto epoch = one.it(1).raise_epoch();
  ASSERT_TRUE(epoch.ok());
  store::batch old;
  old.sequence = 1;
  old.epoch = *epoch - 1;
  const auto taken = one.it(1).propose({old});
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.failure().code, v1::ERROR_CODE_STALE_EPOCH);
}

/// Kills, cuts, losses and clients at random. What was told committed is never lost, and all replicas show the same in the end.
void live(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  replica_world three{3, seed};
  three.lost = seed % 3 == 0 ? 50 : 0;
  three.doubled = seed % 4 == 0 ? 50 : 0;
  std::map<std::string, std::string> promised;                               // told committed
  std::map<raft::replica_id, std::map<std::uint64_t, std::string>> waiting;  // by leader: proposals by sequence
  std::uint64_t next = 0;
  const auto collect = [&] {
    for (raft::replica_id id = 1; id <= 3; ++id) {
      auto& own = waiting[id];
      if (!three.up(id) || three.at(id).epoch == 0) own.clear();
      for (auto it = own.begin(); it != own.end() && it->first <= three.at(id).committed_; it = own.erase(it))
        promised[it->second] = it->second;
    }
  };
  for (int step = 0; step < 150 && !::testing::Test::HasFailure(); ++step) {
    const raft::replica_id id = 1 + three.random() % 3;
    switch (three.random() % 12) {
      case 0:
        if (three.up(id)) three.kill(id);
        waiting[id].clear();
        break;
      case 1:
      case 2:
        if (!three.up(id)) three.start(id);
        break;
      case 3: three.cut_off(id); break;
      case 4: three.heal(); break;
      case 5:
        if (three.up(id)) three.apply(id);
        break;
      case 6: three.pass(static_cast<std::int64_t>(three.random() % 3'000)); break;
      default:
        for (raft::replica_id leader = 1; leader <= 3; ++leader) {
          if (!three.up(leader) || three.at(leader).epoch == 0) continue;
          for (auto n = three.random() % 5; n-- > 0;) {
            const auto key = "key " + std::to_string(++next);
            if (!three.propose(leader, key, key)) break;
            waiting[leader][three.at(leader).sequence] = key;
          }
          if (three.random() % 2 == 0) three.settle(leader);
        }
        if (three.random() % 2 == 0) three.run();
    }
    collect();
  }
  if (::testing::Test::HasFailure()) return;
  three.heal();
  three.lost = three.doubled = 0;
  for (raft::replica_id id = 1; id <= 3; ++id)
    if (!three.up(id)) three.start(id);
  three.pass(5 * replica_world::election_ms);
  const auto leader = three.elect();
  ASSERT_NE(leader, 0U);
  three.pass(replica_world::election_ms);
  collect();
  for (const auto& [key, value] : promised) ASSERT_EQ(three.rows(leader).count(key), 1U) << key;
  for (raft::replica_id id = 1; id <= 3; ++id) ASSERT_EQ(three.rows(id), three.rows(leader)) << id;
}

TEST(replica, loses_nothing_that_was_told_committed_whatever_is_killed_and_cut) {
  for (std::uint64_t seed = 1; seed <= 200 && !::testing::Test::HasFailure(); ++seed) live(seed);
}

TEST(replica, without_work_keeps_no_files_of_the_journal_from_another_shard) {
  replica_world three;
  for (raft::replica_id id = 1; id <= 3; ++id) {
    three.kill(id);
    three.at(id).neighbour = std::make_unique<store::memory_store>();
    three.start(id);
  }
  ASSERT_NE(three.elect(), 0U);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(three.propose(three.elect(), "key " + std::to_string(i), "value"));
  three.run();
  for (raft::replica_id id = 1; id <= 3; ++id) three.apply(id);
  auto& busy = three.at(1).stores->at(1);
  const auto epoch = busy.raise_epoch().value();
  std::size_t most_used = 0;
  for (int i = 0; i < 400; ++i) {
    store::batch one;
    one.epoch = epoch;
    one.sequence = static_cast<std::uint64_t>(i) + 1;
    one.put(store::table::task, "key", std::string(100'000, static_cast<char>('a' + i % 26)));
    ASSERT_TRUE(busy.commit({one}).ok());
    ASSERT_TRUE(busy.apply_all().ok());
    three.pass(20);
    three.apply(1);
    most_used = std::max(most_used, three.store_of(1).journal_used_percent());
    ASSERT_LT(most_used, 95U) << "the busy shard would wait for room";
  }
  EXPECT_GE(most_used, 75U) << "the journal has had no need";
  EXPECT_TRUE(three.propose(three.elect(), "more", "work"));
  three.pass(2 * replica_world::heartbeat_ms);
  EXPECT_EQ(three.rows(1), three.rows(2));
}

}  // namespace
}  // namespace fairlead
