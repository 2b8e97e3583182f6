// A store behind its journal: readers see one committed state whatever has been applied, and nothing that was acknowledged is lost.

#include <gtest/gtest.h>

#include "store/journaled/applier.hpp"
#include "tests/eventually.hpp"
#include "tests/store/journaled/checks.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

TEST(journaled_store, shows_one_committed_state_whatever_is_applied_and_when) {
  for (std::uint64_t seed = 1; seed <= 60 && !HasFailure(); ++seed) live_and_look(seed);
}

TEST(journaled_store, hands_on_the_error_of_a_table_that_cannot_be_written) { fail_an_apply(); }

void put_a_hundred(store& to) {
  test_shard shard(to);
  for (int i = 0; i < 100; ++i) {
    auto one = shard.next();
    one.put(table::task, "key " + std::to_string(i), "value");
    shard.expect_committed(std::move(one));
  }
}

TEST(journaled_store, applies_to_small_tables_in_small_transactions) {
  struct counted_tables final : tables_around {
    counted_tables() : tables_around(own) {}
    memory_store own{memory_store::durability::at_once, std::uint64_t{1} << 20};
    std::vector<std::size_t> operations;
    status apply(const std::vector<operation>& sorted) override {
      operations.push_back(sorted.size());
      return own.apply(sorted);
    }
  } below;
  memory_disk disk;
  auto stores = std::move(journaled_stores::open(std::make_unique<lent_disk>(disk), {{0, "in memory", &below}}, small_journal()).value());
  auto& it = stores->at(0);
  put_a_hundred(it);
  ASSERT_TRUE(it.apply_all().ok());
  EXPECT_GE(below.operations.size(), 6u);
  for (const auto one : below.operations) EXPECT_LE(one, 20u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(value_of(below.own, table::task, "key " + std::to_string(i)), "value");
}

TEST(journaled_store, applies_all_that_has_gathered_although_nothing_more_is_committed) {
  memory_store below{memory_store::durability::at_once, std::uint64_t{1} << 20};
  memory_disk disk;
  auto stores = std::move(journaled_stores::open(std::make_unique<lent_disk>(disk), {{0, "in memory", &below}}, small_journal()).value());
  auto& it = stores->at(0);
  put_a_hundred(it);
  const applier behind(*stores, {}, [](const error& why) { ADD_FAILURE() << why.sentence; });
  EXPECT_TRUE(eventually([&] { return it.unapplied_operations() == 0; }));
}

TEST(journaled_store, ends_the_process_although_its_last_word_hangs_on_the_same_disk) {
  struct hung_disk final : lent_disk {
    using lent_disk::lent_disk;
    status sync() override {
      while (hangs) std::this_thread::sleep_for(std::chrono::milliseconds{1});
      return lent_disk::sync();
    }
    std::atomic<bool> hangs{false};
  };
  memory_store below;
  memory_disk disk;
  auto files = std::make_unique<hung_disk>(disk);
  auto& hung = *files;
  auto stores = std::move(journaled_stores::open(std::move(files), {{0, "in memory", &below}}, small_journal()).value());
  applier_options options;
  options.watch_period = options.stall_told_after = std::chrono::milliseconds{10};
  options.stall_fatal_after = std::chrono::milliseconds{50};
  options.last_word_within = std::chrono::milliseconds{50};
  std::atomic<bool> ended{false};
  const auto end = [&](const error& why) {
    EXPECT_EQ(why.code, v1::ERROR_CODE_DISK);
    ended = true;
  };
  // A file is made, and the directory does not become durable.
  hung.hangs = true;
  const auto wait = [&] {
    while (hung.hangs) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  };
  {
    const applier behind(
        *stores, options, [&](const error&) { wait(); }, [&](bool, const std::string&) { wait(); }, end);
    EXPECT_TRUE(eventually([&] { return ended.load(); }));
    hung.hangs = false;
  }
}

TEST(journaled_store, applies_first_at_a_start_that_finds_only_half_a_file) {
  memory_store below;
  memory_disk disk;
  const auto open = [&] {
    return std::move(journaled_stores::open(std::make_unique<lent_disk>(disk), {{0, "in memory", &below}}, small_journal()).value());
  };
  auto stores = open();
  ASSERT_TRUE(stores->log().stage(1).ok());
  test_shard shard(stores->at(0));
  auto one = shard.next();
  one.put(table::task, "key", "value");
  shard.expect_committed(std::move(one));
  stores.reset();
  // One file is left, and what a crash leaves of another that was being made.
  ASSERT_TRUE(disk.remove(segment_name(3)).ok());
  ASSERT_TRUE(disk.create("fresh.tmp", std::uint64_t{1} << 20, [] { return making_pace::at_once; }).ok());
  ASSERT_TRUE(disk.sync().ok());
  disk.reboot();
  stores = open();
  EXPECT_EQ(value_of(below, table::task, "key"), "value");
}

TEST(journaled_store, takes_no_store_of_another_history_for_its_own_however_far_that_has_counted) {
  memory_store below;
  memory_disk disk;
  const auto open = [&](tables& of) {
    return journaled_stores::open(std::make_unique<lent_disk>(disk), {{0, "in memory", &of}}, small_journal());
  };
  auto stores = std::move(open(below).value());
  test_shard shard(stores->at(0));
  auto one = shard.next();
  one.put(table::task, "key", "value");
  shard.expect_committed(std::move(one));
  stores.reset();
  disk.reboot();
  // A store of a release without a journal.
  memory_store other;
  test_shard older(other);
  for (int i = 0; i < 100; ++i) older.expect_committed(older.next());
  const auto files = disk.list();
  const auto refused = open(other);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_WRONG_STATE);
  EXPECT_EQ(*disk.list(), *files);
  stores = std::move(open(below).value());
  EXPECT_EQ(value_of(stores->at(0), table::task, "key"), "value");
}

TEST(journaled_store, comes_back_with_more_than_the_journal_has_of_it_although_the_node_ends_at_once) {
  memory_disk disk;
  memory_store stays, leaves, elsewhere;
  const auto open = [&](tables& second) {
    return journaled_stores::open(std::make_unique<lent_disk>(disk), {{0, "one", &stays}, {1, "two", &second}}, small_journal());
  };
  const auto put = [](store& to, const std::string& key) {
    test_shard shard(to);
    auto one = shard.next();
    one.put(table::task, key, "value");
    shard.expect_committed(std::move(one));
  };
  auto stores = std::move(open(leaves).value());
  ASSERT_TRUE(stores->log().stage(4).ok()) << "with few files a start applies everything first";
  put(stores->at(0), "stays in the journal");
  put(stores->at(1), "of the former store");
  ASSERT_TRUE(stores->at(1).apply_all().ok());
  stores.reset();
  disk.reboot();
  // The store that takes its place was settled, and is further than the one before.
  {
    memory_disk other;
    auto alone = std::move(journaled_stores::open(std::make_unique<lent_disk>(other), {{1, "two", &elsewhere}}, small_journal()).value());
    for (int i = 0; i < 50; ++i) put(alone->at(0), "key " + std::to_string(i));
    ASSERT_TRUE(alone->at(0).settle().ok());
  }
  for (int start = 0; start < 3; ++start) {
    auto opened = open(elsewhere);
    ASSERT_TRUE(opened.ok()) << "start " << start << ": " << opened.failure().sentence;
    stores = std::move(*opened);
    ASSERT_TRUE(stores->log().stage(4).ok());
    EXPECT_GT(stores->at(0).unapplied_operations(), 0u) << "the segment with the entries of both is still needed";
    EXPECT_EQ(value_of(stores->at(1), table::task, "key 49"), "value");
    stores.reset();
    disk.reboot();
  }
  stores = std::move(open(elsewhere).value());
  put(stores->at(1), "goes on");
  EXPECT_EQ(value_of(stores->at(0), table::task, "stays in the journal"), "value");
}

TEST(journaled_store, has_a_settled_state_that_follows) {
  journaled_world here(7);
  here.commit();
  EXPECT_EQ(here.it().read()->get_progress().sequence, here.sequence);
  EXPECT_EQ(here.it().read_settled()->get_progress().sequence, 0u);
  ASSERT_TRUE(here.it().apply().ok());
  EXPECT_EQ(here.it().read_settled()->get_progress().sequence, here.sequence);
  EXPECT_EQ(here.it().unapplied_bytes(), 0u);
}

TEST(journaled_store, counts_what_is_not_applied_as_used) {
  journaled_world here(8);
  here.commit();
  EXPECT_GT(here.it().unapplied_bytes(), 0u);
  EXPECT_GE(here.it().get_usage().used_bytes, here.below.tables_usage().used_bytes + 2 * here.it().unapplied_bytes());
}

TEST(journaled_store, cuts_what_is_larger_than_a_group_and_puts_it_together) {
  journaled_world here(11);
  here.commit();
  for (const std::size_t bytes : {200'000, 300'000, 1'500'000, 4'000'000}) {
    std::vector<batch> group(2);
    for (auto& one : group) {
      one.sequence = ++here.sequence;
      one.epoch = here.epoch;
      v1::ShardState state;
      state.set_next_task_number(here.sequence);
      one.shard_state = state.SerializeAsString();
      const auto key = "key " + std::to_string(here.sequence), value = std::string(bytes, static_cast<char>('a' + here.sequence % 26));
      one.put(table::task, key, value);
      here.model[{table::task, key}] = value;
    }
    const auto done = here.it().commit(group);
    ASSERT_TRUE(done.ok()) << done.failure().sentence;
    here.history[here.sequence] = here.model;
    here.commit();
  }
  here.crash();
  ASSERT_TRUE(here.stores);
  expect_shows(*here.it().read(), here.model, here.sequence, here.random);
}

TEST(journaled_store, has_all_of_a_large_commit_after_a_crash_or_nothing) {
  for (std::uint64_t operations = 1; operations <= 24; ++operations) {
    SCOPED_TRACE("crash at operation " + std::to_string(operations));
    memory_store below;
    memory_disk disk(operations);
    const auto open = [&] {
      return journaled_stores::open(std::make_unique<lent_disk>(disk), {{0, "in memory", &below}}, small_journal());
    };
    bool acknowledged = false;
    {
      auto stores = open();
      ASSERT_TRUE(stores.ok());
      test_shard shard((*stores)->at(0));
      auto small = shard.next(), large = shard.next();
      small.put(table::task, "small", "value");
      large.put(table::task, "large", std::string(3'000'000, 'x'));
      disk.crash_after(operations);
      try {
        acknowledged = (*stores)->at(0).commit({small, large}).ok();
      } catch (const disk_crash&) {
      }
    }
    disk.reboot();
    for (int start = 0; start < 2; ++start) {
      auto stores = open();
      ASSERT_TRUE(stores.ok()) << stores.failure().sentence;
      const auto sequence = (*stores)->at(0).read()->get_progress().sequence;
      EXPECT_GE(sequence, acknowledged ? 2u : 0u);
      EXPECT_EQ(value_of((*stores)->at(0), table::task, "small").has_value(), sequence >= 1);
      const auto large = value_of((*stores)->at(0), table::task, "large");
      EXPECT_EQ(large.has_value(), sequence == 2);
      if (large) {
        EXPECT_EQ(*large, std::string(3'000'000, 'x'));
      }
      ASSERT_TRUE((*stores)->at(0).raise_epoch().ok()) << "another opening goes on over what the last one has begun";
    }
  }
}

TEST(journaled_store, that_was_restored_leaves_its_old_journal_at_whatever_moment_the_start_ends) {
  for (std::uint64_t operations = 1; operations <= 20; ++operations) {
    SCOPED_TRACE("crash at operation " + std::to_string(operations));
    memory_store below;
    memory_disk disk(operations);
    auto options = small_journal();
    options.segment_bytes = 64 << 10;
    const auto open = [&] { return journaled_stores::open(std::make_unique<lent_disk>(disk), {{0, "in memory", &below}}, options); };
    {
      auto stores = open();
      ASSERT_TRUE(stores.ok());
      test_shard shard((*stores)->at(0));
      for (int i = 0; i < 6; ++i) {
        auto one = shard.next();
        one.put(table::task, "key", std::string(40'000, 'x'));
        ASSERT_TRUE((*stores)->at(0).commit({one}).ok());
      }
      ASSERT_TRUE((*stores)->at(0).settle().ok());
    }
    ASSERT_TRUE(below.end_restore({}, 1'000, 1).ok());
    disk.crash_after(operations);
    try {
      (void)open();
    } catch (const disk_crash&) {
    }
    disk.reboot();
    auto stores = open();
    ASSERT_TRUE(stores.ok()) << stores.failure().sentence;
    const auto epoch = (*stores)->at(0).raise_epoch();
    ASSERT_TRUE(epoch.ok());
    EXPECT_GT(*epoch, 1'000u);
    EXPECT_EQ(value_of((*stores)->at(0), table::task, "key"), std::string(40'000, 'x'));
  }
}

TEST(journaled_store, notices_a_part_of_a_large_entry_that_is_damaged) {
  memory_store below;
  memory_disk disk(5);
  const auto open = [&] { return journaled_stores::open(std::make_unique<lent_disk>(disk), {{0, "in memory", &below}}, small_journal()); };
  {
    auto stores = open();
    ASSERT_TRUE(stores.ok());
    test_shard shard((*stores)->at(0));
    auto large = shard.next(), small = shard.next();
    large.put(table::task, "large", std::string(900'000, 'x'));
    small.put(table::task, "small", "value");
    ASSERT_TRUE((*stores)->at(0).commit({large}).ok());
    ASSERT_TRUE((*stores)->at(0).commit({small}).ok());
  }
  disk.reboot();
  disk.rot(segment_name(1), 400'000);
  const auto refused = open();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_CORRUPT);
}

TEST(journaled_store, stops_all_commits_once_its_tables_cannot_be_written) {
  journaled_world here(12);
  here.commit();
  here.below.fail = true;
  ASSERT_FALSE(here.it().apply().ok());
  here.below.fail = false;
  batch one;
  one.sequence = here.sequence + 1;
  one.epoch = here.epoch;
  EXPECT_FALSE(here.it().commit({one}).ok());
}

TEST(journaled_store, keeps_its_commits_on_a_disk_over_a_restart) {
  const temporary_directory place;
  on_disk here{place.path(), {}, {}};
  ASSERT_TRUE(here.open().ok());
  here.put("a");
  ASSERT_TRUE(here.open().ok());
  EXPECT_EQ(here.get("a"), "value");
  {
    applier threads(*here.stores, {std::chrono::milliseconds{5}, 1, 1, std::chrono::milliseconds{10}},
                    [](const error& why) { ADD_FAILURE() << why.sentence; });
    for (int i = 0; i < 50; ++i) here.put("b" + std::to_string(i));
    while (here.stores->at(0).unapplied_operations() != 0) std::this_thread::yield();
  }
  ASSERT_TRUE(here.stores->close().ok());
  ASSERT_TRUE(here.open().ok());
  EXPECT_EQ(here.get("b49"), "value");
  EXPECT_EQ(here.stores->at(0).unapplied_operations(), 0u);
}

TEST(journaled_store, refuses_a_journal_that_is_missing_or_of_another_store) {
  const temporary_directory place;
  on_disk here{place.path(), {}, {}};
  ASSERT_TRUE(here.open().ok());
  here.put("a");
  const auto missing = here.open("store", "elsewhere");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.failure().code, v1::ERROR_CODE_WRONG_STATE);
  EXPECT_NE(missing.failure().sentence.find("is missing"), std::string::npos);
  const auto foreign = here.open("another store", "journal");
  ASSERT_FALSE(foreign.ok());
  EXPECT_NE(foreign.failure().sentence.find("never belonged to it"), std::string::npos) << foreign.failure().sentence;
  ASSERT_TRUE(here.open().ok()) << "and nothing was harmed";
  EXPECT_EQ(here.get("a"), "value");
}

TEST(journaled_store, is_refused_by_whoever_knows_no_journal) {
  const temporary_directory place;
  on_disk here{place.path(), {}, {}};
  ASSERT_TRUE(here.open().ok());
  here.put("a");
  here.stores.reset();
  here.tables.reset();
  const auto alone = lmdb_store::open({place / "store", std::uint64_t{1} << 30, false});
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.failure().code, v1::ERROR_CODE_STORE_NEWER);
}

TEST(journaled_store, refuses_a_data_file_that_is_older_or_newer_than_its_journal) {
  const temporary_directory place;
  on_disk here{place.path(), {}, {}};
  ASSERT_TRUE(here.open().ok());
  here.put("a");
  ASSERT_TRUE(here.stores->close().ok());
  here.stores.reset();
  here.tables.reset();
  std::filesystem::copy(place / "journal", place / "older journal");
  ASSERT_TRUE(here.open().ok());
  here.put("b");
  ASSERT_TRUE(here.stores->close().ok());
  const auto refused = here.open("store", "older journal");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.failure().sentence.find("ends before what the store"), std::string::npos) << refused.failure().sentence;
  ASSERT_TRUE(here.open().ok());
}

TEST(journaled_store, refuses_to_leave_out_a_shard_that_has_work_in_the_journal) {
  const temporary_directory place;
  memory_store first, second;
  const auto open = [&](const std::vector<journaled_stores::member>& members) {
    return journaled_stores::open(disk_files::in(place / "journal").value(), members, small_journal());
  };
  const journaled_stores::member zero{0, "zero", &first}, one{1, "one", &second};
  {
    auto both = open({zero, one});
    ASSERT_TRUE(both.ok()) << both.failure().sentence;
    for (const std::size_t at : {0, 1}) ASSERT_TRUE((*both)->at(at).raise_epoch().ok());
  }
  const auto refused = open({zero});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.failure().sentence.find("work of shard 1"), std::string::npos) << refused.failure().sentence;
  {
    auto both = open({zero, one});
    ASSERT_TRUE(both.ok()) << both.failure().sentence;
    ASSERT_TRUE((*both)->close().ok());
  }
  ASSERT_TRUE(open({zero, one}).ok());  // the checkpoint of this opening says that everything is applied
  auto alone = open({zero});
  ASSERT_TRUE(alone.ok()) << alone.failure().sentence;
}

}  // namespace
}  // namespace fairlead::store
