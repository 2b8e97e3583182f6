// Backups of stores: what they hold, what has to come before they are used, and what is refused. A running node's: tests/scenarios/backup.py.

#include <gtest/gtest.h>

#include <filesystem>

#include "store/disk/backup.hpp"
#include "store/disk/disk_stores.hpp"
#include "store/disk/one_store.hpp"
#include "store/disk/settle.hpp"
#include "tests/store/archive_fixture.hpp"

namespace fairlead::store {
namespace {

using namespace testing;
namespace fs = std::filesystem;

struct backup_test : ::testing::Test {
  temporary_directory place;
  std::string from = place / "store";
  std::string to = place / "copy";

  /// A node that has taken a row, and ends in order or by a crash.
  void worked(bool in_order) {
    disk_stores_options options;
    options.shards.push_back({0, from});
    options.shard_count = 1;
    options.journal = journal_in(from);
    options.max_bytes = std::uint64_t{1} << 28;
    options.segment_bytes = std::uint64_t{1} << 20;
    options.release = "test";
    auto node = disk_stores::open(std::move(options));
    ASSERT_TRUE(node.ok()) << node.failure().sentence;
    test_shard of((*node)->at(0));
    auto one = of.next();
    one.put(table::task, "a", "value");
    of.expect_committed(std::move(one));
    if (in_order) {
      ASSERT_TRUE((*node)->close().ok());
    }
  }
  std::unique_ptr<lmdb_store> copy() {
    auto opened = lmdb_store::open({to});
    EXPECT_TRUE(opened.ok()) << opened.failure().sentence;
    return opened ? std::move(*opened) : nullptr;
  }
};

TEST_F(backup_test, holds_everything_without_a_journal_and_asks_for_a_restore) {
  worked(true);
  const auto made = back_up_store(from, to);
  ASSERT_TRUE(made.ok()) << made.failure().sentence;
  EXPECT_FALSE(fs::exists(journal_in(to)));
  const auto opened = copy();
  ASSERT_NE(opened, nullptr);
  const auto found = opened->read()->get(table::task, "a");
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ(**found, "value");
  const auto lineage = opened->claim_lineage({});
  ASSERT_FALSE(lineage.ok());
  EXPECT_EQ(lineage.failure().code, v1::ERROR_CODE_WRONG_STATE);
}

TEST_F(backup_test, holds_the_archives) {
  worked(true);
  const auto day = from + "/archive/keep-90d/2024-10-04";
  fs::create_directories(fs::path{day}.parent_path());
  {
    auto opened = env::open({day, std::uint64_t{1} << 28, false});
    ASSERT_TRUE(opened.ok()) << opened.failure().sentence;
    auto txn = (*opened)->write();
    ASSERT_TRUE(txn.ok() && txn->put(table::payload, "old", "archived").ok() && txn->commit().ok());
  }
  ASSERT_TRUE(back_up_store(from, to).ok());
  auto opened = env::open({to + "/archive/keep-90d/2024-10-04", std::uint64_t{1} << 28, true});
  ASSERT_TRUE(opened.ok()) << opened.failure().sentence;
  const auto now = (*opened)->read();
  const auto found = now.get(table::payload, "old");
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ(**found, "archived");
}

TEST_F(backup_test, holds_no_task_that_is_younger_than_its_tables) {
  worked(true);
  {
    // The copy of the tables is of a moment, the archives go on: tasks 7 and 8 were submitted, ended and archived meanwhile.
    auto opened = lmdb_store::open(options_of_tool(from), true);
    ASSERT_TRUE(opened.ok());
    archive archives(archives_in(from));
    memory_store later;
    test_shard of(later);
    batch told;
    for (const std::uint64_t number : {7, 8}) {
      of.create(running_order(number, "o-" + std::to_string(number)));
      of.change(number, [](v1::TaskRecord& task) { complete(task, 3'000); });
      put_move(told, **load_task(*later.read(), number), {20'000, number == 8 ? 90u : 0u});
    }
    batch erasures;
    ASSERT_TRUE(archives.carry_out(*with(*later.read(), told), erasures).ok());
  }
  ASSERT_TRUE(back_up_store(from, to).ok());
  archive copies(archives_in(to));
  EXPECT_EQ(copies.days()->size(), 1u);
  EXPECT_FALSE(copies.load(20'000, task_number{7})->has_value());
  EXPECT_FALSE(copies.load(20'000, task_number{8}, 90)->has_value());
  EXPECT_TRUE(archive(archives_in(from)).load(20'000, task_number{7})->has_value()) << "the node's own archives stay as they are";
}

TEST_F(backup_test, of_a_node_that_crashed_is_refused_because_only_its_journal_has_all) {
  worked(false);
  const auto made = back_up_store(from, to);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.failure().code, v1::ERROR_CODE_WRONG_STATE) << made.failure().sentence;
  EXPECT_FALSE(fs::exists(to));
  ASSERT_TRUE(settle_store(from).ok());
  EXPECT_TRUE(back_up_store(from, to).ok());
}

TEST_F(backup_test, waits_for_a_check_that_would_hide_that_the_node_crashed) {
  worked(false);
  {
    const auto reader = one_store::open(from, {}, one_store::access::read);
    ASSERT_TRUE(reader.ok()) << reader.failure().sentence;
    const auto refused = back_up_store(from, to);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_STORE_IN_USE);
    EXPECT_NE(refused.failure().sentence.find("which only reads it"), std::string::npos) << refused.failure().sentence;
    EXPECT_FALSE(fs::exists(to));
  }
  EXPECT_EQ(back_up_store(from, to).failure().code, v1::ERROR_CODE_WRONG_STATE);
}

TEST_F(backup_test, goes_over_nothing_that_is_there) {
  worked(true);
  fs::create_directory(to);
  EXPECT_FALSE(back_up_store(from, to).ok());
  EXPECT_TRUE(fs::is_empty(to));
}

TEST_F(backup_test, of_nothing_is_refused) {
  fs::create_directory(from);
  const auto made = back_up_store(from, to);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.failure().code, v1::ERROR_CODE_NOT_FOUND) << made.failure().sentence;
  EXPECT_TRUE(fs::is_empty(from)) << "nothing is left behind";
}

}  // namespace
}  // namespace fairlead::store
