// What becomes of launches that are open.

#include "tests/actors/core/job/job_world.hpp"

namespace fairlead::core::testing {
namespace {

job_world job_with(v1::OverlapPolicy policy) {
  job_world job;
  job.spec.set_overlap(policy);
  job.create("10:02");
  return job;
}

TEST(JobLaunches, WithOverlapSkipATimeIsSkippedWhileALaunchIsOpen) {
  auto job = job_with(v1::OVERLAP_POLICY_SKIP);
  job.due("10:05");
  EXPECT_EQ(job.due("10:10"), "10:10 skipped overlap\n");
  EXPECT_EQ(job.rows.all.at(at("10:10")).reason(), "job@2026-03-02T10:05:00Z had not ended");
  job.ended("10:11", "10:05");
  EXPECT_EQ(job.due("10:15"), "10:15 started\n");
  EXPECT_EQ(job.record.bad_in_a_row(), 0U) << "a skip that the job's own policy asks for alarms nobody";
}

TEST(JobLaunches, WithOverlapAllowTheyRunBesideEachOther) {
  auto job = job_with(v1::OVERLAP_POLICY_ALLOW);
  job.due("10:05");
  EXPECT_EQ(job.due("10:10"), "10:10 started\n");
}

TEST(JobLaunches, WithOverlapQueueEachWaitsForItsTurn) {
  auto job = job_with(v1::OVERLAP_POLICY_QUEUE);
  job.due("10:05");
  EXPECT_EQ(job.due("10:10"), "10:10 waiting overlap\n");
  EXPECT_EQ(job.due("10:15"), "10:15 waiting overlap\n");
  EXPECT_EQ(job.ended("10:16", "10:05"), "10:05 completed\n10:10 started\n");
  EXPECT_EQ(job.ended("10:17", "10:10", v1::TASK_STATE_UNDONE),
            "10:10 undone\n10:15 started\nalert: job job: its launch job@2026-03-02T10:10:00Z was undone\n");
}

TEST(JobLaunches, WithOverlapReplaceTheRunningOneIsCancelledAndTheWaitingOneGivesWay) {
  auto job = job_with(v1::OVERLAP_POLICY_REPLACE);
  job.due("10:05");
  EXPECT_EQ(job.due("10:10"), "10:10 waiting overlap\ncancel task 1\n");
  EXPECT_EQ(job.due("10:15"), "10:10 skipped replaced\n10:15 waiting overlap\ncancel task 1\n") << "an operator may have let it go on";
  EXPECT_EQ(job.ended("10:16", "10:05", v1::TASK_STATE_UNDONE), "10:05 undone\n10:15 started\n") << "one that gave way is no failure";
}

TEST(JobLaunches, AParkedLaunchKeepsNoLaterOneFromRunning) {
  for (const auto policy : {v1::OVERLAP_POLICY_SKIP, v1::OVERLAP_POLICY_QUEUE, v1::OVERLAP_POLICY_REPLACE}) {
    auto job = job_with(policy);
    job.due("10:05");
    EXPECT_EQ(job.held("10:06", "10:05"), "alert: job job: its launch job@2026-03-02T10:05:00Z is parked\n");
    EXPECT_EQ(job.due("10:10"), "10:10 started\n") << "and gives way to none";
    job.held("10:11", "10:05", false);
    EXPECT_EQ(job.due("10:15").rfind("10:15 started", 0), std::string::npos) << "resumed, it counts again";
  }
}

TEST(JobLaunches, AParkedLaunchCountsWhereTheJobSaysSo) {
  job_world job;
  job.spec.set_overlap(v1::OVERLAP_POLICY_SKIP);
  job.spec.set_count_parked(true);
  job.create("10:02");
  job.due("10:05");
  job.held("10:06", "10:05");
  EXPECT_EQ(job.due("10:10"), "10:10 skipped overlap\n");
}

TEST(JobLaunches, AQueuedLaunchStartsWhenTheOneBeforeItIsParked) {
  auto job = job_with(v1::OVERLAP_POLICY_QUEUE);
  job.due("10:05");
  job.due("10:10");
  EXPECT_EQ(job.held("10:11", "10:05"), "10:10 started\nalert: job job: its launch job@2026-03-02T10:05:00Z is parked\n");
}

TEST(JobLaunches, ALaunchThatWasParkedAndFailsIsOneBadLaunch) {
  auto job = job_with(v1::OVERLAP_POLICY_ALLOW);
  job.due("10:05");
  job.held("10:06", "10:05");
  EXPECT_EQ(job.record.bad_in_a_row(), 1U);
  job.held("10:07", "10:05", false);
  job.held("10:08", "10:05");
  job.ended("10:09", "10:05", v1::TASK_STATE_FAILED);
  EXPECT_EQ(job.record.bad_in_a_row(), 1U);
  EXPECT_EQ(job.record.failed(), 1U);
  EXPECT_EQ(job.rows.all.at(at("10:05")).state(), v1::LAUNCH_STATE_FAILED);
}

TEST(JobLaunches, AHundredParkedLaunchesPauseTheJob) {
  job_world job;
  job.spec.set_schedule("* * * * *");
  job.spec.set_overlap(v1::OVERLAP_POLICY_ALLOW);
  job.spec.set_alert_after(0);
  job.create("10:00");
  std::string last;
  for (int i = 1; i <= 100; ++i) {
    ASSERT_FALSE(job.record.paused());
    const auto time = std::to_string(10 + i / 60) + ":" + (i % 60 < 10 ? "0" : "") + std::to_string(i % 60);
    job.due(time);
    last = job.held(time, time);
  }
  EXPECT_TRUE(job.record.paused());
  EXPECT_EQ(job.record.paused_reason(), "100 of its launches are parked");
  EXPECT_EQ(last, "alert: job job has paused itself: 100 of its launches are parked\n");
}

TEST(JobLaunches, MaxInFlightHoldsBackWhatOverlaps) {
  job_world job;
  job.spec.set_overlap(v1::OVERLAP_POLICY_ALLOW);
  job.spec.set_max_in_flight(2);
  job.create("10:02");
  job.due("10:05");
  job.due("10:10");
  EXPECT_EQ(job.due("10:15"), "10:15 waiting overlap\n");
  EXPECT_EQ(job.ended("10:16", "10:10"), "10:10 completed\n10:15 started\n");
}

TEST(JobLaunches, JitterIsTheLaunchsOwnAndStaysInsideItsBound) {
  job_world job;
  job.spec.set_jitter_ms(120'000);
  job.create("10:02");
  EXPECT_EQ(job.due("10:05"), "10:05 waiting time\n");
  const auto start_at = job.record.open(0).start_at_unix_ms();
  EXPECT_GE(start_at, at("10:05"));
  EXPECT_LE(start_at, at("10:07"));
  EXPECT_EQ(job.record.due_indexed_unix_ms(), start_at);
  job_world same;
  same.spec.set_jitter_ms(120'000);
  same.create("09:02");
  same.due("10:05:01");
  EXPECT_EQ(same.record.open(0).start_at_unix_ms(), start_at);
  job.now_ms = start_at;
  EXPECT_EQ(job.decided(job_due{}), "10:05 started\n");
}

TEST(JobLaunches, OneThatFindsNoAgentsInTimeIsSkippedWithThatReason) {
  job_world job;
  job.spec.set_start_window_ms(60'000);
  job.create("10:02");
  job.gate.wait_for(v1::LAUNCH_WAIT_AGENTS);
  EXPECT_EQ(job.due("10:05"), "10:05 waiting agents\n");
  EXPECT_EQ(job.next_look(), "10:06");
  EXPECT_EQ(job.due("10:05:30"), "");
  EXPECT_EQ(job.due("10:06"),
            "10:05 skipped no_agents\nalert: job job: its launch job@2026-03-02T10:05:00Z was skipped: the agents that it needs were not "
            "free before the end of its start window\n");
  job.gate.open();
  EXPECT_EQ(job.due("10:10"), "10:10 started\n");
  EXPECT_EQ(job.ended("10:11", "10:10"), "10:10 completed\nalert resolved\n");
}

TEST(JobLaunches, OneThatFindsAgentsInTimeStarts) {
  job_world job;
  job.spec.set_start_window_ms(60'000);
  job.create("10:02");
  job.gate.wait_for(v1::LAUNCH_WAIT_AGENTS);
  job.due("10:05");
  job.gate.open();
  EXPECT_EQ(job.due("10:06"), "10:05 started\n") << "the end of the window is inside it";
}

TEST(JobLaunches, WhatNobodyCouldStartBeforeTheEndOfItsWindowIsNotStartedAfterIt) {
  job_world job;
  job.spec.set_start_window_ms(60'000);
  job.create("10:02");
  job.gate.wait_for(v1::LAUNCH_WAIT_ROOM);
  job.due("10:05");
  job.gate.open();
  EXPECT_EQ(job.due("10:06:00.001").substr(0, 27), "10:05 skipped start_window\n");
}

TEST(JobLaunches, OneThatIsCaughtUpHasItsStartWindowFromWhenItWasFoundToBeMissing) {
  job_world job;
  job.spec.set_start_window_ms(60'000);
  job.create("10:02");
  job.gate.wait_for(v1::LAUNCH_WAIT_AGENTS);
  // Nothing was there to launch it before 10:07:30, when its window would have been over long since.
  job.due("10:07:30");
  ASSERT_EQ(job.record.open_size(), 1);
  EXPECT_EQ(clock_text(job.record.open(0).nominal_unix_ms()), "10:05");
  EXPECT_EQ(clock_text(job.record.open(0).start_by_unix_ms()), "10:08:30");
  EXPECT_EQ(job.due("10:08:29"), "");
  job.gate.open();
  EXPECT_EQ(job.due("10:08:30"), "10:05 started\n");
}

TEST(JobLaunches, OneThatIsCaughtUpAndStillFindsNothingIsSkippedAtTheEndOfThatWindow) {
  job_world job;
  job.spec.set_start_window_ms(60'000);
  job.create("10:02");
  job.gate.wait_for(v1::LAUNCH_WAIT_ROOM);
  job.due("10:07:30");
  EXPECT_EQ(job.due("10:08:31").substr(0, 27), "10:05 skipped start_window\n");
}

TEST(JobLaunches, NeedsWithoutAStartWindowWaitTenMinutes) {
  job_world job;
  job.spec.set_schedule("5 10 * * *");
  job.spec.add_needs()->set_agent("reports");
  job.create("10:02");
  job.gate.wait_for(v1::LAUNCH_WAIT_AGENTS);
  job.due("10:05");
  EXPECT_EQ(job.next_look(), "10:15");
  EXPECT_EQ(job.due("10:15").substr(0, 23), "10:05 skipped no_agents");
}

TEST(JobLaunches, ADeadlineEndsTheWaitAndGoesWithTheTask) {
  job_world job;
  job.spec.set_overlap(v1::OVERLAP_POLICY_QUEUE);
  job.spec.set_deadline_ms(8 * 60'000);
  job.create("10:02");
  job.due("10:05");
  EXPECT_EQ(clock_text(job.last_deadline_ms), "10:13");
  job.due("10:10");
  EXPECT_EQ(job.next_look(), "10:15");
  job.due("10:15");
  EXPECT_EQ(job.due("10:18").substr(0, 23), "10:10 skipped deadline\n");
}

TEST(JobLaunches, OneWithoutRoomWaitsAndStartsWhenItIsLetIn) {
  auto job = job_with(v1::OVERLAP_POLICY_ALLOW);
  job.gate.room = 0;
  EXPECT_EQ(job.due("10:05"), "10:05 waiting room\n");
  EXPECT_EQ(job.due("10:06"), "");
  job.gate.room = 1;
  EXPECT_EQ(job.due("10:06"), "10:05 started\n");
}

TEST(JobLaunches, AnInputThatTheWorkflowDoesNotTakeIsASkip) {
  auto job = job_with(v1::OVERLAP_POLICY_ALLOW);
  job.gate.refused = "null";
  EXPECT_EQ(job.due("10:05"),
            "10:05 skipped input\nalert: job job: its launch job@2026-03-02T10:05:00Z was skipped: the input does not fit the schema of "
            "workflow report: /n: is missing\n");
  EXPECT_EQ(job.record.launched(), 0U);
  job.gate.refused.clear();
  EXPECT_EQ(job.due("10:10"), "10:10 started\n");
}

TEST(JobLaunches, ASkipByTheGateIsRecordedWithItsReasonAndAlarms) {
  auto job = job_with(v1::OVERLAP_POLICY_ALLOW);
  job.gate.skip(v1::SKIP_REASON_NO_WORKFLOW, "its workflow report is not deployed");
  EXPECT_EQ(job.due("10:05"),
            "10:05 skipped no_workflow\nalert: job job: its launch job@2026-03-02T10:05:00Z was skipped: its workflow report is "
            "not deployed\n");
  EXPECT_EQ(job.due("10:10"),
            "10:10 skipped no_workflow\nalert says: job job: its launch job@2026-03-02T10:10:00Z was skipped: its workflow report is "
            "not deployed (2 launches in a row failed or could not start)\n")
      << "one alert is enough";
}

TEST(JobLaunches, AnAlertCanWaitForSeveralBadLaunchesOrForNone) {
  for (const auto after : {0U, 3U}) {
    job_world job;
    job.spec.set_alert_after(after);
    job.create("10:02");
    std::string all;
    for (const auto* time : {"10:05", "10:10", "10:15", "10:20"}) {
      job.due(time);
      all += job.ended(time, time, v1::TASK_STATE_UNDONE);
    }
    const auto first = all.find("alert:");
    EXPECT_EQ(first == std::string::npos, after == 0);
    if (after == 3) {
      EXPECT_EQ(all.substr(first),
                "alert: job job: its launch job@2026-03-02T10:15:00Z was undone (3 launches in a row failed or could not start)\n"
                "10:20 undone\n"
                "alert says: job job: its launch job@2026-03-02T10:20:00Z was undone (4 launches in a row failed or could not start)\n")
          << "it is raised once, and goes on counting";
    }
  }
}

TEST(JobLaunches, OnlyTheNewestRecordsAreKeptAndNeverAnOpenOneIsDropped) {
  job_world job;
  job.spec.set_keep_launches(3);
  job.spec.set_overlap(v1::OVERLAP_POLICY_ALLOW);
  job.create("10:02");
  job.due("10:05");
  for (const auto* time : {"10:10", "10:15", "10:20", "10:25"}) {
    job.due(time);
    job.ended(time, time);
  }
  EXPECT_EQ(job.rows.all.size(), 3U);
  EXPECT_EQ(job.rows.all.count(at("10:05")), 1U);
  EXPECT_EQ(job.ended("10:26", "10:05"), "10:05 completed\n");
}

TEST(JobLaunches, AThousandOpenLaunchesAreTheMost) {
  job_world job;
  job.spec.set_overlap(v1::OVERLAP_POLICY_QUEUE);
  job.spec.set_schedule("* * * * * *");
  job.spec.set_keep_launches(5000);
  job.create("10:00:00.500");
  for (int second = 1; second <= 1005; ++second) {
    job.now_ms = at("10:00") + second * 1000;
    job.decided(job_due{});
  }
  EXPECT_EQ(job.record.open_size(), 1000);
  EXPECT_EQ(job.rows.all.rbegin()->second.skip(), v1::SKIP_REASON_TOO_MANY_OPEN);
  EXPECT_EQ(job.record.bad_in_a_row(), 5U);
  EXPECT_NE(job.record.alert(), 0U) << "from then on it is launched no more, and somebody is told";
}

TEST(JobLaunches, TheEndOfALaunchThatIsNotOpenAnyMoreOnlyTellsItsRecord) {
  auto job = job_with(v1::OVERLAP_POLICY_SKIP);
  job.due("10:05");
  job.ended("10:06", "10:05");
  // An operator has had the completed task undone.
  EXPECT_EQ(job.ended("10:20", "10:05", v1::TASK_STATE_UNDONE), "10:05 undone\n");
  EXPECT_EQ(job.record.bad_in_a_row(), 0U);
}

TEST(JobLaunches, OneThatIsTerminatedWhileItIsUndoneAfterItsEndHasFailed) {
  auto job = job_with(v1::OVERLAP_POLICY_SKIP);
  job.due("10:05");
  job.ended("10:06", "10:05");
  EXPECT_EQ(job.ended("10:20", "10:05", v1::TASK_STATE_FAILED), "10:05 failed\n");
  EXPECT_EQ(job.record.bad_in_a_row(), 0U) << "it has completed, and what came then was an operator's";
  EXPECT_EQ(job.ended("10:21", "10:05", v1::TASK_STATE_UNDONE), "10:05 undone\n");
  // A recovery has begun the undo anew, which may never have counted.
  EXPECT_EQ(job.ended("10:22", "10:05", v1::TASK_STATE_FAILED), "10:05 failed\n");
}

TEST(JobLaunches, ABadLaunchInTheDecisionThatResolvesAnAlertRaisesAnother) {
  job_world job;
  job.spec.set_overlap(v1::OVERLAP_POLICY_QUEUE);
  job.spec.set_deadline_ms(300'000);
  job.create("10:02");
  job.due("10:05");
  EXPECT_EQ(job.ended("10:06", "10:05", v1::TASK_STATE_UNDONE),
            "10:05 undone\nalert: job job: its launch job@2026-03-02T10:05:00Z was undone\n");
  job.due("10:10");
  job.due("10:15");
  EXPECT_EQ(job.ended("10:20", "10:10"),
            "10:10 completed\n10:15 skipped deadline\nalert resolved\nalert: job job: its launch job@2026-03-02T10:15:00Z was skipped: its "
            "deadline passed before it could start\n");
}

TEST(JobLaunches, ABackfilledTimeThatHadItsTaskIsASkipAndNoAlarm) {
  job_world job;
  job.create("10:02");
  job.gate.skip(v1::SKIP_REASON_ID_TAKEN, "there was a task of it already");
  v1::JobAction action;
  action.set_verb(v1::JOB_VERB_BACKFILL);
  action.set_from_unix_ms(at("09:55"));
  action.set_to_unix_ms(at("09:55"));
  EXPECT_EQ(job.operate("10:03", action), "09:55 skipped id_taken\nanswer: 1 launches recorded\n");
  EXPECT_EQ(job.due("10:05"),
            "10:05 skipped id_taken\nalert: job job: its launch job@2026-03-02T10:05:00Z was skipped: there was a task of it already\n");
}

TEST(JobLaunches, TheEndOfAnEarlierJobsTaskLeavesALaunchThatWaitsAlone) {
  job_world job;
  job.create("10:02");
  job.gate.wait_for(v1::LAUNCH_WAIT_ROOM);
  EXPECT_EQ(job.due("10:05"), "10:05 waiting room\n");
  EXPECT_EQ(job.ended("10:06", "10:05"), "");
  EXPECT_EQ(job.text(job.rows.all.at(at("10:05"))), "10:05 waiting room");
}

TEST(JobLaunches, APauseHoldsAQueueAndItsStartWindowsRunOn) {
  job_world job;
  job.spec.set_overlap(v1::OVERLAP_POLICY_QUEUE);
  job.spec.set_start_window_ms(600'000);
  job.create("10:02");
  job.due("10:05");
  job.due("10:10");
  EXPECT_EQ(job.operate("10:11", v1::JOB_VERB_PAUSE),
            "10:10 waiting pause\nanswer: paused: its times are skipped until it is resumed, and 1 waiting launch is held\n");
  EXPECT_EQ(job.ended("10:12", "10:05"), "10:05 completed\n");
  EXPECT_EQ(job.due("10:15"), "10:15 skipped paused\n");
  EXPECT_EQ(job.next_look(), "10:20");
  EXPECT_EQ(job.due("10:20:01"), "10:10 skipped start_window\n10:20 skipped paused\n");
  EXPECT_EQ(job.rows.all.at(at("10:10")).reason(), "the job was paused at the end of its start window");
  EXPECT_EQ(job.record.bad_in_a_row(), 0U) << "somebody wanted it held";
}

TEST(JobLaunches, APauseHoldsWhatWaitsForItsTimeAndItsDeadlineRunsOn) {
  job_world job;
  job.spec.set_jitter_ms(120'000);
  job.spec.set_deadline_ms(180'000);
  job.create("10:02");
  EXPECT_EQ(job.due("10:05"), "10:05 waiting time\n");
  job.operate("10:05", v1::JOB_VERB_PAUSE);
  EXPECT_EQ(job.text(job.rows.all.at(at("10:05"))), "10:05 waiting pause");
  EXPECT_EQ(job.next_look(), "10:08") << "its deadline, and no other moment before that";
  EXPECT_EQ(job.due("10:08"), "10:05 skipped deadline\n");
  EXPECT_EQ(job.rows.all.at(at("10:05")).reason(), "its deadline passed while the job was paused");
}

TEST(JobLaunches, WhatWaitsForRoomIsHeldAndAsksForNoneMeanwhile) {
  auto job = job_with(v1::OVERLAP_POLICY_ALLOW);
  job.gate.wait_for(v1::LAUNCH_WAIT_ROOM);
  job.due("10:05");
  job.operate("10:06", v1::JOB_VERB_PAUSE);
  job.gate.open();
  EXPECT_EQ(job.due("10:07"), "");
  EXPECT_EQ(job.operate("10:08", v1::JOB_VERB_RESUME),
            "10:05 started\nanswer: resumed: 1 held launch goes on, and its next time is 2026-03-02T10:10:00Z\n");
}

}  // namespace
}  // namespace fairlead::core::testing
