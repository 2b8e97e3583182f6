// Nominal times: each has one launch or one skip.

#include "tests/actors/core/job/job_world.hpp"

namespace fairlead::core::testing {
namespace {

TEST(JobTimes, AJobIsLaunchedAtItsTimesFromItsCreationOn) {
  job_world job;
  job.create("10:02");
  EXPECT_EQ(job.next_look(), "10:05");
  EXPECT_EQ(job.due("10:04:59"), "");
  EXPECT_EQ(job.due("10:05"), "10:05 started\n");
  EXPECT_EQ(job.mark(), "10:05");
  EXPECT_EQ(job.next_look(), "10:10");
  EXPECT_EQ(job.ended("10:06", "10:05"), "10:05 completed\n");
  EXPECT_EQ(job.due("10:10:00.200"), "10:10 started\n");
}

TEST(JobTimes, ATimeIsDecidedOnce) {
  job_world job;
  job.create("10:02");
  job.due("10:05");
  EXPECT_EQ(job.due("10:05"), "");
  EXPECT_EQ(job.due("10:05:01"), "");
  EXPECT_EQ(job.inputs.size(), 1U);
}

TEST(JobTimes, ACreationAtATimeOfTheScheduleDoesNotLaunchIt) {
  job_world job;
  job.create("10:05");
  EXPECT_EQ(job.due("10:05:01"), "");
  EXPECT_EQ(job.next_look(), "10:10");
}

TEST(JobTimes, AfterAnOutageTheLatestMissedTimeIsLaunchedAndTheOthersAreSkips) {
  job_world job;
  job.create("10:02");
  EXPECT_EQ(job.due("10:17"), "10:05 skipped superseded\n10:10 skipped superseded\n10:15 started\n");
  EXPECT_EQ(job.mark(), "10:15");
}

TEST(JobTimes, ATimeThatIsOnTimeIsNotCaughtUpWith) {
  job_world job;
  job.spec.set_schedule("*/2 * * * * *");
  job.spec.set_overlap(v1::OVERLAP_POLICY_ALLOW);
  job.create("10:00:00.500");
  EXPECT_EQ(job.due("10:00:07"), "10:00:02 started\n10:00:04 started\n10:00:06 started\n");
}

TEST(JobTimes, WithCatchUpAllEveryMissedTimeInsideTheWindowIsLaunched) {
  job_world job;
  job.spec.set_overlap(v1::OVERLAP_POLICY_ALLOW);
  job.spec.set_catch_up(v1::CATCH_UP_POLICY_ALL);
  job.spec.set_catch_up_window_ms(12 * 60'000);
  job.create("09:58");
  EXPECT_EQ(job.due("10:21"), "10:00 skipped outside_window\n10:05 skipped outside_window\n10:10 started\n10:15 started\n10:20 started\n");
}

TEST(JobTimes, TheEndOfTheWindowIsInsideIt) {
  for (const auto ms : {0, 1}) {
    job_world job;
    job.spec.set_schedule("0 10 * * *");
    job.create("09:00");
    job.now_ms = at("11:00") + ms;
    EXPECT_EQ(job.decided(job_due{}), ms == 0 ? "10:00 started\n" : "10:00 skipped outside_window\n");
  }
}

TEST(JobTimes, WithCatchUpNoneWhatIsMissedIsSkipped) {
  job_world job;
  job.spec.set_catch_up(v1::CATCH_UP_POLICY_NONE);
  job.create("10:02");
  EXPECT_EQ(job.due("10:10:09.999"), "10:05 skipped outside_window\n10:10 started\n");
  job.ended("10:11", "10:10");
  EXPECT_EQ(job.due("10:15:10"), "10:15 skipped outside_window\n");
}

TEST(JobTimes, ALongRowOfSkipsIsOneRecordAndBoundedInWork) {
  job_world job;
  job.spec.set_schedule("* * * * * *");
  job.create("00:00");
  EXPECT_EQ(job.due("02:00:00.500"), "00:00:01 to 00:16:40 (1000) skipped outside_window\nmore\n");
  EXPECT_EQ(job.due("02:00:00.500"), "00:16:41 to 00:33:20 (1000) skipped outside_window\nmore\n");
  EXPECT_EQ(job.record.skipped(), 2000U);
  EXPECT_EQ(job.next_look(), "00:33:21");
  while (job.due("02:00:00.500").find("more") != std::string::npos) {
  }
  EXPECT_EQ(job.mark(), "02:00");
  std::uint64_t decided = 0;
  for (const auto& [nominal, row] : job.rows.all) decided += row.count() == 0 ? 1 : row.count();
  EXPECT_EQ(decided, 7200U);
}

TEST(JobTimes, APausedJobSkipsItsTimesAndSaysSo) {
  job_world job;
  job.create("10:02");
  EXPECT_EQ(job.operate("10:03", v1::JOB_VERB_PAUSE), "answer: paused: its times are skipped until it is resumed\n");
  EXPECT_EQ(job.due("10:05"), "10:05 skipped paused\n");
  EXPECT_EQ(job.operate("10:11", v1::JOB_VERB_RESUME), "10:10 skipped paused\nanswer: resumed: its next time is 2026-03-02T10:15:00Z\n");
  EXPECT_EQ(job.due("10:15"), "10:15 started\n");
}

TEST(JobTimes, WhatCameBeforeThePauseIsHeldAndNotSkipped) {
  job_world job;
  job.create("10:02");
  EXPECT_EQ(job.operate("10:05:02", v1::JOB_VERB_PAUSE),
            "10:05 waiting pause\nanswer: paused: its times are skipped until it is resumed, and 1 waiting launch is held\n");
  EXPECT_EQ(job.operate("10:07", v1::JOB_VERB_RESUME),
            "10:05 started\nanswer: resumed: 1 held launch goes on, and its next time is 2026-03-02T10:10:00Z\n");
}

TEST(JobTimes, AJobCanBePausedFromTheStart) {
  job_world job;
  job.spec.set_paused(true);
  job.create("10:02");
  EXPECT_EQ(job.due("10:05"), "10:05 skipped paused\n");
  // To deploy it again without a word about it leaves it as it is; with one it is as said.
  job.spec.clear_paused();
  EXPECT_EQ(job.change("10:06"), "");
  EXPECT_TRUE(job.record.paused());
  job.spec.set_paused(false);
  EXPECT_EQ(job.change("10:07"), "");
  EXPECT_EQ(job.due("10:10"), "10:10 started\n");
}

TEST(JobTimes, ANewScheduleCountsFromNowAndTheOldOneUntilNow) {
  job_world job;
  job.create("10:02");
  job.spec.set_schedule("3 * * * *");
  EXPECT_EQ(job.change("10:05:01"), "10:05 started\n");
  EXPECT_EQ(job.record.revision(), 2U);
  EXPECT_EQ(job.next_look(), "11:03");
  job.ended("10:06", "10:05");
  job.spec.set_schedule("*/5 * * * *");
  job.change("10:32");
  // Nothing of before is caught up with.
  EXPECT_EQ(job.due("10:35"), "10:35 started\n");
}

TEST(JobTimes, TheSameSpecificationAgainChangesNothing) {
  job_world job;
  job.create("10:02");
  EXPECT_EQ(job.change("10:04"), "");
  EXPECT_EQ(job.record.revision(), 1U);
  job.spec.set_notes("call Anna");
  job.change("10:04:30");
  EXPECT_EQ(job.record.revision(), 2U);
  EXPECT_EQ(job.due("10:05"), "10:05 started\n");
}

TEST(JobTimes, TimesAreOfTheZoneAndLaunchesAreNamedInUtc) {
  job_world job;
  job.spec.set_schedule("30 11 * * *");
  job.spec.set_zone("Europe/Berlin");
  job.spec.set_input(R"({"day":"${ .launch.nominal_local }","id":"${ .launch.id }"})");
  job.create("10:02");
  EXPECT_EQ(job.due("10:30"), "10:30 started\n");
  EXPECT_EQ(job.inputs.at(0), R"({"day":"2026-03-02T11:30:00+01:00","id":"job@2026-03-02T10:30:00Z"})");
}

TEST(JobTimes, AZoneThatIsGoneStopsTheJobWithAnAlertAndLosesNoTime) {
  job_world job;
  job.create("10:02");
  job.record.mutable_spec()->set_zone("Mars/Olympus");
  EXPECT_EQ(job.due("10:05"), "alert: job job cannot be launched: the time zone database has no zone Mars/Olympus\n");
  EXPECT_EQ(job.mark(), "10:02");
  EXPECT_NE(job.record.due_indexed_unix_ms(), 0);
  job.record.mutable_spec()->set_zone("Europe/Berlin");
  EXPECT_EQ(job.due("10:11"), "10:05 skipped superseded\n10:10 started\n");
}

TEST(JobTimes, ADistantTimeIsLookedAtEveryDayForTheSakeOfAnotherZoneDatabase) {
  job_world job;
  job.spec.set_schedule("0 0 1 1 *");
  job.create("10:00");
  EXPECT_LE(job.record.due_indexed_unix_ms(), at("+1 10:00"));
  EXPECT_GE(job.record.due_indexed_unix_ms(), at("+1 04:00"));
  EXPECT_EQ(job.record.next_unix_ms(), 1'798'761'600'000);
}

TEST(JobTimes, TheEntryForALookOfAnotherDayStaysWhenALaunchOfTodayEnds) {
  job_world job;
  job.spec.set_schedule("30 10 2 3 *");
  job.create("10:02");
  job.due("10:30");
  const auto entry = job.next_look();
  EXPECT_EQ(job.ended("10:31", "10:30"), "10:30 completed\n");
  EXPECT_EQ(job.next_look(), entry);
}

TEST(JobTimes, JobsDeployedTogetherAreLookedAtInPortionsSpreadOverHours) {
  std::map<std::int64_t, int> looks;
  for (int i = 0; i < 3'000; ++i) {
    job_world job;
    job.spec.set_name("job-" + std::to_string(i));
    job.spec.set_schedule("0 0 1 1 *");
    job.create("10:00");
    ++looks[job.record.due_indexed_unix_ms()];
  }
  // Side by side in the index, so that a batch with many of them touches few of its pages; and none so large that the node would feel it.
  EXPECT_EQ(looks.size(), 60U);
  EXPECT_EQ(looks.rbegin()->first - looks.begin()->first, at("15:54") - at("10:00"));
  for (const auto& [moment, jobs] : looks) EXPECT_LT(jobs, 100) << clock_text(moment);
}

TEST(JobTimes, AfterARewindTimesThatHaveTheirLaunchAreNotLaunchedAgain) {
  job_world job;
  job.create("10:02");
  job.due("10:05");
  job.ended("10:05:30", "10:05");
  // The clock jumps two hours ahead, and back.
  EXPECT_EQ(job.due("12:00"),
            "10:10 skipped outside_window\n10:15 skipped outside_window\n10:20 skipped outside_window\n10:25 skipped outside_window\n"
            "10:30 skipped outside_window\n10:35 skipped outside_window\n10:40 skipped outside_window\n10:45 skipped outside_window\n"
            "10:50 skipped outside_window\n10:55 skipped outside_window\n11:00 skipped superseded\n11:05 skipped superseded\n"
            "11:10 skipped superseded\n11:15 skipped superseded\n11:20 skipped superseded\n11:25 skipped superseded\n"
            "11:30 skipped superseded\n11:35 skipped superseded\n11:40 skipped superseded\n11:45 skipped superseded\n"
            "11:50 skipped superseded\n11:55 skipped superseded\n12:00 started\n");
  job.ended("12:01", "12:00");
  EXPECT_EQ(job.due("10:11"), "");
  const auto answer = job.operate("10:11", v1::JOB_VERB_REWIND);
  EXPECT_NE(answer.find("erased 10:15\n"), std::string::npos);
  EXPECT_EQ(answer.find("erased 10:10\n"), std::string::npos) << "what had come stays as it was decided";
  EXPECT_NE(answer.find("set back from 2026-03-02T12:00:00Z to 2026-03-02T10:11:00Z"), std::string::npos);
  EXPECT_EQ(job.due("10:15"), "10:15 started\n");
  job.ended("10:16", "10:15");
  for (const auto* time : {"10:20", "11:55"}) {
    job.due(time);
    job.ended(time, time);
  }
  EXPECT_EQ(job.due("12:00"), "") << "it has its launch";
  EXPECT_EQ(job.due("12:05"), "12:05 started\n");
  EXPECT_EQ(job.operate("12:06", v1::JOB_VERB_REWIND),
            "refused: job job has only been launched for times until 2026-03-02T12:05:00Z, and none is in the future");
}

TEST(JobTimes, ARewindTakesBackLaunchesForTimesToComeThatOnlyWait) {
  job_world job;
  job.create("10:02");
  job.gate.wait_for(v1::LAUNCH_WAIT_ROOM);
  // The clock jumps two hours ahead, and back.
  job.due("12:00");
  ASSERT_EQ(job.record.open_size(), 1);
  job.gate.open();
  const auto answer = job.operate("10:11", v1::JOB_VERB_REWIND);
  EXPECT_NE(answer.find("erased 12:00\n"), std::string::npos) << answer;
  EXPECT_EQ(job.record.open_size(), 0);
  EXPECT_EQ(job.due("10:15"), "10:15 started\n") << "it would overlap with one that is not due before noon";
  job.ended("10:16", "10:15");
  job.operate("10:17", v1::JOB_VERB_PAUSE);
  job.due("11:57");
  job.operate("11:58", v1::JOB_VERB_RESUME);
  EXPECT_EQ(job.due("12:00"), "12:00 started\n");
}

TEST(JobTimes, ARewindCutsALongRowOfSkipsAtTheClock) {
  job_world job;
  job.spec.set_schedule("* * * * *");
  job.spec.set_catch_up_window_ms(60'000);
  job.create("10:00");
  job.due("11:30");
  EXPECT_EQ(job.rows.all.begin()->second.count(), 89U - 1);
  job.operate("10:20:30", v1::JOB_VERB_REWIND);
  EXPECT_EQ(job.text(job.rows.all.begin()->second), "10:01 to 10:20 (20) skipped outside_window");
  EXPECT_EQ(job.due("10:21"), "10:21 skipped overlap\n") << "the launch of 11:30 is open";
}

}  // namespace
}  // namespace fairlead::core::testing
