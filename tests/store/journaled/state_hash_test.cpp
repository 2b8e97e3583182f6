#include "store/journaled/state_hash.hpp"

#include <gtest/gtest.h>

#include "store/checksum.hpp"
#include "store/journaled/run.hpp"
#include "store/keys.hpp"
#include "store/memory/memory_store.hpp"
#include "store/meta_rows.hpp"

namespace fairlead::store {
namespace {

using rows = std::vector<std::tuple<table, std::string, std::string>>;

void put(memory_store& to, const rows& all) {
  batch what;
  for (const auto& [where, key, payload] : all) what.put(where, key, payload);
  ASSERT_TRUE(to.apply(run::of(what)->operations()).ok());
}

state_hash hash_in_steps(const memory_store& of, std::size_t bytes) {
  state_reader reader(of.read_tables());
  for (int steps = 0; steps < 100'000; ++steps) {
    const auto done = reader.step(bytes);
    if (!done.ok()) ADD_FAILURE() << done.failure().sentence;
    if (!done.ok() || *done) return reader.hash();
  }
  ADD_FAILURE() << "it does not end";
  return {};
}

state_hash hash_of(const rows& all, std::size_t bytes = 1 << 20) {
  memory_store store;
  put(store, all);
  return hash_in_steps(store, bytes);
}

TEST(state_hash, is_the_same_whatever_the_steps_are) {
  rows all;
  for (int i = 0; i < 300; ++i)
    for (const auto where : {table::task, table::payload, table::launch})
      all.emplace_back(where, "key " + std::to_string(i), std::string(static_cast<std::size_t>(i % 37), 'x'));
  const auto whole = hash_of(all);
  for (const std::size_t bytes : {1, 7, 100, 1'000, 10'000}) EXPECT_EQ(hash_of(all, bytes), whole) << bytes;
}

TEST(state_hash, differs_by_any_row_and_by_the_place_of_each_byte) {
  const rows some{{table::task, "a", "12"}, {table::task, "b", "3"}, {table::payload, "c", ""}};
  const auto whole = hash_of(some);
  const std::vector<rows> others{
      {{table::task, "a", "12"}, {table::task, "b", "3"}},
      {{table::task, "a", "1"}, {table::task, "b", "23"}, {table::payload, "c", ""}},
      {{table::task, "a", "12"}, {table::task, "b", "3"}, {table::history, "c", ""}},
      {{table::task, "a1", "2"}, {table::task, "b", "3"}, {table::payload, "c", ""}},
      {{table::task, "a", "12"}, {table::task, "b", "3"}, {table::payload, "cc", ""}},
      {{table::task, "a", "12"}, {table::task, "b", "3"}, {table::payload, "c", ""}, {table::launch_ready, "d", ""}},
  };
  for (const auto& other : others) EXPECT_NE(hash_of(other), whole);
}

TEST(state_hash, leaves_out_what_each_copy_has_for_itself) {
  const rows some{{table::task, "a", "12"}, {table::meta, std::string{keys::meta(meta::progress_row)}, "p"}};
  auto with = some;
  for (const auto row : {meta::schema_row, meta::boot_row, meta::restoring_row, meta::counted_row, meta::journal_row, meta::applied_row,
                         meta::settled_row, meta::shard_time_row, meta::replica_row, meta::installed_row, meta::clock_ahead_row})
    with.emplace_back(table::meta, std::string{keys::meta(row)}, "own");
  EXPECT_EQ(hash_of(with), hash_of(some));
  auto other = some;
  other.emplace_back(table::meta, std::string{keys::meta(meta::nodes_row)}, "n1");
  EXPECT_NE(hash_of(other), hash_of(some));
}

TEST(state_hash, whoever_reads_finds_a_value_that_is_not_what_was_written) {
  memory_store store;
  put(store, {{table::task, "a", "12"}, {table::task, "b", "3"}});
  store.damage(table::task, "b");
  state_reader reader(store.read_tables());
  const auto done = reader.step(1 << 20);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.failure().code, v1::ERROR_CODE_CORRUPT);
}

}  // namespace
}  // namespace fairlead::store
