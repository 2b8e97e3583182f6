#include "store/memory/memory_store.hpp"

#include "store/check/check.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

batch with_row(std::uint64_t sequence, std::uint64_t epoch, std::string_view key, std::string_view value) {
  batch out;
  out.sequence = sequence;
  out.epoch = epoch;
  out.put(table::task, key, value);
  return out;
}

TEST(memory_store, forgets_at_a_crash_what_was_not_synced) {
  memory_store it(memory_store::durability::when_told);
  const auto epoch = *it.raise_epoch();
  ASSERT_TRUE(it.commit({with_row(1, epoch, "a", "kept")}).ok());
  it.sync();
  auto two = with_row(2, epoch, "b", "lost");
  two.put(table::task, "a", "lost");
  ASSERT_TRUE(it.commit({two}).ok());
  auto three = with_row(3, epoch, "c", "lost");
  three.erase(table::task, "a");
  ASSERT_TRUE(it.commit({three}).ok());
  EXPECT_EQ(it.read()->get_progress().sequence, 3u);
  it.crash();
  EXPECT_EQ(value_of(it, table::task, "a"), "kept");
  EXPECT_EQ(value_of(it, table::task, "b"), std::nullopt);
  EXPECT_EQ(value_of(it, table::task, "c"), std::nullopt);
  EXPECT_EQ(it.read()->get_progress().sequence, 1u);
  EXPECT_TRUE(it.commit({with_row(2, epoch, "b", "again")}).ok());
}

TEST(memory_store, is_durable_in_commit_unless_told_otherwise) {
  memory_store it;
  const auto epoch = *it.raise_epoch();
  ASSERT_TRUE(it.commit({with_row(1, epoch, "a", "kept")}).ok());
  it.crash();
  EXPECT_EQ(value_of(it, table::task, "a"), "kept");
}

TEST(memory_store, a_raised_epoch_outlives_a_crash) {
  memory_store it(memory_store::durability::when_told);
  const auto epoch = *it.raise_epoch();
  ASSERT_TRUE(it.commit({with_row(1, epoch, "a", "synced with the epoch")}).ok());
  const auto next = *it.raise_epoch();
  it.crash();
  EXPECT_EQ(it.read()->get_progress().epoch, next);
  EXPECT_EQ(it.read()->get_progress().sequence, 1u);
  EXPECT_FALSE(it.commit({with_row(2, epoch, "b", "stale")}).ok());
}

TEST(memory_store, is_again_what_it_was_when_an_earlier_moment_is_put_back) {
  memory_store it(memory_store::durability::when_told);
  const auto epoch = *it.raise_epoch();
  ASSERT_TRUE(it.commit({with_row(1, epoch, "a", "then")}).ok());
  it.sync();
  const auto then = it.keep();
  auto two = with_row(2, epoch, "b", "later");
  two.put(table::task, "a", "later");
  ASSERT_TRUE(it.commit({two}).ok());
  it.sync();
  it.raise_epoch();
  it.put_back(*then);
  EXPECT_EQ(value_of(it, table::task, "a"), "then");
  EXPECT_EQ(value_of(it, table::task, "b"), std::nullopt);
  EXPECT_EQ(it.read()->get_progress().sequence, 1u);
  EXPECT_EQ(it.read()->get_progress().epoch, epoch);
  EXPECT_TRUE(it.commit({with_row(2, epoch, "b", "again")}).ok());
  it.put_back(*then);
  EXPECT_EQ(value_of(it, table::task, "b"), std::nullopt);
}

TEST(memory_store, takes_more_once_it_has_been_given_room) {
  memory_store it(memory_store::durability::at_once, 400);
  const auto epoch = *it.raise_epoch();
  const auto large = with_row(1, epoch, "a", std::string(500, 'x'));
  const auto full = it.commit({large});
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.failure().code, v1::ERROR_CODE_STORE_FULL);
  it.resize(4'000);
  EXPECT_TRUE(it.commit({large}).ok());
}

TEST(memory_store, a_snapshot_survives_a_crash) {
  memory_store it(memory_store::durability::when_told);
  ASSERT_TRUE(it.commit({with_row(1, *it.raise_epoch(), "a", "seen")}).ok());
  const auto before = it.read();
  it.crash();
  EXPECT_EQ(**before->get(table::task, "a"), "seen");
  EXPECT_FALSE(it.read()->get(table::task, "a")->has_value());
}

TEST(memory_store, refuses_what_does_not_fit_and_writes_nothing) {
  memory_store it(memory_store::durability::at_once, 4'096);
  const auto epoch = *it.raise_epoch();
  const auto refused = it.commit({with_row(1, epoch, "a", std::string(5'000, 'x'))});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_STORE_FULL);
  EXPECT_TRUE(it.commit({with_row(1, epoch, "a", "small")}).ok());
}

TEST(memory_store, names_a_damaged_value) {
  memory_store it;
  ASSERT_TRUE(it.commit({with_row(1, *it.raise_epoch(), keys::task(1, 42), "x")}).ok());
  ASSERT_TRUE(it.damage(table::task, keys::task(1, 42)));
  EXPECT_FALSE(it.damage(table::task, keys::task(1, 43)));
  const auto now = it.read();
  const auto damaged = now->get(table::task, keys::task(1, 42));
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.failure().code, v1::ERROR_CODE_CORRUPT);
  EXPECT_NE(damaged.failure().sentence.find("task 42"), std::string::npos);
  EXPECT_FALSE(now->scan(table::task, {}, {}, [](auto, auto) { return true; }).ok());
  EXPECT_FALSE(now->scan_reverse(table::task, {}, {}, [](auto, auto) { return true; }).ok());
}

}  // namespace
}  // namespace fairlead::store
