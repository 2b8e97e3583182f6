// A replica of a shard that lives on one node, whose caller waits for each commit.

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <random>
#include <thread>

#include "actors/replication/replica.hpp"
#include "store/keys.hpp"
#include "store/meta_rows.hpp"
#include "tests/eventually.hpp"
#include "tests/store/journaled/checks.hpp"

namespace fairlead {
namespace {

struct replica_alone : ::testing::Test {
  replica_alone() {
    options.segment_bytes = std::uint64_t{64} << 10;
    options.max_bytes = 6 * options.segment_bytes;
    options.release = "test";
    options.now_unix_ms = options.boot_ms = [] { return std::int64_t{1}; };
    options.random = [random = std::mt19937_64{7}]() mutable { return random(); };
    open();
  }
  /// As after a kill.
  void open() {
    stores.reset();
    disk.reboot();
    stores = std::move(store::journaled_stores::open(std::make_unique<store::lent_disk>(disk), {{0, "one", &tables}}, options).value());
  }

  void commit(const std::string& key) {
    const auto epoch = it->raise_epoch();
    ASSERT_TRUE(epoch.ok()) << epoch.failure().sentence;
    store::batch one;
    one.sequence = stores->at(0).sequence() + 1;
    one.epoch = *epoch;
    one.put(store::table::task, key, "value");
    ASSERT_TRUE(it->commit({one}).ok());
  }
  void start(replica_settings how = {}) {
    it.emplace(stores->at(0), std::move(how), [] { return std::int64_t{1}; });
  }

  store::memory_disk disk;
  store::memory_store tables;
  store::journal_options options;
  std::unique_ptr<store::journaled_stores> stores;
  std::optional<replica> it;
};

TEST_F(replica_alone, commits_more_at_once_than_its_journal_holds) {
  auto& own = stores->at(0);
  own.on_pending([&own] { EXPECT_TRUE(own.apply().ok()); });
  replica it{own, {}, [] { return std::int64_t{1}; }};
  const auto epoch = it.raise_epoch();
  ASSERT_TRUE(epoch.ok());
  std::vector<store::batch> group(60);
  for (auto& one : group) {
    one.sequence = static_cast<std::uint64_t>(&one - group.data()) + 1;
    one.epoch = *epoch;
    one.put(store::table::task, "key " + std::to_string(one.sequence), std::string(9'000, 'x'));
  }
  std::atomic<bool> done{false};
  std::thread writer([&] {
    EXPECT_TRUE(it.commit(group).ok());
    done = true;
  });
  if (!eventually([&] { return done.load(); })) {
    ADD_FAILURE() << "the commit waits for room that only it could make";
    stores->log().fail({v1::ERROR_CODE_INTERNAL, "The writer still waits.", {}});
  }
  writer.join();
  EXPECT_EQ(own.sequence(), 60U);
}

// As `fairlead cluster init` does it while the node runs.
TEST_F(replica_alone, goes_on_as_the_first_of_several_without_a_start) {
  start();
  ASSERT_NO_FATAL_FAILURE(commit("alone"));
  const auto former = it->view();
  it.reset();
  const raft::members members{{7}, {}};
  replica_settings how;
  how.self = 7;
  how.born_with = members;
  ASSERT_TRUE(stores->at(0).be_replica(7, *raft::encode(members), "the nodes", former.term).ok());
  for (int starts = 0; starts < 2; ++starts) {
    start(how);
    EXPECT_EQ(it->view().members, members);
    EXPECT_GE(it->view().term, former.term);
    EXPECT_GE(it->view().last_index, former.last_index);
    ASSERT_NO_FATAL_FAILURE(commit(std::to_string(starts)));
    EXPECT_GT(it->view().term, former.term) << "nobody can take it for the group of one";
    std::size_t rows = 0;
    EXPECT_TRUE(stores->at(0)
                    .read()
                    ->scan_all(store::table::task, [&](std::string_view, std::optional<std::string_view>) { return ++rows > 0; })
                    .ok());
    EXPECT_EQ(rows, 2U + static_cast<std::size_t>(starts));
    it.reset();
    open();
    EXPECT_EQ(stores->at(0).replica()->id, 7U);
  }
}

TEST_F(replica_alone, leads_again_when_the_process_ended_before_others_could_join) {
  start();
  ASSERT_NO_FATAL_FAILURE(commit("0"));
  const auto term = it->view().term;
  it.reset();
  ASSERT_TRUE(stores->at(0).be_replica(7, *raft::encode(raft::members{{7}, {}}), {}, term).ok());
  // The journal says it, and the tables do not.
  store::batch row;
  row.erase(store::table::meta, store::keys::meta(store::meta::replica_row));
  ASSERT_TRUE(tables.apply(store::run::of(row)->operations()).ok());
  for (int starts = 1; starts < 4; ++starts) {
    open();
    EXPECT_FALSE(stores->at(0).replica());
    start();
    ASSERT_NO_FATAL_FAILURE(commit(std::to_string(starts)));
    it.reset();
  }
}

}  // namespace
}  // namespace fairlead
