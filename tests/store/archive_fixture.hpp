#pragma once
// Moves to an archive in one batch, as it is after whoever applies it has done its part.

#include <vector>

#include "store/lmdb/archive.hpp"
#include "store/memory/memory_store.hpp"
#include "store/rows/archive_rows.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::store::testing {

/// The state of a store with some batches more.
inline std::unique_ptr<snapshot> with(const snapshot& now, const batch& more) {
  memory_store out;
  batch all;
  for (int where = 0; where < table_count; ++where) {
    const auto copied = now.scan(static_cast<table>(where), {}, {}, [&](std::string_view key, std::string_view payload) {
      all.put(static_cast<table>(where), key, payload);
      return true;
    });
    EXPECT_TRUE(copied.ok());
  }
  all.append(more);
  all.sequence = 1;
  EXPECT_TRUE(out.commit({all}).ok());
  return out.read();
}

/// Copies the tasks to the archive, and adds to `out` what takes them out of the store: erasures and tombstones.
inline status move_to(archive& to, const std::vector<std::uint64_t>& numbers, const snapshot& from, std::int64_t day, batch& out,
                      std::uint32_t keep_days = 0) {
  batch told;
  for (const auto number : numbers) {
    const auto record = load_task(from, number);
    if (!record) return record.failure();
    if (*record) put_move(told, **record, {day, keep_days});
  }
  batch erasures;
  if (auto done = to.carry_out(*with(from, told), erasures); !done) return done;
  out.append(told);
  out.append(erasures);
  return nothing{};
}

}  // namespace fairlead::store::testing
