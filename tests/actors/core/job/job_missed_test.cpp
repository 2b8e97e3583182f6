// Times that were missed for good, and who is told of them.

#include "tests/actors/core/job/job_world.hpp"

namespace fairlead::core::testing {
namespace {

job_world away_until(const std::string& time, v1::CatchUpPolicy policy = v1::CATCH_UP_POLICY_UNSPECIFIED) {
  job_world job;
  job.spec.set_catch_up(policy);
  job.spec.set_catch_up_window_ms(600'000);
  job.create("10:02");
  job.due(time);
  return job;
}

TEST(JobMissed, CountsTimesBeforeTheCatchUpWindow) {
  auto job = away_until("10:33");
  ASSERT_TRUE(job.record.has_missed());
  EXPECT_EQ(job.record.missed().count(), 4U) << "10:05 to 10:20; 10:25 is superseded, 10:30 is caught up";
  EXPECT_EQ(job.record.missed().first_unix_ms(), at("10:05"));
  EXPECT_EQ(job.record.missed().last_unix_ms(), at("10:20"));
  const auto alert = missed_alert(job.record);
  EXPECT_EQ(alert.sentence(),
            "job job missed 4 times from 2026-03-02T10:05:00Z to 2026-03-02T10:20:00Z: nothing was there to launch it within the catch-up "
            "window of 10m");
  EXPECT_EQ(alert.remedy().rfind("fairlead job backfill job --from 2026-03-02T10:05:00Z --to 2026-03-02T10:20:00Z", 0), 0U);
}

TEST(JobMissed, AJobThatCatchesNothingUpMissesNothing) { EXPECT_FALSE(away_until("10:33", v1::CATCH_UP_POLICY_NONE).record.has_missed()); }

TEST(JobMissed, IsOverWhenAllIsBackfilled) {
  auto job = away_until("10:33");
  v1::JobAction fill;
  fill.set_verb(v1::JOB_VERB_BACKFILL);
  fill.set_who("ana");
  fill.set_from_unix_ms(at("10:05"));
  fill.set_to_unix_ms(at("10:10"));
  job.operate("10:34", fill);
  EXPECT_EQ(job.record.missed().count(), 2U);
  EXPECT_EQ(job.record.missed().first_unix_ms(), at("10:15"));
  fill.set_to_unix_ms(at("10:20"));
  job.operate("10:34", fill);
  EXPECT_FALSE(job.record.has_missed());
}

TEST(JobMissed, IsOverWhenItsAlertIsAcknowledged) {
  auto job = away_until("10:33");
  job.record.set_missed_alert(7);
  job.decided(missed_seen{6});
  EXPECT_TRUE(job.record.has_missed()) << "that of another job";
  job.decided(missed_seen{7});
  EXPECT_FALSE(job.record.has_missed());
}

TEST(JobMissed, IsOverAfterThreeLaunchesThatComplete) {
  auto job = away_until("10:33");
  for (const auto* time : {"10:30", "10:35", "10:40"}) {
    EXPECT_TRUE(job.record.has_missed()) << time;
    job.due(time);
    job.ended(time, time);
  }
  EXPECT_FALSE(job.record.has_missed());
}

}  // namespace
}  // namespace fairlead::core::testing
