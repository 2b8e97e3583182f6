#pragma once
// For tests of what both stores do alike: a typed suite runs them on each.

#include <memory>

#include "store/lmdb/store.hpp"
#include "store/memory/memory_store.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::store::testing {

struct with_lmdb {
  temporary_directory directory;
  std::unique_ptr<restorable> make() {
    auto opened = lmdb_store::open({directory / "store", std::uint64_t{1} << 30, false});
    return std::move(opened.value());
  }
};

struct in_memory {
  std::unique_ptr<restorable> make() { return std::make_unique<memory_store>(); }
};

template <class Kind>
struct any_store : ::testing::Test {
  Kind kind;
  std::unique_ptr<restorable> it = kind.make();
};

using store_kinds = ::testing::Types<with_lmdb, in_memory>;

}  // namespace fairlead::store::testing
