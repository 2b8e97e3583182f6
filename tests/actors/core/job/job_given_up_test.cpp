// What becomes of a job that no decision can be made about.

#include <gtest/gtest.h>

#include "tests/actors/core/job/job_world.hpp"

namespace fairlead::core::testing {
namespace {

TEST(JobGivenUp, IsPausedWithAnAlertAndComesUpNoMore) {
  job_world job;
  job.create("10:02");
  job.due("10:05");
  EXPECT_EQ(job.give_up("10:06", {}), "alert: job job is stopped because of an internal error\n");
  EXPECT_TRUE(job.record.paused());
  EXPECT_EQ(job.record.paused_by() + ": " + job.record.paused_reason(), "scheduler: internal error");
  EXPECT_EQ(job.record.due_indexed_unix_ms(), 0);
  EXPECT_EQ(job.record.open_size(), 1) << "its task goes on";
  EXPECT_EQ(job.ended("10:07", "10:05"), "10:05 completed\nalert resolved\n");
}

TEST(JobGivenUp, TellsOfTasksThatHaveEndedWhichItMayNotBeToldAgain) {
  job_world job;
  job.spec.set_overlap(v1::OVERLAP_POLICY_ALLOW);
  job.create("10:02");
  for (const auto* at : {"10:05", "10:10", "10:15"}) job.due(at);
  EXPECT_EQ(
      job.give_up("10:16",
                  {{at("10:05"), v1::TASK_STATE_COMPLETED}, {at("10:15"), v1::TASK_STATE_UNDONE}, {at("09:00"), v1::TASK_STATE_COMPLETED}}),
      "10:15 undone\n10:05 completed\nalert: job job is stopped because of an internal error\n");
  ASSERT_EQ(job.record.open_size(), 1);
  EXPECT_EQ(job.record.open(0).nominal_unix_ms(), at("10:10"));
  EXPECT_EQ(job.record.completed(), 1U);
  EXPECT_EQ(job.record.undone(), 1U);
  EXPECT_EQ(job.rows.all.at(at("10:15")).ended_at_unix_ms(), at("10:16"));
}

TEST(JobGivenUp, LeavesWhatWaitsForRoomOrAgentsWhereNothingBringsItUp) {
  job_world job;
  job.spec.set_overlap(v1::OVERLAP_POLICY_QUEUE);
  job.create("10:02");
  job.gate.wait_for(v1::LAUNCH_WAIT_ROOM);
  job.due("10:05");
  job.due("10:10");
  EXPECT_EQ(job.give_up("10:11", {}), "10:05 waiting pause\nalert: job job is stopped because of an internal error\n")
      << "the one behind it waits for it";
  job.gate.open();
  job.operate("10:12", v1::JOB_VERB_RESUME);
  EXPECT_EQ(job.rows.all.at(at("10:05")).state(), v1::LAUNCH_STATE_STARTED);
}

TEST(JobGivenUp, ANodeThatCannotReadItsStoreStops) {
  job_world job;
  job.create("10:02");
  job.due("10:05");
  job.rows.broken = true;
  EXPECT_EQ(job.give_up("10:06", {{at("10:05"), v1::TASK_STATE_COMPLETED}}), "fatal: the disk refused");
}

}  // namespace
}  // namespace fairlead::core::testing
