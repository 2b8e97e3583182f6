#include "actors/core/job/transitions.hpp"

#include <gtest/gtest.h>

namespace fairlead::core {
namespace {

template <class Launch>
void leads_from_its_sources_alone() {
  for (const auto* by : launch_moves::all)
    for (int from = v1::LaunchState_MIN; from <= v1::LaunchState_MAX; ++from) {
      Launch launch;
      launch.set_state(static_cast<v1::LaunchState>(from));
      if (by->may_leave(launch.state())) {
        move_launch(launch, *by);
        EXPECT_EQ(launch.state(), by->to) << by->name;
      } else {
        EXPECT_THROW(move_launch(launch, *by), std::logic_error) << by->name << " from " << from;
        EXPECT_EQ(launch.state(), from);
      }
    }
}

TEST(transition_of_a_launch, leads_from_its_sources_alone) {
  leads_from_its_sources_alone<v1::OpenLaunch>();
  leads_from_its_sources_alone<v1::LaunchRecord>();
}

TEST(transition_of_a_launch, that_is_impossible_is_named_with_its_time_and_state) {
  v1::LaunchRecord row;
  row.set_nominal_unix_ms(60'000);
  row.set_state(v1::LAUNCH_STATE_SKIPPED);
  try {
    move_launch(row, launch_moves::start);
    FAIL() << "a launch that was skipped was started";
  } catch (const std::logic_error& bug) {
    EXPECT_STREQ(bug.what(), "the launch for 60000 is LAUNCH_STATE_SKIPPED, and no transition `start` leads from there");
  }
}

}  // namespace
}  // namespace fairlead::core
