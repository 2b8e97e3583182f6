// Faults that are put into journal, applier and snapshots on purpose. Each must make a check fail; a check that nothing can fail proves nothing.

#include <gtest/gtest-spi.h>

#include "store/failpoint.hpp"
#include "tests/store/journal/checks.hpp"
#include "tests/store/journaled/archive_world.hpp"
#include "tests/store/journaled/checks.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

void crash_often() {
  for (std::uint64_t at = 1; at <= 60; ++at) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) crash_and_look(1'000 * at + seed, at);
  }
}

void live_often() {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) live_and_look(seed);
}

void archive_and_look() {
  archive_world world;
  world.begin();
  world.finished(1);
  world.move(1);
  ASSERT_TRUE(world.it().apply_all().ok());
  EXPECT_NE(world.in_store(1), world.archived(1));
  world.expect_sound();
}

struct planted_fault {
  const char* name;
  void (*check)();
};

class planted : public ::testing::TestWithParam<planted_fault> {};

TEST_P(planted, is_noticed) {
  ASSERT_TRUE(set_failpoints(std::string("plant.") + GetParam().name + "=error").ok());
  ::testing::TestPartResultArray noticed;
  {
    const ::testing::ScopedFakeTestPartResultReporter keep(::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &noticed);
    try {
      GetParam().check();
    } catch (const std::exception& why) {
      ADD_FAILURE() << why.what();
    }
  }
  ASSERT_TRUE(set_failpoints("").ok());
  EXPECT_GT(noticed.size(), 0) << GetParam().name;
}

INSTANTIATE_TEST_SUITE_P(faults, planted,
                         ::testing::Values(planted_fault{"ack_before_write", crash_often}, planted_fault{"write_again", fail_a_write},
                                           planted_fault{"durable_stands_still", damage_the_last_segment},
                                           planted_fault{"records_unchecked", damage_the_last_segment},
                                           planted_fault{"recycle_unapplied", crash_often}, planted_fault{"name_not_synced", crash_often},
                                           planted_fault{"tear_is_damage", crash_often}, planted_fault{"applied_ahead", live_often},
                                           planted_fault{"applied_written_apart", live_often},
                                           planted_fault{"drop_before_apply", live_often}, planted_fault{"sealed_grows", live_often},
                                           planted_fault{"tables_before_overlay", live_often},
                                           planted_fault{"applied_not_left_out", live_often}, planted_fault{"erased_shown", live_often},
                                           planted_fault{"apply_error_swallowed", fail_an_apply},
                                           planted_fault{"move_loses_copy", archive_and_look}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace fairlead::store
