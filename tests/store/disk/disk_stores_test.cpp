// The stores of a node on its disks: what is whole without its journal, what is refused, and how a store leaves its journal and comes back.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "messages/lineage.hpp"
#include "store/disk/disk_stores.hpp"
#include "store/disk/one_store.hpp"
#include "store/disk/settle.hpp"
#include "store/failpoint.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::store {
namespace {

using namespace testing;
namespace fs = std::filesystem;

struct disk_stores_test : ::testing::Test {
  temporary_directory place;
  std::unique_ptr<disk_stores> node;

  std::string shard(int number) { return place / ("shard-" + std::to_string(number)); }

  result<std::unique_ptr<disk_stores>> try_open(int shards = 2) {
    node.reset();
    disk_stores_options options;
    for (int n = 0; n < shards; ++n) options.shards.push_back({static_cast<std::uint16_t>(n), shard(n)});
    options.shard_count = 2;
    options.journal = journal_in(place.path());
    options.max_bytes = std::uint64_t{1} << 28;
    options.segment_bytes = std::uint64_t{1} << 20;
    options.release = "test";
    return disk_stores::open(std::move(options));
  }
  void open() {
    auto opened = try_open();
    ASSERT_TRUE(opened.ok()) << opened.failure().sentence;
    node = std::move(*opened);
    for (std::size_t i = 0; i < node->size(); ++i) ASSERT_TRUE(node->at(i).claim_shard(static_cast<std::uint32_t>(i), 2, "id").ok());
  }
  void put(std::size_t at, const std::string& key, const std::string& value = "value") {
    test_shard of(node->at(at));
    auto one = of.next();
    one.put(table::task, key, value);
    of.expect_committed(std::move(one));
  }
  std::string refusal() {
    auto opened = try_open();
    return opened.ok() ? "" : opened.failure().sentence;
  }
  static bool has(const snapshot& in, const std::string& key) {
    const auto found = in.get(table::task, key);
    return found.ok() && found->has_value();
  }
};

TEST_F(disk_stores_test, read_with_the_journal_show_what_is_only_there) {
  open();
  put(1, "a");
  node.reset();
  const auto read = one_store::open(shard(1), {}, one_store::access::read);
  ASSERT_TRUE(read.ok()) << read.failure().sentence;
  EXPECT_TRUE(has(*(*read)->read(), "a"));
}

TEST_F(disk_stores_test, without_their_journal_are_whole_only_after_a_clean_end) {
  open();
  put(1, "a");
  node.reset();
  fs::rename(place / "journal", place / "elsewhere");
  auto read = one_store::open(shard(1), {}, one_store::access::read);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.failure().sentence.find("is missing"), std::string::npos) << read.failure().sentence;
  ASSERT_TRUE(one_store::open(shard(1), place / "elsewhere", one_store::access::read).ok());
  fs::rename(place / "elsewhere", place / "journal");
  open();
  ASSERT_TRUE(node->close().ok());
  node.reset();
  fs::rename(place / "journal", place / "elsewhere");
  read = one_store::open(shard(1), {}, one_store::access::read);
  ASSERT_TRUE(read.ok()) << read.failure().sentence;
  EXPECT_TRUE(has(*(*read)->read(), "a"));
  (*read).reset();
  open();
  EXPECT_TRUE(has(*node->at(1).read(), "a")) << "and a node begins a new journal";
}

TEST_F(disk_stores_test, are_not_taken_for_whole_once_a_node_has_begun_again) {
  open();
  ASSERT_TRUE(node->close().ok());
  open();
  node.reset();
  fs::remove_all(place / "journal");
  EXPECT_FALSE(one_store::open(shard(0), {}, one_store::access::read).ok());
}

TEST_F(disk_stores_test, that_are_settled_open_in_any_release_and_come_back_to_a_journal) {
  open();
  put(0, "a");
  put(1, "b");
  node.reset();
  ASSERT_TRUE(settle_store(shard(0)).ok());
  {
    const auto alone = lmdb_store::open({shard(0), std::uint64_t{1} << 28, false});
    ASSERT_TRUE(alone.ok()) << alone.failure().sentence;
    EXPECT_TRUE(has(*(*alone)->read(), "a"));
  }
  // The other shard is still in the journal, which has entries of the settled one: they count no more.
  open();
  EXPECT_TRUE(has(*node->at(0).read(), "a"));
  EXPECT_TRUE(has(*node->at(1).read(), "b"));
  put(0, "c");
  open();
  EXPECT_TRUE(has(*node->at(0).read(), "c"));
  node.reset();
  for (const auto number : {0, 1}) ASSERT_TRUE(settle_store(shard(number)).ok());
  open();
  put(1, "d");
  open();
  EXPECT_TRUE(has(*node->at(1).read(), "d"));
}

TEST_F(disk_stores_test, that_ended_cleanly_move_to_another_node_and_back) {
  const temporary_directory other;
  const auto open_at = [&](const std::string& journal, const std::vector<int>& numbers) {
    disk_stores_options options;
    for (const auto n : numbers) options.shards.push_back({static_cast<std::uint16_t>(n), shard(n)});
    options.shard_count = 2;
    options.journal = journal;
    options.max_bytes = std::uint64_t{1} << 28;
    options.segment_bytes = std::uint64_t{1} << 20;
    auto opened = disk_stores::open(std::move(options));
    return opened.ok() ? std::move(*opened) : (ADD_FAILURE() << opened.failure().sentence, nullptr);
  };
  const auto end = [](std::unique_ptr<disk_stores> one) { ASSERT_TRUE(one->close().ok()); };
  open();
  put(0, "a");
  put(1, "b");
  end(std::move(node));
  auto left = open_at(journal_in(place.path()), {0});
  auto gone = open_at(other / "journal", {1});
  ASSERT_TRUE(left && gone);
  ASSERT_TRUE(gone->at(0).raise_epoch().ok());
  EXPECT_TRUE(has(*gone->at(0).read(), "b"));
  end(std::move(left));
  end(std::move(gone));
  open();
  EXPECT_TRUE(has(*node->at(0).read(), "a"));
  EXPECT_TRUE(has(*node->at(1).read(), "b"));
  put(1, "c");
  open();
  EXPECT_TRUE(has(*node->at(1).read(), "c"));
}

TEST_F(disk_stores_test, that_were_copied_before_more_was_committed_are_refused_unless_they_are_restored) {
  open();
  put(0, "a");
  node.reset();
  ASSERT_TRUE(settle_store(shard(0)).ok());
  fs::copy(shard(0), place / "copy");
  open();
  put(0, "b");
  node.reset();
  fs::remove_all(shard(0));
  fs::copy(place / "copy", shard(0));
  EXPECT_NE(refusal().find("never belonged to it"), std::string::npos) << refusal();
  {
    const auto restored = lmdb_store::open({shard(0), std::uint64_t{1} << 28, false});
    ASSERT_TRUE(restored.ok());
    v1::Lineage later;
    later.set_made_unix_ms(2'000);
    ASSERT_TRUE((*restored)->end_restore(later, 1'000'000, 7).ok());
  }
  open();
  EXPECT_FALSE(has(*node->at(0).read(), "b")) << "what the journal had belongs to the earlier lineage";
  const auto epoch = node->at(0).raise_epoch();
  ASSERT_TRUE(epoch.ok());
  EXPECT_GT(*epoch, 1'000'000u);
  put(0, "c");
  open();
  EXPECT_TRUE(has(*node->at(0).read(), "a"));
  EXPECT_TRUE(has(*node->at(0).read(), "c"));
}

TEST_F(disk_stores_test, whose_files_were_copied_beside_a_running_node_are_refused_until_they_are_settled) {
  open();
  put(1, "a");
  node.reset();
  const auto original = shard(1) + "/data.mdb";
  fs::copy(original, place / "copy");
  fs::rename(original, place / "original");
  fs::rename(place / "copy", original);
  const auto refused = try_open();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_CORRUPT);
  EXPECT_EQ(refused.failure().sentence,
            "The store " + shard(1) + " is a copy that was made while its node ran, or after the node had not ended in order.");
  const auto settled = settle_node({shard(0), shard(1)}, {}, false);
  ASSERT_TRUE(settled.ok()) << settled.failure().sentence;
  open();
  EXPECT_TRUE(has(*node->at(1).read(), "a"));
}

TEST_F(disk_stores_test, whose_journal_is_lost_go_on_only_by_a_restore) {
  open();
  put(0, "a");
  node.reset();
  fs::remove_all(place / "journal");
  ASSERT_FALSE(settle_store(shard(0)).ok());
  for (const auto number : {0, 1}) ASSERT_TRUE(leave_journal(shard(number)).ok());
  open();
  EXPECT_FALSE(node->at(0).claim_lineage({}).ok()) << "a restore has begun";
}

TEST_F(disk_stores_test, are_settled_together_and_the_journal_goes) {
  open();
  put(0, "a");
  put(1, "b");
  node.reset();
  const auto done = settle_node(stores_in(place.path()), {}, false);
  ASSERT_TRUE(done.ok()) << done.failure().sentence;
  EXPECT_EQ(done->stores.size(), 2u);
  EXPECT_FALSE(fs::exists(place / "journal"));
  for (const auto number : {0, 1}) {
    const auto alone = lmdb_store::open({shard(number), std::uint64_t{1} << 28, false});
    ASSERT_TRUE(alone.ok()) << alone.failure().sentence;
    EXPECT_TRUE(has(*(*alone)->read(), number == 0 ? "a" : "b"));
  }
  open();
  EXPECT_TRUE(has(*node->at(1).read(), "b"));
}

TEST_F(disk_stores_test, of_which_one_is_left_out_are_not_settled_because_the_journal_has_its_work) {
  open();
  put(0, "a");
  put(1, "b");
  node.reset();
  const auto refused = settle_node({shard(0)}, {}, false);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_WRONG_STATE);
  EXPECT_NE(refused.failure().sentence.find("may have work of the store "), std::string::npos) << refused.failure().sentence;
  open();
  EXPECT_TRUE(has(*node->at(0).read(), "a"));
  EXPECT_TRUE(has(*node->at(1).read(), "b"));
}

TEST_F(disk_stores_test, that_are_whole_leave_a_directory_alone_that_is_no_journal_of_theirs) {
  open();
  put(0, "a");
  ASSERT_TRUE(node->close().ok());
  node.reset();
  const auto done = settle_node(stores_in(place.path()), place.path(), false);
  ASSERT_TRUE(done.ok()) << done.failure().sentence;
  EXPECT_EQ(done->outcome, settled_journal::none);
  for (const auto number : {0, 1}) EXPECT_TRUE(fs::exists(shard(number) + "/data.mdb"));
  EXPECT_TRUE(fs::exists(place / "journal"));
}

TEST_F(disk_stores_test, whose_journal_is_damaged_put_it_aside_when_that_is_accepted) {
  open();
  put(0, "a");
  node.reset();
  for (const auto& one : fs::directory_iterator(place / "journal")) {
    if (one.path().extension() == ".seg") fs::resize_file(one.path(), 8'192);
  }
  EXPECT_FALSE(settle_node(stores_in(place.path()), {}, false).ok());
  const auto done = settle_node(stores_in(place.path()), {}, true);
  ASSERT_TRUE(done.ok()) << done.failure().sentence;
  EXPECT_TRUE(done->stores.front().lost_its_journal);
  EXPECT_EQ(done->outcome, settled_journal::kept);
  std::size_t kept = 0;
  for (const auto& one : fs::directory_iterator(place / "journal")) {
    EXPECT_NE(one.path().extension(), ".seg");
    kept += one.path().extension() == ".lost";
  }
  EXPECT_GE(kept, 1u);
  for (const auto& one : done->stores) EXPECT_TRUE(one.lost_its_journal);
}

TEST_F(disk_stores_test, that_are_whole_do_not_take_the_journal_of_another_node) {
  open();
  put(0, "a");
  ASSERT_TRUE(node->close().ok());
  node.reset();
  // Another node, which was killed with work in its journal.
  temporary_directory elsewhere;
  disk_stores_options options;
  options.shards.push_back({0, elsewhere / "store"});
  options.journal = journal_in(elsewhere.path());
  options.max_bytes = std::uint64_t{1} << 28;
  options.segment_bytes = std::uint64_t{1} << 20;
  {
    auto other = std::move(disk_stores::open(options).value());
    test_shard of(other->at(0));
    auto one = of.next();
    one.put(table::task, "of another node", "value");
    of.expect_committed(std::move(one));
  }
  const auto done = settle_node(stores_in(place.path()), journal_in(elsewhere.path()), true);
  ASSERT_TRUE(done.ok()) << done.failure().sentence;
  EXPECT_EQ(done->outcome, settled_journal::foreign);
  const auto other = std::move(disk_stores::open(options).value());
  EXPECT_TRUE(has(*other->at(0).read(), "of another node"));
}

TEST_F(disk_stores_test, that_are_older_than_their_journal_are_settled_with_all_that_it_has) {
  open();
  put(0, "a");
  ASSERT_TRUE(node->close().ok());
  node.reset();
  fs::copy_file(shard(0) + "/data.mdb", place / "older.mdb");
  open();
  put(0, "later");
  node.reset();
  fs::copy_file(place / "older.mdb", shard(0) + "/data.mdb", fs::copy_options::overwrite_existing);
  const auto done = settle_node(stores_in(place.path()), {}, false);
  ASSERT_TRUE(done.ok()) << done.failure().sentence;
  const auto alone = std::move(lmdb_store::open({shard(0), std::uint64_t{1} << 28, false}).value());
  EXPECT_TRUE(has(*alone->read(), "later"));
}

TEST_F(disk_stores_test, whose_settling_was_cut_short_are_settled_again) {
  open();
  put(0, "a");
  put(1, "b");
  node.reset();
  ASSERT_TRUE(settle_store(shard(1)).ok());  // the first of both, and then the process ended
  const auto done = settle_node(stores_in(place.path()), {}, false);
  ASSERT_TRUE(done.ok()) << done.failure().sentence;
  EXPECT_EQ(done->outcome, settled_journal::removed);
  EXPECT_FALSE(fs::exists(place / "journal"));
}

TEST_F(disk_stores_test, whose_journal_was_half_removed_begin_a_new_one) {
  open();
  put(0, "a");
  node.reset();
  for (const auto number : {0, 1}) ASSERT_TRUE(settle_store(shard(number)).ok());
  // Removing has begun, and the segments that are left are no journal any more.
  std::ofstream{place / "journal/removing.tmp"};
  fs::remove(place / "journal/0000000000000001.seg");
  open();
  EXPECT_TRUE(has(*node->at(0).read(), "a"));
  EXPECT_FALSE(fs::exists(place / "journal/removing.tmp"));
  put(0, "b");
  open();
  EXPECT_TRUE(has(*node->at(0).read(), "b"));
}

TEST_F(disk_stores_test, that_are_whole_begin_beside_a_damaged_journal_that_nobody_names) {
  open();
  put(0, "a");
  node.reset();
  for (const auto number : {0, 1}) ASSERT_TRUE(settle_store(shard(number)).ok());
  for (const auto& one : fs::directory_iterator(place / "journal")) {
    if (one.path().extension() == ".seg") fs::resize_file(one.path(), 8'192);
  }
  open();
  EXPECT_TRUE(has(*node->at(0).read(), "a"));
}

TEST_F(disk_stores_test, of_which_one_was_put_aside_are_only_those_with_a_number) {
  open();
  node.reset();
  for (const auto* name : {"shard-0.part", "shard-1.old", "shard-"}) {
    fs::create_directory(place / name);
    fs::copy_file(shard(0) + "/data.mdb", (place / name) + "/data.mdb");
  }
  EXPECT_EQ(stores_in(place.path()), (std::vector<std::string>{shard(0), shard(1)}));
}

TEST_F(disk_stores_test, that_are_whole_are_read_beside_a_journal_that_has_gone_on) {
  open();
  put(0, "a");
  ASSERT_TRUE(node->close().ok());
  node.reset();
  fs::copy(shard(0), place / "copy", fs::copy_options::recursive);
  open();
  for (int i = 0; i < 20; ++i) put(0, "later " + std::to_string(i));
  node.reset();
  const auto read = one_store::open(place / "copy", journal_in(place.path()), one_store::access::read);
  ASSERT_TRUE(read.ok()) << read.failure().sentence;
  EXPECT_TRUE(has(*(*read)->read(), "a"));
}

TEST_F(disk_stores_test, ask_for_a_restore_before_they_are_out_of_a_lost_journal) {
  open();
  put(0, "a");
  node.reset();
  fs::remove_all(place / "journal");
  ASSERT_TRUE(set_failpoints("apply.mid_txn=error").ok());
  EXPECT_FALSE(leave_journal(shard(0)).ok());
  ASSERT_TRUE(set_failpoints("").ok());
  auto left = lmdb_store::open({shard(0)}, true);
  ASSERT_TRUE(left.ok()) << left.failure().sentence;
  EXPECT_FALSE((*left)->claim_lineage({}).ok()) << "a node would start as if nothing were lost";
}

TEST_F(disk_stores_test, under_the_number_of_another_shard_are_refused_by_it) {
  open();
  put(1, "a");
  node.reset();
  fs::rename(shard(0), place / "other");
  fs::rename(shard(1), shard(0));
  fs::rename(place / "other", shard(1));
  EXPECT_NE(refusal().find("is shard 1 of its journal"), std::string::npos) << refusal();
}

TEST_F(disk_stores_test, apply_in_the_background_what_was_committed) {
  open();
  node->begin_applying([](const error& why) { ADD_FAILURE() << why.sentence; }, {}, {});
  for (int i = 0; i < 20; ++i) put(0, "k" + std::to_string(i), std::string(100'000, 'x'));
  ASSERT_TRUE(eventually([&] { return node->at(0).unapplied_operations() == 0; }));
  v1::StoreStatus status;
  node->describe(0, status);
  EXPECT_EQ(status.sequence(), 20u);
  EXPECT_GT(status.journal().written_bytes(), 2'000'000u);
  EXPECT_EQ(status.unapplied_bytes(), 0u);
  ASSERT_TRUE(node->close().ok());
  open();
  EXPECT_TRUE(has(*node->at(0).read(), "k19"));
}

}  // namespace
}  // namespace fairlead::store
