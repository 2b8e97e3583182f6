#pragma once
// A store on LMDB, and what a test does to its files behind its back.

#include <gtest/gtest.h>
#include <lmdb.h>

#include "store/failpoint.hpp"
#include "store/lmdb/store.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::store::testing {

struct lmdb : ::testing::Test {
  temporary_directory here;
  std::string path = here / "store";

  std::unique_ptr<lmdb_store> open(std::uint64_t max_size = std::uint64_t{1} << 30) {
    auto opened = lmdb_store::open({path, max_size, false});
    EXPECT_TRUE(opened.ok()) << opened.failure().sentence;
    return opened.ok() ? std::move(*opened) : nullptr;
  }

  static error refusal(const env_options& options) {
    auto opened = lmdb_store::open(options);
    if (opened.ok()) return {v1::ERROR_CODE_OK, "it was opened", ""};
    EXPECT_FALSE(opened.failure().remedy.empty()) << opened.failure().sentence;
    return opened.failure();
  }
  error refusal() { return refusal({path, std::uint64_t{1} << 30, false}); }

  static bool says(const error& what, const std::string& words) { return what.sentence.find(words) != std::string::npos; }

  /// Writes a stored value as it stands, checksum or not, behind the store's back.
  void plant(table where, std::string_view key, std::string_view stored) {
    auto raw = env::open({path, std::uint64_t{1} << 30, false});
    ASSERT_TRUE(raw.ok());
    auto txn = (*raw)->write();
    ASSERT_TRUE(txn->put(where, key, stored).ok());
    ASSERT_TRUE(txn->commit().ok());
  }

  void drop_tables(int from, int to) {
    MDB_env* raw = nullptr;
    MDB_txn* txn = nullptr;
    ASSERT_EQ(mdb_env_create(&raw), 0);
    ASSERT_EQ(mdb_env_set_maxdbs(raw, 32), 0);
    ASSERT_EQ(mdb_env_open(raw, path.c_str(), 0, 0640), 0);
    ASSERT_EQ(mdb_txn_begin(raw, nullptr, 0, &txn), 0);
    for (int i = from; i < to; ++i) {
      MDB_dbi one = 0;
      ASSERT_EQ(mdb_dbi_open(txn, table_name(static_cast<table>(i)), 0, &one), 0);
      ASSERT_EQ(mdb_drop(txn, one, 1), 0);
    }
    ASSERT_EQ(mdb_txn_commit(txn), 0);
    mdb_env_close(raw);
  }

  /// What is left is as the first release made it.
  void drop_later_tables() { drop_tables(first_release_table_count, table_count); }

  void TearDown() override { ASSERT_TRUE(set_failpoints("").ok()); }
};

inline batch with_row(std::uint64_t sequence, std::uint64_t epoch, std::string_view key, std::string_view value) {
  batch out;
  out.sequence = sequence;
  out.epoch = epoch;
  out.put(table::task, key, value);
  return out;
}

}  // namespace fairlead::store::testing
