#include "actors/scheduler/commit/replica_watch.hpp"

#include <gtest/gtest.h>

#include "store/memory/memory_store.hpp"
#include "store/rows/alert_rows.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

constexpr auto a_minute = std::chrono::minutes{1};

/// Five nodes, and what the first says of the others.
class replica_watch_test : public ::testing::Test, public commit_port {
 protected:
  replica_watch_test() {
    EXPECT_TRUE(batches.open(*store.raise_epoch()).ok());
    seen.set_role("leader");
    seen.set_may_lose(2);
    for (const auto* node : {"n2", "n3", "n4", "n5", "n6"}) {
      auto* const one = seen.add_others();
      one->set_node(node);
      one->set_votes(true);
    }
  }
  void commit(store::batch what) override { EXPECT_TRUE(store.commit({what}).ok()); }

  v1::ReplicaStatus& of(const std::string& node) {
    for (auto& one : *seen.mutable_others())
      if (one.node() == node) return one;
    throw std::out_of_range(node);
  }
  void look(replica_watch& with) {
    ASSERT_TRUE(with.look(seen).ok());
    batches.flush();
    batches.committed_up_to(store.read()->get_progress().sequence, [](effects) {});
    alerts.committed_up_to(store.read()->get_progress().sequence);
  }
  void look_for(replica_watch& with, duration how_long) {
    look(with);
    for (duration passed{0}; passed < how_long; passed += replica_watch::period) {
      time.now_ms += replica_watch::period.count();
      look(with);
    }
  }
  std::uint64_t alert() const { return batches.counts().replica_alert(); }
  std::string sentence() {
    const auto found = store::load_alert(batches.committed(), alert());
    return found.ok() && *found ? (*found)->sentence() : "none";
  }

  store::memory_store store;
  manual_clock time;
  recorder out;
  quiet_observer log;
  v1::Lineage lineage;
  core::planted_faults faults;
  alert_book alerts;
  commit_pipeline batches{{&time, &store, this, &out, &log}, 0, lineage, faults};
  v1::ReplicationStatus seen;
  replica_watch watch{batches, alerts, log, time, a_minute};
};

TEST_F(replica_watch_test, nothing_is_written_while_all_nodes_follow) {
  const auto before = store.read()->get_progress().sequence;
  look_for(watch, 3 * a_minute);
  EXPECT_EQ(store.read()->get_progress().sequence, before);
  EXPECT_EQ(alert(), 0u);
}

TEST_F(replica_watch_test, a_node_that_was_away_for_less_than_a_minute_is_no_alert) {
  of("n3").set_heard_ms_ago(30'000);
  look_for(watch, a_minute - replica_watch::period);
  EXPECT_EQ(alert(), 0u);
  of("n3").set_heard_ms_ago(20);
  look(watch);
  of("n3").set_heard_ms_ago(30'000);
  look_for(watch, a_minute - replica_watch::period);
  EXPECT_EQ(alert(), 0u) << "the minute begins anew";
}

TEST_F(replica_watch_test, the_alert_names_the_node_and_goes_when_it_is_back) {
  of("n3").set_heard_ms_ago(30'000);
  seen.set_may_lose(1);
  look_for(watch, a_minute);
  EXPECT_EQ(sentence(), "node n3: it does not answer. The shard survives the loss of 1 more node");
  EXPECT_EQ(log.notes.size(), 1u);
  const auto number = alert();
  look_for(watch, a_minute);
  EXPECT_EQ(alert(), number);
  EXPECT_EQ(log.notes.size(), 1u);

  of("n3").set_heard_ms_ago(20);
  look(watch);
  EXPECT_EQ(alert(), 0u);
  EXPECT_EQ((*store::load_alert(batches.committed(), number))->state(), v1::ALERT_STATE_RESOLVED);
}

TEST_F(replica_watch_test, each_lack_has_its_words) {
  of("n2").set_heard_ms_ago(-1);
  of("n3").set_behind_ms(10'001);
  of("n4").set_behind_bytes((8U << 20) + 1);
  of("n5").set_trouble("it has lost entries");
  of("n6").set_needs_copy(true);
  seen.set_may_lose(0);
  look_for(watch, a_minute);
  EXPECT_EQ(
      sentence(),
      "node n2: it does not answer; node n3: it does not keep up; node n4: it does not keep up; node n5: it has lost entries; "
      "node n6: it was away for longer than entries are kept, and gets a copy of the state. The shard survives the loss of no more nodes");
}

TEST_F(replica_watch_test, a_replica_that_is_to_have_no_vote_is_none_and_one_that_leaves_neither) {
  of("n2").set_votes(false);
  of("n2").set_stands_by(true);
  of("n3").set_leaves(true);
  of("n3").set_heard_ms_ago(30'000);
  look_for(watch, 3 * a_minute);
  EXPECT_EQ(alert(), 0u);
  of("n2").set_stands_by(false);
  look_for(watch, a_minute);
  EXPECT_NE(sentence().find("n2: its store is new here"), std::string::npos) << sentence();
}

TEST_F(replica_watch_test, another_node_is_another_alert_and_one_that_is_back_is_none) {
  of("n3").set_heard_ms_ago(30'000);
  look_for(watch, a_minute);
  const auto first = alert();
  of("n2").set_heard_ms_ago(30'000);
  look_for(watch, a_minute);
  const auto second = alert();
  EXPECT_NE(second, first) << "who acknowledged the first must hear of it";
  EXPECT_EQ((*store::load_alert(batches.committed(), first))->state(), v1::ALERT_STATE_RESOLVED);

  of("n3").set_heard_ms_ago(20);
  look(watch);
  EXPECT_EQ(alert(), second);
  EXPECT_EQ(sentence(), "node n2: it does not answer. The shard survives the loss of 2 more nodes");
}

TEST_F(replica_watch_test, the_next_leader_goes_on_with_the_alert_of_the_former) {
  of("n3").set_heard_ms_ago(30'000);
  look_for(watch, a_minute);
  const auto number = alert();

  replica_watch next{batches, alerts, log, time, a_minute};
  for (auto& one : *seen.mutable_others()) one.set_heard_ms_ago(one.node() == "n3" ? -1 : 10);
  look_for(next, a_minute);
  EXPECT_EQ(alert(), number);
  of("n3").set_heard_ms_ago(20);
  look(next);
  EXPECT_EQ(alert(), 0u);
}

TEST_F(replica_watch_test, who_leads_no_longer_knows_nothing_of_the_others) {
  of("n3").set_heard_ms_ago(30'000);
  look_for(watch, a_minute);
  const auto number = alert();
  seen.set_role("follower");
  seen.clear_others();
  look_for(watch, a_minute);
  EXPECT_EQ(alert(), number);
}

TEST_F(replica_watch_test, each_store_that_was_damaged_has_one_alert_whoever_leads) {
  const auto damaged = [&](const std::string& node, std::int64_t at_ms) {
    auto* const line = seen.add_damages();
    line->set_node(node);
    line->set_at_unix_ms(at_ms);
  };
  const auto alerts_there = [&] {
    std::vector<std::string> out;
    const auto rows = store.read();
    for (std::uint64_t number = 1;; ++number) {
      const auto found = store::load_alert(*rows, number);
      if (!found.ok() || !*found) return out;
      if ((*found)->kind() == v1::ALERT_KIND_STORE_DAMAGED) out.push_back((*found)->sentence().substr(0, 30));
    }
  };
  damaged("n3", 5'000);
  damaged("n2", 4'000);
  look_for(watch, a_minute);
  EXPECT_EQ(alerts_there(), (std::vector<std::string>{"node n3: its store was damaged", "node n2: its store was damaged"}));
  replica_watch next{batches, alerts, log, time, a_minute};
  look_for(next, a_minute);
  EXPECT_EQ(alerts_there().size(), 2U) << "they are told already";
  seen.mutable_damages(1)->set_at_unix_ms(5'001);
  look(next);
  EXPECT_EQ(alerts_there().size(), 3U) << "once more";
}

}  // namespace
}  // namespace fairlead::testing
