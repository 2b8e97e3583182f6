// Two shards of a node share its journal. One is held by several nodes, and has no majority; the other goes on all the same.

#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "actors/replication/replica.hpp"
#include "messages/lineage.hpp"
#include "messages/replica.pb.h"
#include "tests/store/journaled/checks.hpp"

namespace fairlead {
namespace {

struct shared_journal : ::testing::Test {
  static constexpr std::size_t segments = 8;

  shared_journal() {
    options.segment_bytes = std::uint64_t{64} << 10;
    options.max_bytes = segments * options.segment_bytes;
    options.release = "test";
    options.now_unix_ms = options.boot_ms = [] { return std::int64_t{1}; };
    options.random = [random = std::mt19937_64{7}]() mutable { return random(); };
    open();
    v1::ShardMembers all;
    for (const auto id : {5, 6, 7}) all.add_voters(static_cast<std::uint64_t>(id));
    EXPECT_TRUE(stuck().be_replica(5).ok());
    EXPECT_TRUE(stuck().begin_shard(all.SerializeAsString(), {0, 2, "stuck"}, first_lineage(1'000, 1)).ok());
    begin();
  }
  /// As after a kill.
  void open() {
    one.reset();
    other.reset();
    stores.reset();
    disk.reboot();
    auto opened = store::journaled_stores::open(std::make_unique<store::lent_disk>(disk),
                                                {{0, "stuck", &tables[0], nullptr, true}, {1, "other", &tables[1]}}, options);
    ASSERT_TRUE(opened.ok()) << opened.failure().sentence;
    stores = std::move(*opened);
  }
  void begin() {
    one.emplace(stuck(), replica_settings{5, {{5, 6, 7}, {}}}, [this] { return now_ms; });
    other.emplace(stores->at(1), replica_settings{}, [this] { return now_ms; });
  }
  store::journaled_store& stuck() { return stores->at(0); }

  /// Entries of a leader that is never heard of again.
  void take_entries(raft::log_index from, int count) {
    raft::append what{1, from - 1, from == 1 ? 0U : 2U, 0, 0, {}};
    for (int i = 0; i < count; ++i)
      what.entries.push_back({from + static_cast<raft::log_index>(i), 2, 0, raft::entry_kind::epoch, nullptr});
    ASSERT_TRUE(one->receive({6, 5, 2, std::move(what)}).ok());
    ASSERT_TRUE(one->settle().ok());
  }
  /// The other shard writes so much. False: the journal is full of what must stay.
  bool write(std::size_t bytes) {
    const auto epoch = other->raise_epoch();
    for (std::size_t written = 0; written < bytes; written += 8'000) {
      if (stores->log().used_percent() >= 100 * (segments - 1) / segments) return false;
      store::batch batch;
      batch.sequence = stores->at(1).sequence() + 1;
      batch.epoch = *epoch;
      batch.put(store::table::task, "key", std::string(8'000, 'x'));
      EXPECT_TRUE(other->commit({batch}).ok());
      EXPECT_TRUE(stores->at(1).apply_all().ok());
      EXPECT_TRUE(stores->log().stage().ok());
      now_ms += 50;
      EXPECT_TRUE(one->tick().ok());
      EXPECT_TRUE(one->settle().ok());
    }
    return true;
  }

  store::memory_disk disk;
  store::memory_store tables[2];
  store::journal_options options;
  std::unique_ptr<store::journaled_stores> stores;
  std::optional<replica> one, other;
  std::int64_t now_ms = 1'000'000;
};

TEST_F(shared_journal, a_shard_without_a_majority_keeps_it_from_no_other_one) {
  take_entries(1, 3);
  ASSERT_EQ(one->view().last_index, 3U);
  ASSERT_EQ(stuck().shown_index(), 0U);
  ASSERT_TRUE(write(10 * options.max_bytes));
  // All that it had confirmed is there, after a kill too.
  open();
  const auto log = stuck().take_log();
  ASSERT_EQ(log.entries.size(), 3U);
  EXPECT_EQ(log.entries.back().index, 3U);
  EXPECT_EQ(log.entries.back().term, 2U);
}

TEST_F(shared_journal, a_shard_that_takes_part_no_more_keeps_it_from_no_other_one) {
  take_entries(1, 3);
  one->outlived("the shard goes on elsewhere");
  ASSERT_TRUE(write(10 * options.max_bytes));
  open();
  begin();
  one->outlived("the shard goes on elsewhere");
  EXPECT_TRUE(write(10 * options.max_bytes)) << "after a start as well";
}

}  // namespace
}  // namespace fairlead
