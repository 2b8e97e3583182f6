#include "actors/scheduler/books/resume_sweep.hpp"

#include <gtest/gtest.h>

#include "store/keys.hpp"
#include "store/memory/memory_store.hpp"

namespace fairlead {
namespace {

constexpr std::int64_t now_ms = 1'700'000'000'000;
constexpr duration timeout{60'000};

class resume_sweep_test : public ::testing::Test {
 protected:
  resume_sweep_test() {
    counts.set_next_task_number(10'000);
    counts.set_latest_write_unix_ms(now_ms - 5'000);
    write.epoch = *store.raise_epoch();
    write.sequence = 1;
  }
  void due(std::uint64_t number, std::int64_t at_ms) {
    write.put(store::table::due, store::keys::due(store::default_namespace, at_ms, number), {});
  }
  std::unique_ptr<store::snapshot> stored() {
    EXPECT_TRUE(store.commit({write}).ok());
    return store.read();
  }
  void begin() { sweep.begin(counts, from_unix_ms(now_ms), timeout); }

  store::memory_store store;
  store::batch write;
  v1::ShardState counts;
  resume_sweep sweep;
};

TEST_F(resume_sweep_test, takes_up_what_may_need_something_within_the_longest_timeout) {
  due(1, now_ms - 1'000);
  due(2, now_ms + 59'000);
  due(3, now_ms + 62'000);
  const auto view = stored();
  begin();
  EXPECT_TRUE(*sweep.finds_any(*view));
  const auto chunk = sweep.next(*view);
  ASSERT_TRUE(chunk.ok());
  EXPECT_EQ(chunk->numbers, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_TRUE(chunk->last);
}

TEST_F(resume_sweep_test, reckons_from_the_latest_write_where_the_clock_was_set_back_since) {
  counts.set_latest_write_unix_ms(now_ms + 3'600'000);
  due(1, now_ms + 3'650'000);
  const auto view = stored();
  begin();
  EXPECT_TRUE(*sweep.finds_any(*view));
}

TEST_F(resume_sweep_test, allows_for_a_clock_that_went_back_a_little_between_a_decision_and_its_batch) {
  due(1, now_ms + 60'002);
  const auto view = stored();
  begin();
  EXPECT_TRUE(*sweep.finds_any(*view));
}

TEST_F(resume_sweep_test, takes_up_everything_where_nobody_kept_when_was_written_last) {
  counts.clear_latest_write_unix_ms();
  due(1, now_ms + 99'000'000'000);
  const auto view = stored();
  begin();
  EXPECT_TRUE(*sweep.finds_any(*view));
}

TEST_F(resume_sweep_test, has_an_end_also_where_nothing_is_due) {
  const auto view = stored();
  begin();
  EXPECT_FALSE(*sweep.finds_any(*view));
  EXPECT_TRUE(sweep.under_way());
  const auto chunk = sweep.next(*view);
  EXPECT_TRUE(chunk->last);
  EXPECT_TRUE(chunk->numbers.empty());
  EXPECT_EQ(sweep.end(), 0u);
  EXPECT_FALSE(sweep.under_way());
}

TEST_F(resume_sweep_test, goes_on_chunk_by_chunk_and_loses_nobody_at_the_seams) {
  for (std::uint64_t number = 1; number <= 1'200; ++number) due(number, now_ms);
  const auto view = stored();
  begin();
  std::vector<std::uint64_t> seen;
  for (int rounds = 0; rounds < 10; ++rounds) {
    const auto chunk = sweep.next(*view);
    ASSERT_TRUE(chunk.ok());
    seen.insert(seen.end(), chunk->numbers.begin(), chunk->numbers.end());
    if (chunk->last) break;
  }
  ASSERT_EQ(seen.size(), 1'200u);
  for (std::uint64_t number = 1; number <= 1'200; ++number) EXPECT_EQ(seen[number - 1], number);
}

TEST_F(resume_sweep_test, each_task_that_was_there_before_is_taken_up_once_and_newer_ones_never) {
  begin();
  EXPECT_TRUE(sweep.takes_up(5));
  EXPECT_FALSE(sweep.takes_up(5));
  EXPECT_FALSE(sweep.takes_up(10'000)) << "it was submitted since";
  EXPECT_EQ(sweep.taken_up(), 1u);
  EXPECT_EQ(sweep.end(), 1u);
  EXPECT_FALSE(sweep.takes_up(6)) << "the sweep is over";
  EXPECT_EQ(sweep.taken_up(), 1u);
}

}  // namespace
}  // namespace fairlead
