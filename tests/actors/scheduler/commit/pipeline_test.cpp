#include "actors/scheduler/commit/pipeline.hpp"

#include <gtest/gtest.h>

#include "store/memory/memory_store.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

class pipeline_test : public ::testing::Test, public commit_port {
 protected:
  pipeline_test() { EXPECT_TRUE(batches.open(*store.raise_epoch()).ok()); }

  void commit(store::batch what) override { asked.push_back(std::move(what)); }
  void confirm(std::uint64_t ticket) override { confirms.push_back(ticket); }

  /// The answer to the oldest question who leads.
  void answer(bool led) {
    const auto ticket = confirms.front();
    confirms.erase(confirms.begin());
    several.confirmed(ticket, led, [this](effects after) { several.release(after); });
  }

  void write(const std::string& key) { batches.rows().put(store::table::task_id, key, "value"); }
  /// An effect that a test knows again.
  void tell(std::uint64_t ticket) { batches.after().replies.emplace_back(ticket, v1::DeployReply{}); }

  static v1::Perform attempt(std::uint64_t task) {
    v1::Perform out;
    out.set_task_number(task);
    return out;
  }

  /// Makes the oldest batch durable; what may leave then, leaves.
  void make_durable() {
    const auto sequence = asked.front().sequence;
    ASSERT_TRUE(store.commit({asked.front()}).ok());
    asked.erase(asked.begin());
    batches.committed_up_to(sequence, [this](effects after) { batches.release(after); });
  }

  store::memory_store store;
  manual_clock time;
  recorder out;
  quiet_observer log;
  v1::Lineage lineage;
  core::planted_faults faults;
  std::vector<store::batch> asked;
  std::vector<std::uint64_t> confirms;
  commit_pipeline batches{{&time, &store, this, &out, &log}, 0, lineage, faults};
  commit_pipeline several{{&time, &store, this, &out, &log, true}, 0, lineage, faults};  // of a shard that other nodes may lead
};

TEST_F(pipeline_test, without_a_commit_nothing_leaves_before_a_majority_has_said_who_leads) {
  ASSERT_TRUE(several.open(*store.raise_epoch()).ok());
  several.after().replies.emplace_back(1, v1::DeployReply{});
  EXPECT_FALSE(several.flush());
  EXPECT_EQ(confirms.size(), 1u);
  EXPECT_TRUE(out.deploys.empty());
  EXPECT_FALSE(several.empty());
  answer(true);
  EXPECT_EQ(out.deploys.count(1), 1u);
  EXPECT_TRUE(several.empty());
}

TEST_F(pipeline_test, what_another_leader_may_contradict_is_dropped) {
  ASSERT_TRUE(several.open(*store.raise_epoch()).ok());
  several.after().replies.emplace_back(1, v1::DeployReply{});
  EXPECT_FALSE(several.flush());
  answer(false);
  EXPECT_TRUE(out.deploys.empty());
  EXPECT_TRUE(several.empty());
}

TEST_F(pipeline_test, a_commit_that_is_under_way_says_nothing_of_who_leads_now) {
  ASSERT_TRUE(several.open(*store.raise_epoch()).ok());
  several.rows().put(store::table::task_id, "a", "value");
  several.after().replies.emplace_back(1, v1::DeployReply{});
  EXPECT_FALSE(several.flush());
  several.after().replies.emplace_back(2, v1::DeployReply{});
  EXPECT_FALSE(several.flush());
  ASSERT_EQ(asked.size(), 1u);
  ASSERT_EQ(confirms.size(), 1u);
  // Both must have come, in whatever order.
  ASSERT_TRUE(store.commit({asked.front()}).ok());
  several.committed_up_to(asked.front().sequence, [this](effects after) { several.release(after); });
  EXPECT_EQ(out.deploys.count(1), 1u);
  EXPECT_EQ(out.deploys.count(2), 0u);
  answer(true);
  EXPECT_EQ(out.deploys.count(2), 1u);
}

TEST_F(pipeline_test, what_was_decided_later_leaves_later_although_its_commit_comes_first) {
  ASSERT_TRUE(several.open(*store.raise_epoch()).ok());
  several.after().replies.emplace_back(1, v1::DeployReply{});
  EXPECT_FALSE(several.flush());
  several.rows().put(store::table::task_id, "a", "value");
  several.after().replies.emplace_back(2, v1::DeployReply{});
  EXPECT_FALSE(several.flush());
  ASSERT_TRUE(store.commit({asked.front()}).ok());
  several.committed_up_to(asked.front().sequence, [this](effects after) { several.release(after); });
  EXPECT_TRUE(out.deploys.empty());
  answer(true);
  EXPECT_EQ(out.deploys.size(), 2u);
}

TEST_F(pipeline_test, nothing_leaves_before_its_batch_is_durable) {
  write("a");
  tell(1);
  EXPECT_TRUE(batches.wants_flush());
  EXPECT_FALSE(batches.flush());
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_TRUE(out.deploys.empty());
  EXPECT_FALSE(batches.empty());
  make_durable();
  EXPECT_EQ(out.deploys.count(1), 1u);
  EXPECT_TRUE(batches.empty());
}

TEST_F(pipeline_test, batches_are_numbered_without_gaps_behind_the_store_and_carry_the_epoch) {
  const auto first = batches.sequence();
  for (const auto* key : {"a", "b", "c"}) {
    write(key);
    batches.flush();
  }
  ASSERT_EQ(asked.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(asked[i].sequence, first + i);
    EXPECT_EQ(asked[i].epoch, batches.epoch());
  }
  EXPECT_FALSE(batches.durable(first));
  make_durable();
  EXPECT_TRUE(batches.durable(first));
  EXPECT_FALSE(batches.durable(first + 1));
}

TEST_F(pipeline_test, what_needs_no_write_waits_for_what_is_on_its_way) {
  write("a");
  batches.flush();
  tell(7);
  EXPECT_FALSE(batches.flush()) << "it may rest on the batch that is on its way";
  EXPECT_EQ(asked.size(), 1u);
  make_durable();
  EXPECT_EQ(out.deploys.count(7), 1u);
}

TEST_F(pipeline_test, what_needs_no_write_leaves_at_once_when_nothing_is_on_its_way) {
  tell(7);
  auto at_once = batches.flush();
  ASSERT_TRUE(at_once);
  EXPECT_TRUE(asked.empty());
  batches.release(*at_once);
  EXPECT_EQ(out.deploys.count(7), 1u);
}

TEST_F(pipeline_test, several_batches_are_acted_on_in_order_with_the_counters_of_each) {
  for (std::uint64_t i = 1; i <= 3; ++i) {
    write(std::to_string(i));
    batches.counts().set_archived(i);
    tell(i);
    batches.flush();
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;
  batches.committed_up_to(asked[1].sequence, [&](const effects& after) {
    seen.emplace_back(after.replies.front().first, batches.committed_counts().archived());
  });
  EXPECT_EQ(seen, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{1, 1}, {2, 2}}));
  EXPECT_EQ(batches.counts().archived(), 3u);
  EXPECT_FALSE(batches.empty());
}

TEST_F(pipeline_test, readers_see_what_is_durable_and_no_more) {
  write("a");
  batches.flush();
  EXPECT_FALSE(batches.committed().get(store::table::task_id, "a")->has_value());
  make_durable();
  EXPECT_TRUE(batches.committed().get(store::table::task_id, "a")->has_value());
}

TEST_F(pipeline_test, what_an_instance_has_not_been_handed_is_kept_back_from_every_batch) {
  *batches.after().performs["svc-1"].add_items() = attempt(1);
  write("a");
  batches.flush();
  *batches.after().performs["svc-1"].add_items() = attempt(2);
  *batches.after().performs["svc-2"].add_items() = attempt(3);
  const auto kept = batches.keep_back("svc-1");
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].task_number() + kept[1].task_number(), 3u);
  EXPECT_TRUE(batches.keep_back("svc-1").empty());
  write("b");
  batches.flush();
  make_durable();
  make_durable();
  ASSERT_EQ(out.performs.size(), 1u);
  EXPECT_EQ(out.performs[0].instance, "svc-2");
}

TEST_F(pipeline_test, a_lease_is_no_longer_than_one_that_begins_when_the_message_leaves) {
  auto handed = attempt(1);
  handed.set_budget_ms(5'000);
  handed.set_complete_by_unix_ms(time.now_ms + 5'000);
  *batches.after().performs["svc-1"].add_items() = handed;
  write("a");
  batches.flush();
  time.jump(-60'000);
  make_durable();
  ASSERT_EQ(out.performs.size(), 1u);
  EXPECT_EQ(out.performs[0].what.complete_by_unix_ms(), time.now_ms + 5'000);
}

TEST_F(pipeline_test, retention_time_that_has_moved_is_written_though_nothing_else_is) {
  write("a");
  batches.flush();
  make_durable();
  EXPECT_FALSE(batches.wants_flush());
  batches.put_retention_forward();
  EXPECT_FALSE(batches.wants_flush()) << "no second has passed";
  time.now_ms += 5'000;
  const auto before_ms = batches.counts().retention_unix_ms();
  batches.put_retention_forward();
  EXPECT_TRUE(batches.wants_flush());
  EXPECT_GT(batches.counts().retention_unix_ms(), before_ms);
  batches.flush();
  EXPECT_EQ(asked.size(), 1u);
}

TEST_F(pipeline_test, the_room_counts_what_is_on_its_way_twice_over) {
  const auto before = batches.room(1'000);
  EXPECT_EQ(before.reserved_bytes, 1'000u);
  batches.rows().put(store::table::task_id, "a", std::string(10'000, 'x'));
  EXPECT_GE(batches.room(1'000).used_bytes, before.used_bytes + 20'000);
  EXPECT_GE(batches.uncommitted_bytes(), 10'000u);
  batches.flush();
  EXPECT_GE(batches.uncommitted_bytes(), 10'000u);
  EXPECT_GE(batches.room(1'000).used_bytes, before.used_bytes + 20'000);
  make_durable();
  EXPECT_EQ(batches.uncommitted_bytes(), 0u);
}

TEST_F(pipeline_test, a_batch_is_large_when_the_store_should_begin_with_it) {
  write("a");
  EXPECT_FALSE(batches.is_large());
  batches.rows().put(store::table::task_id, "b", std::string(300'000, 'x'));
  EXPECT_TRUE(batches.is_large());
}

}  // namespace
}  // namespace fairlead::testing
