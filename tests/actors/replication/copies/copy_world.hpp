#pragma once
// Three replicas of which one was away for longer than entries are kept.

#include "store/failpoint.hpp"
#include "tests/actors/replication/replica_world.hpp"

namespace fairlead::testing {

struct copy_world : ::testing::Test {
  copy_world() {
    leader = three.elect();
    away = leader == 1 ? 2 : 1;
  }
  ~copy_world() override { EXPECT_TRUE(store::set_failpoints("").ok()); }

  /// So many entries of 100,000 bytes, which the nodes that are up apply.
  void work(int entries) {
    for (int i = 0; i < entries; ++i) {
      const auto fill = static_cast<char>('a' + next_ % 26);
      ASSERT_TRUE(three.propose(leader, "key " + std::to_string(next_++ % 150), std::string(100'000, fill)));
      three.run();
      for (raft::replica_id id = 1; id <= 3; ++id)
        if (three.up(id)) three.apply(id);
    }
    three.pass(2 * replica_world::heartbeat_ms);
  }
  bool needs_a_copy() {
    for (const auto& one : three.it(leader).view().others)
      if (one.id == away) return one.lacks_base;
    return false;
  }
  void fall_behind() {
    three.it(leader).end_copy();
    three.kill(away);
    work(120);
    three.start(away);
    three.pass(2 * replica_world::election_ms);
    ASSERT_EQ(three.elect(), leader);
    ASSERT_TRUE(needs_a_copy());
  }
  void expect_whole() {
    three.pass(3 * replica_world::election_ms);
    EXPECT_EQ(three.rows(away), three.rows(leader));
    EXPECT_EQ(three.it(away).view().shown_index, three.it(leader).view().shown_index);
    EXPECT_FALSE(needs_a_copy());
  }

  replica_world three;
  raft::replica_id leader = 0;
  raft::replica_id away = 0;
  int next_ = 0;
};

}  // namespace fairlead::testing
