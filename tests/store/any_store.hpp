#pragma once
// For tests of what all stores do alike: a typed suite runs them on each.

#include <memory>
#include <random>

#include "store/journal/disk_files.hpp"
#include "store/journaled/stores.hpp"
#include "store/lmdb/store.hpp"
#include "store/memory/memory_disk.hpp"
#include "store/memory/memory_store.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::store::testing {

inline journal_options small_journal() {
  journal_options out;
  out.segment_bytes = std::uint64_t{1} << 20;
  out.max_bytes = out.segment_bytes * 64;
  out.release = "test";
  out.now_unix_ms = out.boot_ms = [now = std::int64_t{0}]() mutable { return ++now; };
  out.random = [random = std::mt19937_64{2'026}]() mutable { return random(); };
  return out;
}

struct with_lmdb {
  temporary_directory directory;
  std::unique_ptr<lmdb_store> own = std::move(lmdb_store::open({directory / "store", std::uint64_t{1} << 30, false}).value());
  restorable& it = *own;
};

struct in_memory {
  memory_store own;
  restorable& it = own;
};

/// Everything stays in the journal.
struct journal_before_lmdb {
  temporary_directory directory;
  std::unique_ptr<lmdb_store> tables = std::move(lmdb_store::open({directory / "store", std::uint64_t{1} << 30, false}, true).value());
  std::unique_ptr<journaled_stores> own = std::move(journaled_stores::open(std::move(disk_files::in(directory / "journal").value()),
                                                                           {{0, directory / "store", tables.get()}}, small_journal())
                                                        .value());
  restorable& it = own->at(0);
};

/// Each commit is applied at once.
struct journal_applied_to_memory {
  memory_store tables;
  std::unique_ptr<journaled_stores> own =
      std::move(journaled_stores::open(std::make_unique<memory_disk>(), {{0, "in memory", &tables}}, small_journal()).value());
  restorable& it = own->at(0);
  journal_applied_to_memory() {
    own->at(0).on_pending([this] { EXPECT_TRUE(own->at(0).apply().ok()); });
  }
};

template <class Kind>
struct any_store : ::testing::Test {
  Kind kind;
  restorable* it = &kind.it;
};

using store_kinds = ::testing::Types<with_lmdb, in_memory, journal_before_lmdb, journal_applied_to_memory>;

}  // namespace fairlead::store::testing
