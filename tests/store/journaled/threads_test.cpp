// Readers on threads of their own, while one commits and the applier follows: each sees one committed state, and never an older one again.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "store/journaled/applier.hpp"
#include "tests/store/journaled/checks.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

constexpr std::uint64_t rows_kept = 50;

std::string row(std::uint64_t number) {
  auto text = std::to_string(number);
  return "row " + std::string(8 - text.size(), '0') + text;
}

/// The commit `number` writes its row and the newest number to two tables, and erases a row that is older.
void add_commit(batch& to, std::uint64_t number) {
  to.put(table::task, "newest", std::to_string(number));
  to.put(table::history, "newest", std::to_string(number));
  to.put(table::task, row(number), "a row");
  if (number > rows_kept) to.erase(table::task, row(number - rows_kept));
}

/// The number of the commit that the snapshot shows; 0 and a failure if it shows none whole.
std::uint64_t shown_by(const snapshot& shown, std::uint64_t first_sequence) {
  const auto number = shown.get_progress().sequence - first_sequence;
  for (const auto where : {table::task, table::history}) {
    const auto newest = shown.get(where, "newest");
    EXPECT_TRUE(newest.ok() && newest->has_value());
    if (::testing::Test::HasFailure()) return 0;
    EXPECT_EQ(**newest, std::to_string(number));
  }
  std::vector<std::string> forward, backward, wanted;
  for (auto one = number > rows_kept ? number - rows_kept + 1 : 1; one <= number; ++one) wanted.push_back(row(one));
  const auto note_in = [](std::vector<std::string>& to) {
    return [&to](std::string_view key, std::string_view) {
      to.emplace_back(key);
      return true;
    };
  };
  EXPECT_TRUE(shown.scan(table::task, "row ", {}, note_in(forward)).ok());
  EXPECT_TRUE(shown.scan_reverse(table::task, "row ", {}, note_in(backward)).ok());
  EXPECT_EQ(forward, wanted);
  EXPECT_EQ(std::vector<std::string>(backward.rbegin(), backward.rend()), wanted);
  EXPECT_EQ(shown.count(table::task), wanted.size() + 1);
  return number;
}

TEST(journaled_threads, readers_see_one_committed_state_each) {
  constexpr std::uint64_t commits = 1'500;
  const temporary_directory place;
  on_disk here{place.path(), {}, {}};
  ASSERT_TRUE(here.open().ok());
  auto& it = here.stores->at(0);
  test_shard shard(it);
  const auto first = it.read()->get_progress().sequence;
  const auto commit = [&](std::uint64_t number) {
    auto one = shard.next();
    add_commit(one, number);
    shard.expect_committed(std::move(one));
  };
  commit(1);
  std::atomic<std::uint64_t> acknowledged{1};
  {
    applier threads(*here.stores, {std::chrono::milliseconds{3}, 4'096, 64, std::chrono::milliseconds{10}},
                    [](const error& why) { ADD_FAILURE() << why.sentence; });
    std::vector<std::thread> readers;
    for (int reader = 0; reader < 3; ++reader) {
      readers.emplace_back([&, settled = reader == 2] {
        for (std::uint64_t last = 1; last < commits && !::testing::Test::HasFailure();) {
          const auto promised = acknowledged.load();
          const auto shown = settled ? it.read_settled() : it.read();
          if (settled && shown->get_progress().sequence == first) continue;  // nothing is applied yet
          const auto number = shown_by(*shown, first);
          EXPECT_GE(number, settled ? last : std::max(last, promised))
              << "an older state was shown again" << (settled ? ", of the tables alone" : "") << "; seen before " << last
              << ", acknowledged " << promised;
          last = number;
        }
      });
    }
    for (std::uint64_t number = 2; number <= commits && !::testing::Test::HasFailure(); ++number) {
      commit(number);
      acknowledged = number;
    }
    for (auto& one : readers) one.join();
  }
}

}  // namespace
}  // namespace fairlead::store
