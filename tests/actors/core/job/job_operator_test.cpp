// What operators ask of a job.

#include "tests/actors/core/job/job_world.hpp"

namespace fairlead::core::testing {
namespace {

v1::JobAction run(v1::OverlapPolicy overlap = v1::OVERLAP_POLICY_UNSPECIFIED) {
  v1::JobAction out;
  out.set_verb(v1::JOB_VERB_RUN);
  out.set_overlap(overlap);
  return out;
}

v1::JobAction backfill(const std::string& from, const std::string& to) {
  v1::JobAction out;
  out.set_verb(v1::JOB_VERB_BACKFILL);
  out.set_from_unix_ms(at(from));
  out.set_to_unix_ms(at(to));
  return out;
}

TEST(JobOperator, ARunIsALaunchOfItsOwnBesideTheSchedule) {
  job_world job;
  job.create("10:02");
  EXPECT_EQ(job.operate("10:03", run()), "10:03:00.001 started\nanswer: started\n") << "never a whole second";
  EXPECT_EQ(job.mark(), "10:02") << "the schedule's mark stays where it is";
  job.ended("10:04", "10:03:00.001");
  EXPECT_EQ(job.due("10:05"), "10:05 started\n");
}

TEST(JobOperator, ARunThatIsAskedForTwiceIsLaunchedOnce) {
  job_world job;
  job.create("10:02");
  auto action = run();
  action.set_nominal_unix_ms(at("10:03:00.123"));
  EXPECT_EQ(job.operate("10:03", action), "10:03:00.123 started\nanswer: started\n");
  EXPECT_EQ(job.operate("10:03", action), "answer: started\n");
  job.ended("10:04", "10:03:00.123");
  EXPECT_EQ(job.operate("10:05", action), "answer: has ended\n");
  action.set_nominal_unix_ms(at("10:03"));
  EXPECT_EQ(job.operate("10:06", action), "refused: the time of the launch is a whole second, but these are reserved for the schedule");
}

TEST(JobOperator, ARunWithAnInputThatTheWorkflowDoesNotTakeIsRefusedAndCancelsNothing) {
  job_world job;
  job.create("10:02");
  job.due("10:05");
  job.gate.refused = R"({"n":"x"})";
  auto action = run(v1::OVERLAP_POLICY_REPLACE);
  action.set_input(R"({ "n" : "x" })");
  EXPECT_EQ(job.operate("10:06", action), "refused: the input does not fit the schema of workflow report: /n: is missing");
  action.set_input(R"({ "n" : "y" })");
  EXPECT_EQ(job.operate("10:06", action), "10:06:00.001 waiting overlap\ncancel task 1\nanswer: waits for an earlier launch to end\n");
}

TEST(JobOperator, TwoThatAreAskedForInTheSameMillisecondAreTwoLaunches) {
  job_world job;
  job.spec.set_overlap(v1::OVERLAP_POLICY_ALLOW);
  job.create("10:02");
  auto annas = run();
  annas.set_nominal_unix_ms(at("10:03:00.999"));
  annas.set_token("anna's");
  annas.set_reason("month end");
  auto bens = annas;
  bens.set_token("ben's");
  EXPECT_EQ(job.operate("10:04", annas), "10:03:00.999 started\nanswer: started\n");
  EXPECT_EQ(job.operate("10:04", bens), "10:03:01.001 started\nanswer: started\n") << "whole seconds are the schedule's";
  EXPECT_EQ(job.rows.all.begin()->second.asked_because(), "month end");
  // Either asks again, since no answer came.
  EXPECT_EQ(job.operate("10:05", bens), "answer: started\n");
  EXPECT_EQ(job.operate("10:05", annas), "answer: started\n");
  EXPECT_EQ(job.record.launched(), 2U);
  annas.set_token(std::string(65, 'x'));
  EXPECT_EQ(job.operate("10:06", annas), "refused: the token of the launch has more than 64 bytes");
}

TEST(JobOperator, WithoutATimeTheTokenSaysWhichLaunchARunIs) {
  job_world job;
  job.create("10:02");
  auto action = run();
  action.set_token("month end");
  EXPECT_EQ(job.operate("10:03:00.123", action), "10:03:00.123 started\nanswer: started\n");
  EXPECT_EQ(job.operate("10:04:00.123", action), "answer: started\n");
  job.ended("10:04:30", "10:03:00.123");
  EXPECT_EQ(job.operate("10:04:40.5", action), "answer: has ended\n");
  EXPECT_EQ(job.record.launched(), 1U);
  auto other = action;
  other.set_input("[1]");
  EXPECT_EQ(job.operate("10:04:41", other), "refused: the key month end was used for another launch of job " + job.spec.name());
  action.set_token("\xff");
  EXPECT_EQ(job.operate("10:04:45", action), "refused: the token of the launch is not UTF-8");
  action.set_token("another one");
  EXPECT_EQ(job.operate("10:04:50.001", action), "10:04:50.001 started\nanswer: started\n");
}

TEST(JobOperator, AJobRemembersTheTokensOfItsLatestRunsAlsoWhenTheirLaunchesAreGone) {
  job_world job;
  job.spec.set_overlap(v1::OVERLAP_POLICY_ALLOW);
  job.create("10:02");
  auto action = run();
  for (int i = 0; i < 40; ++i) {
    action.set_token("run " + std::to_string(i));
    EXPECT_NE(job.operate("10:03:00.5", action).find("answer: started"), std::string::npos);
  }
  ASSERT_EQ(job.record.runs_size(), 32);
  job.decided(launch_ended{job.record.runs(31).nominal_unix_ms(), v1::TASK_STATE_COMPLETED});
  job.rows.all.erase(job.record.runs(31).nominal_unix_ms());
  job.record.set_kept_launches(39);
  EXPECT_EQ(job.operate("10:04", action), "answer: was launched, and its record is not kept any more\n");
  EXPECT_EQ(job.record.launched(), 40U);
}

TEST(JobOperator, ARunKeepsToTheJobsOverlapUnlessToldOtherwise) {
  job_world job;
  job.create("10:02");
  job.due("10:05");
  EXPECT_EQ(job.operate("10:06", run()), "refused: job@2026-03-02T10:05:00Z has not ended, and the overlap policy is skip");
  EXPECT_EQ(job.operate("10:06", run(v1::OVERLAP_POLICY_QUEUE)),
            "10:06:00.001 waiting overlap\nanswer: waits for an earlier launch to end\n");
  EXPECT_EQ(job.operate("10:06", run(v1::OVERLAP_POLICY_ALLOW)), "10:06:00.002 started\nanswer: started\n");
}

TEST(JobOperator, APausedJobCanBeRun) {
  job_world job;
  job.create("10:02");
  job.operate("10:03", v1::JOB_VERB_PAUSE);
  EXPECT_EQ(job.operate("10:04", run()), "10:04:00.001 started\nanswer: started\n");
}

TEST(JobOperator, ARunMayBringItsOwnInput) {
  job_world job;
  job.spec.set_input(R"("${ .launch.trigger }")");
  job.create("10:02");
  job.operate("10:03", run());
  job.ended("10:03:30", "10:03:00.001");
  auto action = run();
  action.set_input(R"({ "rerun" : true })");
  job.operate("10:04", action);
  EXPECT_EQ(job.inputs, (std::vector<std::string>{R"("operator")", R"({"rerun":true})"}));
  action.set_input("{");
  EXPECT_EQ(job.operate("10:05", action).substr(0, 32), "refused: the input is not JSON: ");
}

TEST(JobOperator, ABackfillLaunchesWhatHasNoLaunchOneAfterTheOther) {
  job_world job;
  job.create("10:02");
  job.due("10:05");
  job.ended("10:06", "10:05");
  job.operate("10:07", v1::JOB_VERB_PAUSE);
  job.due("10:10");
  job.operate("10:11", v1::JOB_VERB_RESUME);
  EXPECT_EQ(job.operate("10:12", backfill("09:52", "10:10")),
            "09:55 started\n10:00 waiting overlap\n10:10 waiting overlap\nanswer: 3 launches recorded, 1 times already had a launch\n");
  EXPECT_EQ(job.rows.all.at(at("10:10")).skipped_before(), v1::SKIP_REASON_PAUSED);
  EXPECT_EQ(job.ended("10:13", "09:55"), "09:55 completed\n10:00 started\n");
  EXPECT_EQ(job.ended("10:14", "10:00"), "10:00 completed\n10:10 started\n");
  EXPECT_EQ(job.ended("10:14:30", "10:10"), "10:10 completed\n");
  EXPECT_EQ(job.operate("10:14:40", backfill("09:52", "10:10")), "answer: 0 launches recorded, 4 times already had a launch\n");
}

TEST(JobOperator, ADryRunOfABackfillOnlySaysWhatItWouldLaunch) {
  job_world job;
  job.create("10:02");
  job.due("10:05");
  job.ended("10:06", "10:05");
  job.operate("10:07", v1::JOB_VERB_PAUSE);
  job.due("10:10");
  job.operate("10:11", v1::JOB_VERB_RESUME);
  const auto before = job.rows.all.size();
  auto dry = backfill("09:52", "10:10");
  dry.set_verb(v1::JOB_VERB_BACKFILL_DRY_RUN);
  EXPECT_EQ(job.operate("10:12", dry), "answer: 3 times would be launched, 1 times already had a launch\n");
  EXPECT_EQ(job.operate("10:12", dry), "answer: 3 times would be launched, 1 times already had a launch\n");
  EXPECT_EQ(job.rows.all.size(), before);
  EXPECT_EQ(job.operate("10:12", backfill("09:52", "10:10")).substr(0, 13), "09:55 started");
}

TEST(JobOperator, ABackfillTakesTimesOutOfALongRowOfSkips) {
  job_world job;
  job.spec.set_schedule("* * * * *");
  job.create("10:00");
  job.operate("10:00:30", v1::JOB_VERB_PAUSE);
  job.due("10:59:30");
  EXPECT_EQ(job.text(job.rows.all.begin()->second), "10:01 to 10:59 (59) skipped paused");
  auto action = backfill("10:20", "10:21");
  action.set_overlap(v1::OVERLAP_POLICY_ALLOW);
  EXPECT_EQ(
      job.operate("10:59:40", action),
      "erased 10:01\n10:01 to 10:19 (19) skipped paused\n10:20 waiting pause\n10:21 waiting pause\n10:22 to 10:59 (38) skipped paused\n"
      "answer: 2 launches recorded; the job is paused: its launches are held until it is resumed\n");
}

TEST(JobOperator, ABackfillKnowsWhatItsOwnCatchingUpHasLaunchedOrSkipped) {
  job_world job;
  job.create("10:02");
  EXPECT_EQ(job.operate("10:12", backfill("10:05", "10:10")),
            "10:05 started\n10:10 waiting overlap\nanswer: 1 launches recorded, 1 times already had a launch\n");
  EXPECT_EQ(job.rows.all.at(at("10:05")).skipped_before(), v1::SKIP_REASON_SUPERSEDED);
  EXPECT_EQ(job.record.open_size(), 2);
  EXPECT_EQ(job.record.kept_launches(), 2U);
}

TEST(JobOperator, ABackfillLaunchesWhatHasGivenWayToALaterTimeInTheSameDecision) {
  job_world job;
  job.spec.set_overlap(v1::OVERLAP_POLICY_REPLACE);
  job.create("10:02");
  job.gate.wait_for(v1::LAUNCH_WAIT_ROOM);
  EXPECT_EQ(job.due("10:05"), "10:05 waiting room\n");
  EXPECT_EQ(job.operate("10:10", backfill("10:05", "10:05")), "10:05 waiting room\n10:10 waiting overlap\nanswer: 1 launches recorded\n");
  EXPECT_EQ(job.rows.all.at(at("10:05")).skipped_before(), v1::SKIP_REASON_REPLACED);
  EXPECT_EQ(job.rows.all.at(at("10:05")).trigger(), v1::LAUNCH_TRIGGER_BACKFILL);
  EXPECT_EQ(job.record.open_size(), 2);
  EXPECT_EQ(job.record.kept_launches(), 2U);
}

TEST(JobOperator, ABackfillTakesTimesOutOfALongRowOfSkipsThatItHasJustRecorded) {
  job_world job;
  job.spec.set_schedule("* * * * *");
  job.create("10:00");
  job.operate("10:00:30", v1::JOB_VERB_PAUSE);
  EXPECT_EQ(job.operate("10:59:40", backfill("10:20", "10:20")),
            "10:01 to 10:19 (19) skipped paused\n10:20 waiting pause\n10:21 to 10:59 (39) skipped paused\n"
            "answer: 1 launches recorded; the job is paused: its launches are held until it is resumed\n");
  EXPECT_EQ(job.record.kept_launches(), job.rows.all.size());
}

/// Every minute from 10:01 to 10:59 was skipped in a row; from then on it is due every seven minutes, in another zone.
job_world with_a_row_of_an_earlier_schedule() {
  job_world job;
  job.spec.set_schedule("* * * * *");
  job.create("10:00");
  job.operate("10:00:30", v1::JOB_VERB_PAUSE);
  // Nobody has looked since: the row is recorded by the very decision that changes the schedule.
  job.spec.set_schedule("*/7 * * * *");
  job.spec.set_zone("Asia/Tokyo");
  EXPECT_EQ(job.change("10:59:40"), "10:01 to 10:59 (59) skipped paused\n");
  return job;
}

TEST(JobOperator, ARowOfSkipsIsTakenApartByTheScheduleThatItWasRecordedUnder) {
  auto job = with_a_row_of_an_earlier_schedule();
  const auto& row = job.rows.all.begin()->second;
  EXPECT_EQ(row.schedule() + " " + row.zone(), "* * * * * ");
  EXPECT_EQ(
      job.operate("10:59:50", backfill("10:20", "10:30")),
      "erased 10:01\n10:01 to 10:20 (20) skipped paused\n10:21 waiting pause\n10:22 to 10:27 (6) skipped paused\n10:28 waiting pause\n"
      "10:29 to 10:59 (31) skipped paused\nanswer: 2 launches recorded; the job is paused: its launches are held until it is resumed\n");
  EXPECT_EQ(job.rows.all.at(at("10:21")).skipped_before(), v1::SKIP_REASON_PAUSED);
  EXPECT_EQ(job.rows.all.at(at("10:29")).zone(), "") << "and its parts are known by it as well";
  EXPECT_EQ(job.rows.all.at(at("10:29")).schedule(), "* * * * *");
  // The clock is set back. What was decided for times to come is decided anew, by the schedule of now.
  EXPECT_EQ(job.operate("10:25:30", v1::JOB_VERB_REWIND),
            "erased 10:22\nerased 10:28\nerased 10:29\n10:22 to 10:25 (4) skipped paused\n"
            "answer: set back from 2026-03-02T10:59:40Z to 2026-03-02T10:25:30Z\n");
  EXPECT_EQ(job.due("10:36"), "10:28 skipped paused\n10:35 skipped paused\n") << "the launch of 10:28 only waited";
}

TEST(JobOperator, ARowOfSkipsReachesOverNoLaunchThatABackfillPutsBetweenItsTimes) {
  job_world job;
  job.spec.set_schedule("*/2 * * * *");
  job.create("10:00");
  job.operate("10:00:30", v1::JOB_VERB_PAUSE);
  job.due("11:30");
  job.spec.set_schedule("15 * * * *");
  job.change("11:30");
  EXPECT_EQ(job.operate("11:30", backfill("10:00", "11:00")),
            "erased 10:02\n10:02 to 10:14 (7) skipped paused\n10:15 waiting pause\n10:16 to 11:30 (38) skipped paused\n"
            "answer: 1 launches recorded; the job is paused: its launches are held until it is resumed\n");
  EXPECT_EQ(job.rows.all.at(at("10:15")).skipped_before(), v1::SKIP_REASON_UNSPECIFIED) << "it was no time of the job then";
}

TEST(JobOperator, ARowOfSkipsReachesOverNoLaunchThatAnEarlierScheduleHasMadeAheadOfTheClock) {
  job_world job;
  job.spec.set_schedule("30 30 * * * *");
  job.create("11:00");
  // The clock is an hour ahead, and is set right.
  EXPECT_EQ(job.due("11:30:30"), "11:30:30 started\n");
  job.operate("10:31", v1::JOB_VERB_REWIND);
  job.spec.set_schedule("* * * * *");
  job.change("10:32");
  job.operate("10:33", v1::JOB_VERB_PAUSE);
  EXPECT_EQ(job.due("12:10"), "10:34 to 11:30 (57) skipped paused\n11:31 to 12:10 (40) skipped paused\n");
}

TEST(JobOperator, ABackfillAheadOfTheClockWaitsForItsTimesOrForARewind) {
  job_world job;
  job.create("11:00");
  job.operate("11:00:01", v1::JOB_VERB_PAUSE);
  job.due("11:20:10");
  job.operate("11:20:11", v1::JOB_VERB_RESUME);
  job.operate("11:20:12", backfill("11:05", "11:20"));
  // The clock was ahead. Nothing starts before its time,
  EXPECT_EQ(job.ended("11:01", "11:05"), "11:05 completed\n11:10 waiting time\n11:15 waiting time\n11:20 waiting time\n");
  EXPECT_EQ(job.next_look(), "11:10");
  // and what only waits is decided anew once somebody says so.
  job.operate("11:02", v1::JOB_VERB_REWIND);
  EXPECT_EQ(job.record.open_size(), 0);
  EXPECT_EQ(job.record.last().nominal_unix_ms(), at("11:05")) << "the latest that stays";
  EXPECT_EQ(job.due("11:10"), "11:10 started\n") << "11:05 has its launch";
}

TEST(JobOperator, ARowOfSkipsWhoseTimesNobodyKnowsAnyMoreIsNotTakenApart) {
  auto job = with_a_row_of_an_earlier_schedule();
  // As older releases have recorded it: only the present schedule can be tried.
  job.rows.all.begin()->second.clear_schedule();
  EXPECT_EQ(job.operate("10:59:50", backfill("10:20", "10:30")),
            "refused: the time range has times from 2026-03-02T10:01:00Z to 2026-03-02T10:59:00Z that job job skipped with a schedule or a "
            "time zone that does not exist any more");
  // The clock is set back: what was skipped stays so, and only what came after it goes.
  job.due("11:30");
  EXPECT_EQ(job.text(job.rows.all.rbegin()->second), "11:28 skipped paused");
  job.operate("10:30", v1::JOB_VERB_REWIND);
  EXPECT_EQ(job.record.mark_unix_ms(), at("10:59"));
  ASSERT_EQ(job.rows.all.size(), 1U);
  EXPECT_EQ(job.text(job.rows.all.begin()->second), "10:01 to 10:59 (59) skipped paused");
}

TEST(JobOperator, ABackfillIsRefusedWhereItMakesNoSense) {
  job_world job;
  job.spec.set_schedule("* * * * * *");
  job.create("10:00");
  EXPECT_EQ(job.operate("10:00", backfill("10:00", "10:01")),
            "refused: the time range ends at 2026-03-02T10:01:00Z, which is in the future");
  EXPECT_EQ(job.operate("10:00", backfill("09:00", "08:00")), "refused: the time range ends before it begins");
  EXPECT_EQ(job.operate("10:00", backfill("00:00", "09:00")),
            "refused: the time range has more than the 1000 times that can be launched at once");
}

TEST(JobOperator, ABackfillUntilNowMayComeFromAMachineWhoseClockIsAMomentAhead) {
  job_world job;
  job.create("10:02");
  EXPECT_EQ(job.operate("10:04:58", backfill("10:00", "10:05")), "10:00 started\nanswer: 1 launches recorded\n")
      << "10:05 has not come yet by the clock that counts";
  EXPECT_EQ(job.operate("10:04:58", backfill("10:00", "10:05:08")).substr(0, 8), "refused:");
}

TEST(JobOperator, ARunAtATimeThatNoClockShowsIsRefused) {
  job_world job;
  job.create("10:02");
  auto action = run();
  action.set_nominal_unix_ms(-1);
  const std::string why = "refused: the time of the launch is before 1970 or after the year 9999";
  EXPECT_EQ(job.operate("10:03", action), why);
  action.set_nominal_unix_ms(253'402'300'800'001);
  EXPECT_EQ(job.operate("10:03", action), why);
}

TEST(JobOperator, InputsOfLaunchesThatWaitAreBounded) {
  job_world job;
  job.create("10:02");
  job.gate.wait_for(v1::LAUNCH_WAIT_ROOM);
  auto action = run(v1::OVERLAP_POLICY_ALLOW);
  action.set_input('"' + std::string(256 * 1024 - 2, 'x') + '"');
  for (int i = 0; i < 16; ++i) EXPECT_EQ(job.operate("10:03", action).find("refused"), std::string::npos);
  EXPECT_EQ(job.operate("10:03", action), "refused: the waiting launches of job job have more than 4 MiB of inputs of their own");
  action.clear_input();
  EXPECT_EQ(job.operate("10:03", action).find("refused"), std::string::npos);
}

job_world with_three_to_fill() {
  job_world job;
  job.create("10:02");
  job.operate("10:03", backfill("09:00", "09:10"));
  return job;
}

TEST(JobOperator, APauseHoldsABackfillUntilTheJobIsResumed) {
  auto job = with_three_to_fill();
  EXPECT_EQ(job.operate("10:04", v1::JOB_VERB_PAUSE),
            "09:05 waiting pause\n09:10 waiting pause\n"
            "answer: paused: its times are skipped until it is resumed, and 2 waiting launches are held\n");
  EXPECT_EQ(job.next_look(), "10:05") << "its times are skipped on time";
  EXPECT_EQ(job.ended("10:06", "09:00"), "09:00 completed\n") << "and nothing takes its place";
  EXPECT_EQ(job.due("10:11"), "10:05 skipped paused\n10:10 skipped paused\n");
  EXPECT_EQ(job.operate("10:12", run()),
            "refused: job@2026-03-02T09:05:00Z waits until the job is resumed, and the overlap policy is skip");
  EXPECT_EQ(job.operate("10:12", run(v1::OVERLAP_POLICY_ALLOW)), "10:12:00.001 started\nanswer: started\n") << "somebody runs it by hand";
  job.ended("10:12:30", "10:12:00.001");
  EXPECT_EQ(job.operate("10:13", v1::JOB_VERB_RESUME),
            "09:05 started\n09:10 waiting overlap\n"
            "answer: resumed: 2 held launches go on, and its next time is 2026-03-02T10:15:00Z\n");
  EXPECT_EQ(job.ended("10:14", "09:05"), "09:05 completed\n09:10 started\n");
}

TEST(JobOperator, APauseThatIsDeployedHoldsAsWell) {
  auto job = with_three_to_fill();
  job.spec.set_paused(true);
  EXPECT_EQ(job.change("10:04"), "09:05 waiting pause\n09:10 waiting pause\n");
  job.spec.set_paused(false);
  job.ended("10:04:10", "09:00");
  EXPECT_EQ(job.change("10:04:20"), "09:05 started\n09:10 waiting overlap\n");
}

TEST(JobOperator, ABackfillOfAPausedJobWaitsForIt) {
  job_world job;
  job.create("10:02");
  job.operate("10:03", v1::JOB_VERB_PAUSE);
  EXPECT_EQ(job.operate("10:04", backfill("09:00", "09:00")),
            "09:00 waiting pause\nanswer: 1 launches recorded; the job is paused: its launches are held until it is resumed\n");
}

TEST(JobOperator, SkipsWhatWaitsAndNothingElse) {
  auto job = with_three_to_fill();
  job.operate("10:04", run(v1::OVERLAP_POLICY_QUEUE));
  auto action = v1::JobAction{};
  action.set_verb(v1::JOB_VERB_SKIP);
  action.set_reason("the wrong day");
  EXPECT_EQ(job.operate("10:04:30", action),
            "09:05 skipped cancelled\n09:10 skipped cancelled\n10:04:00.001 skipped cancelled\nanswer: 3 waiting launches are skipped\n");
  EXPECT_EQ(job.rows.all.at(at("09:05")).reason(), "skipped by ben: the wrong day");
  EXPECT_EQ(job.record.bad_in_a_row(), 0U) << "nobody is alarmed by what somebody asked for";
  EXPECT_EQ(job.record.skipped(), 3U);
  ASSERT_EQ(job.record.open_size(), 1) << "what runs goes on";
  EXPECT_EQ(job.ended("10:04:40", "09:00"), "09:00 completed\n");
  EXPECT_EQ(job.operate("10:04:50", v1::JOB_VERB_SKIP), "answer: the job has no waiting launch\n");
  EXPECT_EQ(job.operate("10:04:55", backfill("09:05", "09:05")), "09:05 started\nanswer: 1 launches recorded\n")
      << "and may be launched after all";
}

TEST(JobOperator, SkipsWhatAPauseHolds) {
  auto job = with_three_to_fill();
  job.operate("10:04", v1::JOB_VERB_PAUSE);
  EXPECT_EQ(job.operate("10:06", v1::JOB_VERB_SKIP),
            "09:05 skipped cancelled\n09:10 skipped cancelled\n10:05 skipped paused\nanswer: 2 waiting launches are skipped\n");
  EXPECT_EQ(job.rows.all.at(at("09:05")).reason(), "skipped by ben");
  EXPECT_EQ(job.operate("10:07", v1::JOB_VERB_RESUME), "answer: resumed: its next time is 2026-03-02T10:10:00Z\n");
}

TEST(JobOperator, PauseAndResumeTwiceAreNoError) {
  job_world job;
  job.create("10:02");
  EXPECT_EQ(job.operate("10:03", v1::JOB_VERB_RESUME), "answer: the job was not paused\n");
  job.operate("10:03", v1::JOB_VERB_PAUSE);
  EXPECT_EQ(job.operate("10:04", v1::JOB_VERB_PAUSE), "answer: the job was already paused\n");
}

}  // namespace
}  // namespace fairlead::core::testing
