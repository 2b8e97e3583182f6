// The archive in memory beside the one on disk: the same moves, the same answers.

#include "store/memory/memory_archive.hpp"

#include <functional>

#include "store/memory/memory_store.hpp"
#include "tests/store/archive_fixture.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

struct both_archives : ::testing::Test {
  temporary_directory here;
  memory_store it;
  test_shard shard{it};
  archive on_disk{here / "archive"};
  memory_archive in_memory;
  static constexpr std::int64_t day = 20'000;

  void SetUp() override {
    shard.deploy_order();
    for (std::uint64_t number = 1; number <= 4; ++number) {
      shard.create(running_order(number, "o-" + std::to_string(number)));
      shard.change(number, [](v1::TaskRecord& task) { complete(task, 3'000); });
    }
  }

  /// What both take out of the store.
  batch move(std::uint64_t number, std::int64_t to, std::uint32_t keep_days = 0) {
    batch first, second;
    EXPECT_TRUE(move_to(on_disk, {number}, *it.read(), to, first, keep_days).ok());
    EXPECT_TRUE(move_to(in_memory, {number}, *it.read(), to, second, keep_days).ok());
    EXPECT_EQ(first.bytes(), second.bytes());
    return first;
  }

  void expect_same() {
    EXPECT_EQ(*on_disk.classes(), *in_memory.classes());
    for (const std::uint32_t keep_days : {0U, 7U, 90U}) EXPECT_EQ(*on_disk.days(keep_days), *in_memory.days(keep_days));
    for (std::uint64_t number = 1; number <= 4; ++number) {
      for (const std::uint32_t keep_days : {0U, 90U}) {
        const auto first = on_disk.load(day, task_number(number), keep_days);
        const auto second = in_memory.load(day, task_number(number), keep_days);
        ASSERT_TRUE(first.ok() && second.ok());
        ASSERT_EQ(first->has_value(), second->has_value()) << number;
        if (*first) {
          EXPECT_EQ((*first)->SerializeAsString(), (*second)->SerializeAsString());
        }
      }
    }
  }
};

TEST_F(both_archives, keep_the_same_tasks_on_the_same_days) {
  move(1, day);
  move(2, day, 90);
  move(3, day + 1);
  move(1, day);  // once more: a crash had cut off what takes it out of the store
  expect_same();
}

TEST_F(both_archives, drop_the_same_days_of_the_same_retention) {
  move(1, day);
  move(2, day + 1);
  move(3, day, 90);
  std::vector<std::string> gone;
  in_memory.on_drop = [&](const archive_day& which) { gone.push_back(which.name()); };
  for (auto* one : {static_cast<archive*>(&on_disk), static_cast<archive*>(&in_memory)}) EXPECT_TRUE(one->drop_before(day + 1).ok());
  EXPECT_EQ(gone, std::vector<std::string>{format_day(day)});
  EXPECT_TRUE(on_disk.drop_before(day, 90).ok() && in_memory.drop_before(day, 90).ok());
  EXPECT_EQ(gone.size(), 1U);
  expect_same();
}

}  // namespace
}  // namespace fairlead::store
