#include "actors/agent_host/links.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

namespace fairlead::testing {
namespace {

class agent_links_test : public ::testing::Test {
 protected:
  agent_links::work due() { return links->due(now()); }
  moment now() const { return from_unix_ms(now_ms); }

  /// The registrations that are due at this moment.
  std::vector<agent_links::registration> asked() { return due().registrations; }

  bool welcome(const agent_links::registration& how, std::uint32_t held_there = 0) {
    v1::AgentWelcome what;
    what.set_shard(how.shard);
    what.set_epoch(1);
    what.set_revision(how.revision);
    what.set_held(held_there);
    return links->welcomed(how.revision, what, now());
  }

  void answer_beacon(std::uint32_t shard, bool known = true, std::uint64_t wanted = 0) {
    v1::BeaconAck what;
    what.set_shard(shard);
    what.set_known(known);
    what.set_wanted(wanted);
    links->acknowledged(what, now());
  }

  /// Registers with all of these, and has everything settled.
  void join(const std::vector<std::uint32_t>& shards) {
    for (const auto shard : shards) links->routed(shard, now());
    settle();
  }

  void settle() {
    for (int i = 0; i < 5; ++i) {
      for (const auto& one : asked()) welcome(one);
      now_ms += 100;
    }
  }

  /// Lives on while every registered shard answers.
  void live(std::int64_t ms, std::map<std::uint32_t, std::uint64_t> wanted = {}) {
    for (const auto end = now_ms + ms; now_ms < end; now_ms += 50) {
      const auto what = due();
      for (const auto& one : what.registrations) {
        told[one.shard] = one;
        welcome(one);
      }
      for (const auto shard : what.beacons) {
        ++beacons[shard];
        answer_beacon(shard, true, wanted[shard]);
      }
    }
  }

  void capacity(std::uint32_t count) {
    links = std::make_unique<agent_links>(count, [this](std::uint32_t shard) { return held[shard]; });
  }

  std::int64_t now_ms = 100'000;
  std::map<std::uint32_t, std::uint32_t> held;
  std::map<std::uint32_t, int> beacons;
  std::map<std::uint32_t, agent_links::registration> told;
  std::unique_ptr<agent_links> links = std::make_unique<agent_links>(10, [this](std::uint32_t shard) { return held[shard]; });
};

TEST_F(agent_links_test, does_nothing_before_it_is_told_of_a_shard) {
  EXPECT_TRUE(asked().empty());
  EXPECT_EQ(links->next(), std::nullopt);
  EXPECT_FALSE(links->knows(0));
}

TEST_F(agent_links_test, registers_at_once_where_there_is_a_route) {
  links->routed(0, now());
  const auto first = asked();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].capacity, 10u);
  EXPECT_EQ(first[0].revision, 1u);
  EXPECT_TRUE(asked().empty()) << "it waits for the answer";
  EXPECT_FALSE(links->registered(0));
  EXPECT_TRUE(welcome(first[0]));
  EXPECT_TRUE(links->registered(0));
  EXPECT_FALSE(welcome(first[0])) << "answered twice";
}

TEST_F(agent_links_test, sends_a_beacon_every_half_second_and_registers_once) {
  join({0});
  live(10'000);
  EXPECT_GE(beacons[0], 19);
  EXPECT_LE(beacons[0], 21);
  EXPECT_TRUE(told.empty());
}

TEST_F(agent_links_test, tries_again_and_again_less_and_less_often) {
  links->routed(0, now());
  std::vector<std::int64_t> when;
  for (int i = 0; i < 60'000; i += 10, now_ms += 10)
    for (const auto& one : asked()) {
      when.push_back(now_ms);
      links->unanswered(0, one.revision, now());
    }
  ASSERT_GE(when.size(), 25u);
  EXPECT_EQ(when[1] - when[0], 100);
  EXPECT_EQ(when[2] - when[1], 200);
  EXPECT_EQ(when.back() - when[when.size() - 2], 2'000);
}

TEST_F(agent_links_test, registers_anew_when_the_scheduler_ends) {
  join({0});
  links->down(0, now());
  EXPECT_FALSE(links->registered(0));
  const auto again = asked();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].revision, 2u) << "a later registration of the same process";
  EXPECT_EQ(again[0].capacity, 10u);
  EXPECT_TRUE(due().beacons.empty()) << "nobody is there to take them";
}

TEST_F(agent_links_test, does_not_wait_for_the_answer_of_one_that_has_ended) {
  links->routed(0, now());
  const auto first = asked();
  links->down(0, now());
  now_ms += 100;
  const auto second = asked();
  ASSERT_EQ(second.size(), 1u);
  EXPECT_FALSE(welcome(first[0]));
  EXPECT_TRUE(welcome(second[0]));
}

TEST_F(agent_links_test, registers_anew_where_it_is_not_known) {
  join({0});
  answer_beacon(0, false);
  EXPECT_EQ(asked().size(), 1u);
}

TEST_F(agent_links_test, registers_anew_on_another_route) {
  links->routed(0, now());
  const auto first = asked();
  links->routed(0, now());
  const auto second = asked();
  ASSERT_EQ(second.size(), 1u);
  EXPECT_FALSE(welcome(first[0])) << "that was said by whoever held the shard before";
  EXPECT_TRUE(welcome(second[0]));
}

TEST_F(agent_links_test, registers_anew_where_nobody_answers_for_three_seconds) {
  join({0});
  int registrations = 0;
  const auto began = now_ms;
  for (; now_ms < began + 2'400; now_ms += 100) registrations += static_cast<int>(asked().size());
  EXPECT_EQ(registrations, 0);
  for (; now_ms < began + 3'100; now_ms += 100) registrations += static_cast<int>(asked().size());
  EXPECT_EQ(registrations, 1);
}

TEST_F(agent_links_test, rests_while_there_is_no_route) {
  join({0});
  links->unrouted(0);
  EXPECT_FALSE(links->registered(0));
  EXPECT_TRUE(links->knows(0)) << "what it hands over late is still its own";
  for (int i = 0; i < 100; ++i, now_ms += 100) {
    const auto what = due();
    EXPECT_TRUE(what.registrations.empty());
    EXPECT_TRUE(what.beacons.empty());
  }
  links->routed(0, now());
  EXPECT_EQ(asked().size(), 1u);
}

TEST_F(agent_links_test, goes_on_asking_where_it_is_refused) {
  links->routed(0, now());
  auto first = asked();
  EXPECT_TRUE(links->refused(0, first[0].revision, now()));
  EXPECT_FALSE(links->refused(0, first[0].revision, now()));
  now_ms += 100;
  const auto second = asked();
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].capacity, 10u);
}

TEST_F(agent_links_test, tells_all_shards_that_it_drains) {
  join({0, 1});
  links->drain(true);
  const auto all = asked();
  ASSERT_EQ(all.size(), 2u);
  for (const auto& one : all) EXPECT_TRUE(one.draining);
  for (const auto& one : all) welcome(one);
  links->down(1, now());
  now_ms += 100;
  const auto again = asked();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_TRUE(again[0].draining) << "it drains still";
  welcome(again[0]);
  now_ms += 100;
  links->drain(false);
  for (const auto& one : asked()) EXPECT_FALSE(one.draining);
}

TEST_F(agent_links_test, divides_what_it_has_by_what_they_want) {
  join({0, 1});
  live(3'000, {{0, 50}, {1, 2}});
  EXPECT_GE(told[0].capacity, 7u);
  EXPECT_EQ(told[0].capacity + told[1].capacity, 10u);
  EXPECT_GE(told[1].capacity, 2u);
}

TEST_F(agent_links_test, gives_the_part_of_a_lost_shard_away_but_for_what_goes_on) {
  join({0, 1});
  held[0] = 4;
  links->unrouted(0);
  live(1'500, {{1, 100}});
  EXPECT_EQ(told[1].capacity, 6u);
  held[0] = 0;  // their leases are over
  live(1'500, {{1, 100}});
  EXPECT_EQ(told[1].capacity, 10u);
}

TEST_F(agent_links_test, counts_what_goes_on_for_a_shard_though_its_new_scheduler_has_not_come_to_it_yet) {
  join({0, 1});
  held[0] = 8;
  links->down(0, now());
  now_ms += 100;
  const auto again = asked();
  ASSERT_FALSE(again.empty());
  for (const auto& one : again) {
    told[one.shard] = one;
    welcome(one);  // it knows of none
  }
  live(5'000, {{1, 100}});
  EXPECT_LE(told[1].capacity, 2u) << "more than there is would be under way";
  held[0] = 0;
  live(5'000, {{1, 100}});
  EXPECT_GE(told[1].capacity, 7u);
}

TEST_F(agent_links_test, has_a_shard_that_never_answers_keep_nothing_from_the_others) {
  capacity(1);
  links->routed(0, now());
  ASSERT_EQ(asked().size(), 1u);  // and then nothing more is heard of it
  links->routed(1, now());
  bool served = false;
  for (int i = 0; i < 1'000 && !served; ++i, now_ms += 50) {
    const auto what = due();
    for (const auto& one : what.registrations) {
      if (one.shard == 0) {
        links->unanswered(0, one.revision, now());
        continue;
      }
      served = one.capacity == 1;
      welcome(one);
    }
    for (const auto shard : what.beacons) answer_beacon(shard, true, 5);
  }
  EXPECT_TRUE(served);
}

TEST_F(agent_links_test, tells_every_shard_that_it_leaves_and_waits_to_be_heard) {
  join({0, 1});
  EXPECT_FALSE(links->waits_to_be_heard());
  links->leave(true);
  EXPECT_TRUE(links->waits_to_be_heard());
  const auto first = asked();
  ASSERT_EQ(first.size(), 2u);
  EXPECT_TRUE(first[0].leaving && first[0].draining);
  welcome(first[0]);
  EXPECT_TRUE(links->waits_to_be_heard());
  welcome(first[1]);
  EXPECT_FALSE(links->waits_to_be_heard());
  links->leave(true);
  EXPECT_FALSE(links->waits_to_be_heard()) << "they know";
  links->leave(false);
  now_ms += 100;
  const auto second = asked();
  ASSERT_EQ(second.size(), 2u);
  EXPECT_FALSE(second[0].leaving || second[0].draining) << "it stays after all";
}

TEST_F(agent_links_test, leaves_only_with_the_attempts_that_had_been_handed_over_before_the_shard_knew) {
  join({0});
  links->leave(true);
  auto what = asked();
  ASSERT_EQ(what.size(), 1u);
  welcome(what[0], 1);
  EXPECT_TRUE(links->waits_to_be_heard()) << "the attempt is on its way, or was lost";
  EXPECT_TRUE(asked().empty()) << "not at once";
  std::vector<std::int64_t> pauses;
  for (int i = 0; i < 7; ++i) {
    const auto begin = now_ms;
    do now_ms += 50;
    while ((what = asked()).empty());
    pauses.push_back(now_ms - begin);
    welcome(what[0], 1);
  }
  EXPECT_EQ(pauses, (std::vector<std::int64_t>{100, 200, 400, 800, 1'600, 2'000, 2'000}));
  held[0] = 1;
  now_ms += 2'000;
  what = asked();
  ASSERT_EQ(what.size(), 1u);
  welcome(what[0], 1);
  EXPECT_FALSE(links->waits_to_be_heard()) << "the host itself stays while it holds the attempt";
}

TEST_F(agent_links_test, does_not_wait_for_a_shard_that_is_silent) {
  join({0});
  links->leave(true);
  for (int i = 0; i < 11; ++i, now_ms += 1'000)
    for (const auto& one : asked()) links->unanswered(0, one.revision, now());
  EXPECT_FALSE(links->waits_to_be_heard());
}

TEST_F(agent_links_test, divides_another_capacity_when_it_is_another_instance_by_its_node_file) {
  join({0});
  links->redefined(4);
  auto what = asked();
  ASSERT_EQ(what.size(), 1u);
  EXPECT_EQ(what[0].capacity, 4u);
  welcome(what[0]);
  links->redefined(4);
  now_ms += 100;
  EXPECT_EQ(asked().size(), 1u) << "calls and labels may be others";
}

TEST_F(agent_links_test, says_when_it_has_something_to_do_next) {
  links->routed(0, now());
  EXPECT_LE(*links->next(), now());
  const auto first = asked();
  links->unanswered(0, first[0].revision, now());
  EXPECT_EQ(links->next(), now() + duration{100});
  now_ms += 100;
  welcome(asked()[0]);
  EXPECT_LE(*links->next(), now());
  EXPECT_EQ(due().beacons.size(), 1u);
  EXPECT_EQ(links->next(), now() + duration{500});
}

TEST_F(agent_links_test, drains_only_with_the_attempts_that_had_been_handed_over_before_the_shard_knew) {
  join({0});
  links->drain(true);
  EXPECT_TRUE(links->waits_to_be_heard());
  auto what = asked();
  ASSERT_EQ(what.size(), 1u);
  EXPECT_TRUE(what[0].draining);
  welcome(what[0], 1);
  EXPECT_TRUE(links->waits_to_be_heard()) << "the attempt is on its way";
  held[0] = 1;
  now_ms += 100;
  what = asked();
  ASSERT_EQ(what.size(), 1u);
  welcome(what[0], 1);
  EXPECT_FALSE(links->waits_to_be_heard()) << "the host itself says that it holds the attempt";
}

}  // namespace
}  // namespace fairlead::testing
