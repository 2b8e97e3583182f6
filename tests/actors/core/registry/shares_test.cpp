#include "actors/core/registry/shares.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace fairlead::core {
namespace {

moment at(std::int64_t ms) { return from_unix_ms(1'000'000 + ms); }

/// An instance whose shards answer at once, unless a test says otherwise.
class desk {
 public:
  explicit desk(std::uint32_t capacity) : own(capacity) {}

  /// Divides and tells everybody who has to be told; those in `deaf` do not answer.
  void settle() {
    for (int round = 0; round < 4; ++round)
      for (const auto shard : own.divide(at(now))) {
        own.told(shard, ++revision, at(now));
        if (deaf.count(shard) == 0) own.acknowledged(shard, revision, held[shard], at(now));
      }
  }
  void pass(std::int64_t ms) {
    now += ms;
    settle();
  }

  shares own;
  std::map<std::uint32_t, std::uint32_t> held;
  std::map<std::uint32_t, bool> deaf;
  std::uint64_t revision = 0;
  std::int64_t now = 0;
};

TEST(shares, gives_everything_to_the_only_shard_at_once) {
  shares own{10};
  own.join(0);
  EXPECT_EQ(own.divide(at(0)), std::vector<std::uint32_t>{0});
  EXPECT_EQ(own.part(0), 10u);
  own.told(0, 1, at(0));
  EXPECT_TRUE(own.divide(at(0)).empty()) << "it has been told";
  own.acknowledged(0, 1, 0, at(0));
  own.wants(0, 500);
  EXPECT_TRUE(own.divide(at(60'000)).empty()) << "there is nothing more to give";
}

TEST(shares, divides_evenly_while_nobody_wants_anything) {
  desk all{11};
  for (const std::uint32_t shard : {0, 1}) all.own.join(shard);
  all.settle();
  EXPECT_EQ(all.own.part(0) + all.own.part(1), 11u);
  EXPECT_GE(all.own.part(0), 5u);
  EXPECT_GE(all.own.part(1), 5u);
}

TEST(shares, follows_demand_once_a_second) {
  desk all{100};
  for (const std::uint32_t shard : {0, 1}) all.own.join(shard);
  all.settle();
  all.own.wants(0, 1'000);
  all.pass(999);
  EXPECT_EQ(all.own.part(0), 50u);
  all.pass(1);
  EXPECT_GE(all.own.part(0), 80u);
  EXPECT_GE(all.own.part(1), 5u) << "who wants nothing now has a part to begin with all the same";
  EXPECT_EQ(all.own.part(0) + all.own.part(1), 100u);
  all.own.wants(1, 1'000);
  all.pass(1'000);
  EXPECT_EQ(all.own.part(0), 50u);
  EXPECT_EQ(all.own.part(1), 50u);
}

TEST(shares, lets_no_great_demand_cost_another_its_small_one) {
  desk all{30};
  for (const std::uint32_t shard : {0, 1, 2}) all.own.join(shard);
  all.own.wants(0, 100'000);
  all.own.wants(1, 8);
  all.own.wants(2, 3);
  all.settle();
  EXPECT_GE(all.own.part(1), 8u);
  EXPECT_GE(all.own.part(2), 3u);
  EXPECT_GE(all.own.part(0), 17u);
}

TEST(shares, does_not_chase_demand_that_wavers) {
  desk all{100};
  for (const std::uint32_t shard : {0, 1}) all.own.join(shard);
  all.own.wants(0, 1'000);
  all.own.wants(1, 20);
  all.settle();
  all.pass(1'000);
  const auto said = all.revision;
  for (int i = 0; i < 10; ++i) {
    all.own.wants(1, 20 + i % 3);
    all.pass(1'000);
  }
  EXPECT_EQ(all.revision, said);
}

TEST(shares, takes_nothing_for_free_before_the_lower_part_is_acknowledged) {
  desk all{4};
  all.own.join(0);
  all.settle();
  all.deaf[0] = true;
  all.own.join(1);
  all.settle();
  EXPECT_EQ(all.own.part(0), 2u);
  EXPECT_EQ(all.own.part(1), 0u) << "the first may use all four until it says otherwise";
  all.own.acknowledged(0, all.revision - 1, 0, at(0));
  all.deaf.clear();
  all.settle();
  EXPECT_EQ(all.own.part(1), 2u);
}

TEST(shares, counts_what_a_shard_holds_beyond_its_part_until_it_says_that_it_holds_less) {
  desk all{4};
  all.own.join(0);
  all.held[0] = 4;
  all.settle();
  all.own.join(1);
  all.settle();
  EXPECT_EQ(all.own.part(0), 2u);
  EXPECT_EQ(all.own.part(1), 0u);
  all.held[0] = 3;
  all.pass(999);
  EXPECT_EQ(all.own.part(1), 0u);
  all.pass(1);
  EXPECT_EQ(all.own.part(1), 1u) << "it is asked again each second while another waits";
  all.held[0] = 0;
  all.pass(1'000);
  EXPECT_EQ(all.own.part(1), 2u);
}

TEST(shares, gives_what_a_lost_shard_had_to_the_others_but_for_what_goes_on) {
  desk all{10};
  for (const std::uint32_t shard : {0, 1}) all.own.join(shard);
  all.settle();
  all.own.leave(0, 3);
  all.settle();
  EXPECT_EQ(all.own.part(1), 7u);
  all.own.leave(0, 1);
  all.settle();
  EXPECT_EQ(all.own.part(1), 9u);
  all.own.join(0);
  all.settle();
  EXPECT_EQ(all.own.part(0), 5u);
  EXPECT_EQ(all.own.part(1), 5u);
}

TEST(shares, believes_no_acknowledgement_that_was_overtaken) {
  shares own{4};
  own.join(0);
  own.divide(at(0));
  own.told(0, 1, at(0));
  own.join(1);
  own.divide(at(0));
  own.told(0, 2, at(0));
  own.acknowledged(0, 2, 0, at(0));
  EXPECT_EQ(own.bound(), 2u);
  own.acknowledged(0, 1, 4, at(0));
  EXPECT_EQ(own.bound(), 2u);
  own.acknowledged(0, 77, 4, at(0));
  EXPECT_EQ(own.bound(), 2u);
}

TEST(shares, has_those_take_turns_for_whom_not_even_one_is_there) {
  desk all{1};
  for (const std::uint32_t shard : {0, 1, 2}) all.own.join(shard);
  for (const std::uint32_t shard : {0, 1, 2}) all.own.wants(shard, 5);
  std::map<std::uint32_t, int> turns;
  for (int second = 0; second < 12; ++second) {
    all.pass(1'000);
    std::uint32_t sum = 0;
    for (const std::uint32_t shard : {0, 1, 2}) {
      sum += all.own.part(shard);
      if (all.own.part(shard) != 0) ++turns[shard];
    }
    EXPECT_LE(sum, 1u);
  }
  for (const std::uint32_t shard : {0, 1, 2}) EXPECT_GE(turns[shard], 3) << "shard " << shard;
}

TEST(shares, passes_the_turn_on_although_attempts_outlast_it) {
  desk all{1};
  for (const std::uint32_t shard : {0, 1, 2}) all.own.join(shard);
  for (const std::uint32_t shard : {0, 1, 2}) all.own.wants(shard, 5);
  std::vector<std::uint32_t> served;
  std::map<std::uint32_t, std::int64_t> until;
  for (int step = 0; step < 600; ++step) {
    for (const std::uint32_t shard : {0, 1, 2}) {
      if (all.held[shard] != 0 && all.now >= until[shard]) all.held[shard] = 0;
      const auto busy = all.held[0] + all.held[1] + all.held[2];
      if (all.own.part(shard) == 0 || all.held[shard] != 0) continue;
      EXPECT_EQ(busy, 0u);
      all.held[shard] = 1;
      until[shard] = all.now + 30'000;  // longer than any turn
      served.push_back(shard);
    }
    all.pass(500);
  }
  ASSERT_GE(served.size(), 9u);
  for (std::size_t i = 3; i < served.size(); ++i) EXPECT_EQ(served[i], served[i - 3]) << "one after the other";
  EXPECT_NE(served[0], served[1]);
}

TEST(shares, waits_for_ever_for_nobody_who_does_not_answer) {
  desk all{1};
  all.own.join(0);
  all.own.join(1);
  all.own.join(2);
  for (const std::uint32_t shard : {0, 1, 2}) all.own.wants(shard, 1);
  all.settle();
  std::uint32_t first = 0;
  while (all.own.part(first) == 0) ++first;
  // The one that has its turn can be reached no more, and comes back deaf.
  all.deaf[first] = true;
  all.own.leave(first, 0);
  all.settle();
  all.own.join(first);
  all.own.wants(first, 1);
  std::map<std::uint32_t, int> turns;
  for (int second = 0; second < 60; ++second) {
    all.pass(1'000);
    for (const std::uint32_t shard : {0, 1, 2})
      if (all.own.part(shard) != 0) ++turns[shard];
    if (second % 10 == 9) {  // as whoever keeps the connections does after a while of silence
      all.own.leave(first, 0);
      all.own.join(first);
      all.own.wants(first, 1);
    }
  }
  for (const std::uint32_t shard : {0, 1, 2}) {
    EXPECT_GE(turns[shard], 5) << "shard " << shard << ", " << first << " is deaf";
  }
}

/// Shards that hand over as much as they believe they may, over a network that loses and delays.
class wild_world {
 public:
  wild_world(std::uint32_t seed, std::uint32_t capacity, std::uint32_t count)
      : random(seed), own(capacity), capacity(capacity), shards(count) {
    for (std::uint32_t i = 0; i < count; ++i) own.join(i);
  }

  bool chance(unsigned percent) { return random() % 100 < percent; }

  void step() {
    now += static_cast<std::int64_t>(random() % 200);
    for (std::uint32_t i = 0; i < shards.size(); ++i) live(i);
    for (const auto shard : own.divide(at(now))) tell(shard);
  }

  void live(std::uint32_t which) {
    auto& one = shards[which];
    if (troubled && chance(2)) {
      one.away = !one.away;
      one.to.clear();
      one.from.clear();
      one.part = 0;
      one.seen = 0;
      if (!one.away) {
        own.join(which);
        own.wants(which, one.waiting);
      }
    }
    if (one.held > 0 && chance(30)) --one.held;
    if (one.away) {
      own.leave(which, one.held);
      return;
    }
    if (chance(20)) one.waiting = chance(30) ? 0 : random() % (2 * capacity + 1);
    while (!one.to.empty() && chance(60)) {
      const auto [revision, part] = one.to.front();
      one.to.pop_front();
      if (troubled && chance(15)) continue;  // lost on the way there
      if (revision > one.seen) {
        one.seen = revision;
        one.part = part;
      }
      if (!troubled || !chance(15)) one.from.push_back({one.seen, one.held});
    }
    if (one.waiting > 0 && one.held < one.part) {
      ++one.held;
      --one.waiting;
      ++one.served;
    }
    while (!one.from.empty() && chance(60)) {
      own.acknowledged(which, one.from.front().first, one.from.front().second, at(now));
      one.answered = one.from.front().first;
      one.from.pop_front();
    }
    own.wants(which, one.waiting + one.held);
    // What is not answered is said again.
    if (chance(10) && one.answered < one.told) tell(which);
  }

  void tell(std::uint32_t which) {
    own.told(which, ++revision, at(now));
    shards[which].told = revision;
    shards[which].to.push_back({revision, own.part(which)});
  }

  std::uint32_t held() const {
    std::uint32_t out = 0;
    for (const auto& one : shards) out += one.held;
    return out;
  }

  struct peer {
    bool away = false;
    std::uint32_t part = 0;
    std::uint32_t held = 0;
    std::uint64_t waiting = 0;
    std::uint64_t seen = 0;
    std::uint64_t told = 0;
    std::uint64_t answered = 0;
    int served = 0;
    std::deque<std::pair<std::uint64_t, std::uint32_t>> to, from;
  };
  std::mt19937 random;
  shares own;
  std::uint32_t capacity;
  std::vector<peer> shards;
  std::uint64_t revision = 0;
  std::int64_t now = 0;
  bool troubled = true;
};

TEST(shares, never_let_more_be_handed_over_than_there_is_whatever_is_lost) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    wild_world world{seed, 1 + seed % 7, 1 + seed % 5};
    for (int i = 0; i < 600; ++i) {
      world.step();
      ASSERT_LE(world.held(), world.capacity) << "seed " << seed << " step " << i;
      ASSERT_GE(world.own.bound(), world.held()) << "seed " << seed << " step " << i;
    }
  }
}

TEST(shares, serve_everybody_who_wants_any_once_trouble_is_over) {
  for (std::uint32_t seed = 1; seed <= 100; ++seed) {
    wild_world world{seed, 1 + seed % 3, 2 + seed % 4};
    for (int i = 0; i < 300; ++i) world.step();
    world.troubled = false;
    for (std::uint32_t i = 0; i < world.shards.size(); ++i) {
      auto& one = world.shards[i];
      if (one.away) {
        one.away = false;
        world.own.join(i);
      }
      one.served = 0;
    }
    for (int i = 0; i < 600; ++i) {
      for (auto& one : world.shards) one.waiting = std::max<std::uint64_t>(one.waiting, 1);
      world.step();
    }
    for (std::size_t i = 0; i < world.shards.size(); ++i)
      EXPECT_GE(world.shards[i].served, 3) << "seed " << seed << " shard " << i << " of " << world.shards.size();
  }
}

}  // namespace
}  // namespace fairlead::core
