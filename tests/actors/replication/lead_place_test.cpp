#include "actors/replication/lead_place.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "actors/replication/replica.hpp"

namespace fairlead {
namespace {

constexpr std::int64_t second = 1'000;

using names = std::vector<std::string>;

TEST(order_of_leaders, gives_each_node_as_many_shards_also_when_one_is_away) {
  for (const names& nodes : {names{"a", "b", "c"}, names{"e", "d", "c", "b", "a"}}) {
    const auto shards = nodes.size() * (nodes.size() - 1) * 2;
    for (const auto& away : nodes) {
      std::map<std::string, std::size_t> first;
      std::map<std::string, std::size_t> without_it;
      for (std::uint32_t shard = 0; shard < shards; ++shard) {
        const auto order = order_of_leaders(shard, nodes);
        EXPECT_EQ(std::set<std::string>(order.begin(), order.end()).size(), nodes.size());
        ++first[order[0]];
        ++without_it[order[0] == away ? order[1] : order[0]];
      }
      for (const auto& [node, count] : first) EXPECT_EQ(count, shards / nodes.size()) << node;
      for (const auto& [node, count] : without_it) EXPECT_EQ(count, shards / (nodes.size() - 1)) << node << " without " << away;
    }
  }
}

TEST(order_of_leaders, depends_on_the_names_and_not_on_who_says_them) {
  EXPECT_EQ(order_of_leaders(4, {"n1", "n2", "n3"}), order_of_leaders(4, {"n3", "n1", "n2"}));
  EXPECT_EQ(order_of_leaders(0, {"n3", "n2", "n1"}), (names{"n1", "n2", "n3"}));
  EXPECT_EQ(order_of_leaders(1, {"n1", "n2", "n3"}), (names{"n2", "n1", "n3"}));
}

/// One of three replicas leads, and the others follow. Replica 3 is to lead, or else 2.
struct lead_place_test : ::testing::Test {
  lead_place_test() { view.members = {{1, 2, 3}, {}}; }

  lead_place place_of(raft::replica_id self, std::vector<raft::replica_id> order = {3, 2, 1}) {
    view.others.clear();
    for (const raft::replica_id id : {1, 2, 3}) {
      if (id == self) continue;
      view.others.emplace_back();
      view.others.back().id = id;
      view.others.back().match = 100;
    }
    lead_place out{self, second, now_ms};
    out.prefer(std::move(order));
    return out;
  }
  replica_view::other& of(raft::replica_id id) {
    for (auto& one : view.others)
      if (one.id == id) return one;
    throw std::out_of_range("no such replica");
  }
  /// What it does until then, looking as often as a replica ticks.
  std::optional<raft::replica_id> pass(lead_place& with, std::int64_t ms) {
    for (const auto until = now_ms + ms; now_ms < until;) {
      now_ms += 50;
      for (auto& one : view.others)
        if (away.count(one.id) == 0) one.last_contact_ms = now_ms;
      if (!with.is_due(now_ms)) continue;
      if (const auto to = with.look(view, now_ms, shard_ms + now_ms)) return to;
    }
    return std::nullopt;
  }

  replica_view view;
  std::int64_t now_ms = 5'000'000;
  std::int64_t shard_ms = 1'700'000'000'000;
  std::set<raft::replica_id> away;
};

TEST_F(lead_place_test, the_lead_goes_to_the_first_in_the_order_and_stays_there) {
  for (const raft::replica_id self : {1, 2}) {
    auto place = place_of(self);
    EXPECT_EQ(pass(place, 200 * second), raft::replica_id{3}) << self;
  }
  auto first = place_of(3);
  EXPECT_FALSE(pass(first, 600 * second));
}

TEST_F(lead_place_test, without_an_order_it_stays_where_it_is) {
  for (const raft::replica_id self : {1, 2, 3}) {
    auto place = place_of(self, {});
    EXPECT_FALSE(pass(place, 600 * second)) << self;
  }
}

TEST_F(lead_place_test, one_that_has_not_been_met_is_not_preferred) {
  auto place = place_of(2, {2, 1});
  EXPECT_FALSE(pass(place, 600 * second));
}

TEST_F(lead_place_test, nothing_moves_in_the_first_minute_of_a_node_nor_twice_in_one) {
  auto place = place_of(1);
  EXPECT_FALSE(pass(place, 59 * second));
  EXPECT_EQ(pass(place, 60 * second), raft::replica_id{3});
  EXPECT_FALSE(pass(place, 59 * second)) << "it did not work, and is tried again later";
  EXPECT_EQ(pass(place, 60 * second), raft::replica_id{3});
}

TEST_F(lead_place_test, a_replica_must_have_followed_for_half_a_minute) {
  auto place = place_of(1);
  away.insert(3);
  EXPECT_FALSE(pass(place, 300 * second));
  away.clear();
  EXPECT_FALSE(pass(place, 29 * second));
  EXPECT_EQ(pass(place, 20 * second), raft::replica_id{3});
}

TEST_F(lead_place_test, nothing_moves_while_another_node_is_away_or_behind) {
  auto place = place_of(1);
  of(2).lacks_since_ms = 1;
  EXPECT_FALSE(pass(place, 300 * second));
  of(2).lacks_since_ms = 0;
  of(2).lacks_base = true;
  EXPECT_FALSE(pass(place, 300 * second));
  of(2).lacks_base = false;
  of(2).declines = true;
  EXPECT_FALSE(pass(place, 300 * second)) << "it is about to be stopped";
  of(2).declines = false;
  EXPECT_TRUE(pass(place, 300 * second));
}

TEST_F(lead_place_test, a_node_that_is_drained_hands_over_at_once_to_one_that_is_not) {
  for (const bool spreads : {false, true}) {
    auto place = place_of(1, spreads ? std::vector<raft::replica_id>{3, 2, 1} : std::vector<raft::replica_id>{});
    place.decline(true);
    of(3).declines = true;
    EXPECT_EQ(pass(place, 50), raft::replica_id{2});
    EXPECT_FALSE(pass(place, 900)) << "an election timeout for each try";
    EXPECT_EQ(pass(place, 200), raft::replica_id{2});
    of(2).lacks_base = true;
    EXPECT_FALSE(pass(place, 10 * second)) << "nobody can take it";
    place.decline(false);
    EXPECT_FALSE(pass(place, 10 * second));
  }
}

TEST_F(lead_place_test, neither_a_standby_nor_one_that_has_not_answered_yet_is_fit) {
  auto place = place_of(1);
  place.decline(true);
  view.members = {{1, 2}, {3}};
  of(2).match = 0;
  EXPECT_FALSE(pass(place, 10 * second));
  of(2).match = 7;
  EXPECT_EQ(pass(place, 2 * second), raft::replica_id{2});
}

}  // namespace
}  // namespace fairlead
