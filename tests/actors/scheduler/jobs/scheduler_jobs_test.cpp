// Jobs in the Scheduler: launches as tasks, in one batch with their records, let in by priority, room and agents.

#include <algorithm>

#include "store/rows/alert_rows.hpp"
#include "tests/actors/scheduler/jobs/scheduler_jobs_world.hpp"

namespace fairlead::testing {
namespace {

TEST_F(scheduler_jobs_test, ALaunchIsATaskNamedByItsInstant) {
  auto spec = job("nightly");
  spec.set_input(R"({"at":"${ .launch.nominal_utc }"})");
  auto* label = spec.add_labels();
  label->set_key("team");
  label->set_value("billing");
  spec.set_priority(7);
  const auto applied = apply(spec);
  EXPECT_TRUE(applied.created());
  EXPECT_EQ(applied.next_unix_ms(), first_minute_ms);
  ASSERT_EQ(out.cron_woken_ms, std::vector<std::int64_t>{first_minute_ms});
  tick(first_minute_ms);
  const auto task = stored("nightly@2023-11-14T22:14:00Z");
  ASSERT_TRUE(task);
  EXPECT_EQ(task->input().json(), R"({"at":"2023-11-14T22:14:00Z"})");
  EXPECT_EQ(task->priority(), 7);
  EXPECT_EQ(task->labels_size(), 1);
  EXPECT_EQ(task->launch().job(), "nightly");
  const auto rows = launches("nightly");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].state(), v1::LAUNCH_STATE_STARTED);
  EXPECT_EQ(rows[0].task_number(), task->number());
  EXPECT_EQ(counts().launches_in_flight(), 1U);
  EXPECT_EQ(counts().jobs(), 1U);
  finish_everything();
  EXPECT_EQ(launches("nightly")[0].state(), v1::LAUNCH_STATE_COMPLETED);
  EXPECT_EQ(record("nightly").open_size(), 0);
  EXPECT_EQ(counts().launches_in_flight(), 0U);
}

TEST_F(scheduler_jobs_test, MarkRecordAndTaskAreOneBatchWhereverTheProcessDies) {
  apply(job("nightly"));
  for (int boundary = 0; boundary < 12; ++boundary) {
    const auto at_ms = first_minute_ms + boundary * minute_ms;
    time.now_ms = at_ms;
    int passed = 0;
    node->boundary = [&] {
      if (passed++ == boundary) throw crashed{};
    };
    try {
      node->shell.launch_due(due_now());
      node->settle();
    } catch (const crashed&) {
    }
    store.crash();
    restart();
    sweep();
    prepare();
    const auto view = store.read();
    const auto name = core::launch_id("nightly", at_ms);
    const auto has_task = stored(name).has_value();
    const auto row = store::load_launch(*view, "nightly", at_ms);
    ASSERT_TRUE(row.ok());
    const auto marked = record("nightly").mark_unix_ms() >= at_ms;
    EXPECT_EQ(marked, row->has_value()) << "boundary " << boundary;
    if (*row) {
      EXPECT_EQ(has_task, (*row)->state() != v1::LAUNCH_STATE_SKIPPED) << "boundary " << boundary;
    } else {
      EXPECT_FALSE(has_task) << "boundary " << boundary;
    }
    // The new process goes on from the mark.
    tick(at_ms + 1);
    EXPECT_TRUE(stored(name));
    finish_everything();
    answered_ = out.performs.size();
    tick(at_ms + 2);
    while (record("nightly").open_size() != 0) {
      // Handed over before the crash: the new process sends it again.
      ASSERT_FALSE(out.performs.empty());
      answer(success(out.performs.back().what));
    }
  }
}

TEST_F(scheduler_jobs_test, ASpecificationThatMakesNoSenseIsRefusedWithItsField) {
  const auto refused = [&](auto&& change) {
    auto spec = job("nightly");
    change(spec);
    return apply(spec).error();
  };
  EXPECT_EQ(refused([](auto& spec) { spec.set_schedule("61 * * * *"); }).sentence().substr(0, 38),
            "job nightly, schedule, position 1: `61");
  EXPECT_NE(refused([](auto& spec) { spec.set_schedule("0 0 30 2 *"); }).sentence().find("never"), std::string::npos);
  EXPECT_NE(refused([](auto& spec) { spec.set_zone("Mars/Olympus"); }).sentence().find("Mars/Olympus"), std::string::npos);
  EXPECT_EQ(refused([](auto& spec) { spec.set_workflow("rapport"); }).code(), v1::ERROR_CODE_NOT_FOUND);
  EXPECT_NE(refused([](auto& spec) { spec.set_input("{"); }).code(), v1::ERROR_CODE_OK);
  EXPECT_EQ(counts().jobs(), 0U);
}

TEST_F(scheduler_jobs_test, AJobIsDeployedAgainChangedPausedAndDeleted) {
  apply(job("nightly"));
  EXPECT_FALSE(apply(job("nightly")).changed());
  auto spec = job("nightly");
  spec.set_notes("call Ann");
  EXPECT_TRUE(apply(spec).changed());
  EXPECT_EQ(record("nightly").revision(), 2U);
  EXPECT_FALSE(operate(v1::JOB_VERB_PAUSE, "nightly").has_error());
  EXPECT_EQ(counts().jobs_paused(), 1U);
  tick(first_minute_ms);
  EXPECT_EQ(launches("nightly")[0].skip(), v1::SKIP_REASON_PAUSED);
  EXPECT_FALSE(operate(v1::JOB_VERB_DELETE, "nightly").has_error());
  EXPECT_EQ(counts().jobs(), 0U);
  EXPECT_EQ(counts().jobs_paused(), 0U);
  EXPECT_TRUE(launches("nightly").empty());
  EXPECT_TRUE(due_now().names.empty());
  EXPECT_EQ(operate(v1::JOB_VERB_PAUSE, "nightly").error().code(), v1::ERROR_CODE_NOT_FOUND);
}

TEST_F(scheduler_jobs_test, WhoeverActsOnAnotherRevisionIsRefusedAndChangesNothing) {
  EXPECT_EQ(apply(job("nightly"), 1).error().code(), v1::ERROR_CODE_CHANGED) << "there is none";
  EXPECT_EQ(counts().jobs(), 0U);
  apply(job("nightly"));
  auto spec = job("nightly");
  spec.set_notes("call Ann");
  EXPECT_TRUE(apply(spec, 1).changed());
  spec.set_notes("call Ben");
  EXPECT_EQ(apply(spec, 1).error().code(), v1::ERROR_CODE_CHANGED);
  EXPECT_EQ(record("nightly").spec().notes(), "call Ann");
  EXPECT_EQ(operate(v1::JOB_VERB_DELETE, "nightly", 1).error().code(), v1::ERROR_CODE_CHANGED);
  EXPECT_EQ(operate(v1::JOB_VERB_PAUSE, "nightly", 1).error().code(), v1::ERROR_CODE_CHANGED);
  EXPECT_FALSE(record("nightly").paused());
  EXPECT_FALSE(operate(v1::JOB_VERB_PAUSE, "nightly", 2).has_error());
}

TEST_F(scheduler_jobs_test, AJobThatIsDeletedAndMadeAnewInOneBatchHasNothingOfTheOldOne) {
  apply(job("nightly"));
  tick(first_minute_ms);
  v1::JobOperateRequest remove;
  remove.mutable_action()->set_verb(v1::JOB_VERB_DELETE);
  remove.mutable_action()->set_who("ann");
  remove.add_names("nightly");
  node->shell.answer(remove, next_ticket++);
  EXPECT_TRUE(apply(job("nightly")).created());
  EXPECT_TRUE(launches("nightly").empty());
  EXPECT_EQ(counts().jobs(), 1U);
  // The task of the old job ends: the new one does not take it for its own.
  finish_everything();
  EXPECT_EQ(record("nightly").completed(), 0U);
  tick(first_minute_ms + minute_ms);
  EXPECT_EQ(launches("nightly").size(), 1U);
}

TEST_F(scheduler_jobs_test, AnIdThatIsTakenIsASkip) {
  apply(job("nightly"));
  submit(submission("nightly@2023-11-14T22:14:00Z", "1", "report"));
  tick(first_minute_ms);
  EXPECT_EQ(launches("nightly")[0].skip(), v1::SKIP_REASON_ID_TAKEN);
  const auto alert = store::load_alert(*store.read(), record("nightly").alert());
  ASSERT_TRUE(alert.ok() && *alert);
  EXPECT_EQ((*alert)->job(), "nightly");
}

TEST_F(scheduler_jobs_test, LaunchesOfOneSecondAreLetInByPriorityWhileThereIsRoom) {
  scheduler_limits limits;
  limits.cron.in_flight = 2;
  restart(limits);
  sweep();
  prepare();
  for (const auto& [name, priority] : std::map<std::string, int>{{"a", 0}, {"b", 5}, {"c", 9}, {"d", -3}}) {
    auto spec = job(name);
    spec.set_priority(priority);
    apply(spec);
  }
  tick(first_minute_ms);
  EXPECT_EQ(counts().launches_in_flight(), 2U);
  EXPECT_EQ(counts().launches_waiting_room(), 2U);
  const auto state = [&](const char* name) { return launches(name).at(0).state(); };
  EXPECT_EQ(state("c"), v1::LAUNCH_STATE_STARTED);
  EXPECT_EQ(state("b"), v1::LAUNCH_STATE_STARTED);
  EXPECT_EQ(state("a"), v1::LAUNCH_STATE_WAITING);
  // One ends: the next by priority takes its place.
  answer(success(out.performs.at(0).what));
  EXPECT_EQ(state("a"), v1::LAUNCH_STATE_STARTED);
  EXPECT_EQ(state("d"), v1::LAUNCH_STATE_WAITING);
  // Another start knows them all.
  restart(limits);
  sweep();
  prepare();
  EXPECT_EQ(counts().launches_in_flight(), 2U);
  answer(success(out.performs.at(1).what));
  EXPECT_EQ(state("d"), v1::LAUNCH_STATE_STARTED);
  EXPECT_EQ(counts().launches_waiting_room(), 0U);
}

TEST_F(scheduler_jobs_test, WhatAPauseHoldsLeavesTheQueueForRoomAndComesBackToItOrIsSkipped) {
  scheduler_limits limits;
  limits.cron.in_flight = 1;
  restart(limits);
  sweep();
  prepare();
  for (const auto& [name, priority] : std::map<std::string, int>{{"a", 9}, {"held", 5}, {"c", 0}}) {
    auto spec = job(name);
    spec.set_priority(priority);
    apply(spec);
  }
  tick(first_minute_ms);
  const auto state = [&](const char* name) { return launches(name).at(0).state(); };
  ASSERT_EQ(counts().launches_waiting_room(), 2U);
  operate(v1::JOB_VERB_PAUSE, "held");
  EXPECT_EQ(counts().launches_waiting_room(), 1U);
  // It had been the next.
  answer(success(out.performs.at(0).what));
  EXPECT_EQ(state("c"), v1::LAUNCH_STATE_STARTED);
  EXPECT_EQ(launches("held").at(0).waits_for(), v1::LAUNCH_WAIT_PAUSE);
  operate(v1::JOB_VERB_RESUME, "held");
  EXPECT_EQ(counts().launches_waiting_room(), 1U);
  EXPECT_EQ(operate(v1::JOB_VERB_SKIP, "held").launches(), 1U);
  EXPECT_EQ(counts().launches_waiting_room(), 0U);
  EXPECT_EQ(launches("held").at(0).skip(), v1::SKIP_REASON_CANCELLED);
  EXPECT_EQ(launches("held").at(0).reason(), "skipped by ann");
  answer(success(out.performs.at(1).what));
  EXPECT_EQ(out.performs.size(), 2U) << "nothing of it is performed";
}

TEST_F(scheduler_jobs_test, LaunchesStartAtTheConfiguredRate) {
  scheduler_limits limits;
  limits.cron.starts_per_second = 10;
  restart(limits);
  sweep();
  prepare();
  for (int i = 0; i < 25; ++i) apply(job("job" + std::to_string(100 + i)));
  std::uint64_t before = 0;
  for (std::int64_t ms = 0; ms <= 3'000; ms += 100) {
    tick(first_minute_ms + ms);
    const auto started = counts().launches();
    EXPECT_LE(started, 1 + static_cast<std::uint64_t>(ms) / 100);
    EXPECT_GE(started, before);
    before = started;
  }
  EXPECT_EQ(before, 25U);
}

TEST_F(scheduler_jobs_test, ALaunchWaitsForTheAgentsThatItNeeds) {
  auto spec = job("nightly", "14 22 * * *");
  spec.add_needs()->set_agent("svc");
  spec.mutable_needs(0)->set_slots(3);
  apply(spec);
  restart();
  sweep();
  tick(first_minute_ms);
  EXPECT_EQ(launches("nightly")[0].waits_for(), v1::LAUNCH_WAIT_AGENTS);
  EXPECT_EQ(counts().launches_waiting_agents(), 1U);
  add_agent(agent("n1/svc", 2, 2));
  tick(first_minute_ms + 1'000);
  EXPECT_EQ(launches("nightly")[0].state(), v1::LAUNCH_STATE_WAITING);
  add_agent(agent("n2/svc", 1));
  tick(first_minute_ms + 2'000);
  EXPECT_EQ(launches("nightly")[0].state(), v1::LAUNCH_STATE_STARTED);
  EXPECT_EQ(counts().launches_waiting_agents(), 0U);
}

TEST_F(scheduler_jobs_test, ALaunchThatWaitsInVainForAgentsIsOneSkip) {
  auto spec = job("nightly", "14 22 * * *");
  spec.add_needs()->set_agent("unheard-of");
  spec.mutable_needs(0)->set_slots(1);
  spec.set_start_window_ms(30'000);
  EXPECT_EQ(apply(spec).warnings_size(), 1);
  tick(first_minute_ms);
  tick(first_minute_ms + 30'000);
  ASSERT_EQ(launches("nightly").size(), 1U);
  EXPECT_EQ(launches("nightly")[0].skip(), v1::SKIP_REASON_NO_AGENTS);
  EXPECT_EQ(counts().launches_waiting_agents(), 0U);
  EXPECT_EQ(counts().launches_skipped(), 1U);
  EXPECT_FALSE(stored("nightly@2023-11-14T22:14:00Z"));
}

TEST_F(scheduler_jobs_test, ReplaceCancelsTheRunningTaskAndStartsTheNewOneWhenThatHasEnded) {
  auto only = ::fairlead::testing::step("only");
  only.mutable_undo()->set_none(true);
  deploy(workflow_of({only}, "report"));
  auto spec = job("nightly");
  spec.set_overlap(v1::OVERLAP_POLICY_REPLACE);
  EXPECT_EQ(apply(spec).warnings_size(), 0);
  tick(first_minute_ms);
  tick(first_minute_ms + minute_ms);
  EXPECT_EQ(stored("nightly@2023-11-14T22:14:00Z")->state(), v1::TASK_STATE_UNDOING);
  EXPECT_FALSE(stored("nightly@2023-11-14T22:15:00Z"));
  answer(failure(out.performs.at(0).what, v1::FAULT_KIND_PERMANENT));
  EXPECT_EQ(stored("nightly@2023-11-14T22:14:00Z")->state(), v1::TASK_STATE_UNDONE);
  EXPECT_TRUE(stored("nightly@2023-11-14T22:15:00Z"));
  EXPECT_EQ(record("nightly").alert(), 0U);
}

TEST_F(scheduler_jobs_test, ReplaceWaitsForATaskThatCannotBeUndoneAndTheDeployWarnsOfIt) {
  auto spec = job("nightly");
  spec.set_overlap(v1::OVERLAP_POLICY_REPLACE);
  EXPECT_EQ(apply(spec).warnings_size(), 1);
  tick(first_minute_ms);
  tick(first_minute_ms + minute_ms);
  EXPECT_EQ(stored("nightly@2023-11-14T22:14:00Z")->state(), v1::TASK_STATE_RUNNING);
  finish_everything();
  EXPECT_TRUE(stored("nightly@2023-11-14T22:15:00Z"));
}

TEST_F(scheduler_jobs_test, ReplaceCancelsATaskWhoseChildHasNotComeToItsPivot) {
  auto pack = ::fairlead::testing::step("pack");
  pack.mutable_undo()->set_none(true);
  auto send = ::fairlead::testing::step("send", {"pack"});
  send.set_pivot(true);
  deploy(workflow_of({pack, send}, "shipment"));
  v1::StepDefinition ship;
  ship.set_name("ship");
  ship.set_kind(v1::STEP_KIND_WORKFLOW);
  ship.set_workflow("shipment");
  deploy(workflow_of({ship}, "report"));
  auto spec = job("nightly");
  spec.set_overlap(v1::OVERLAP_POLICY_REPLACE);
  EXPECT_EQ(apply(spec).warnings_size(), 0) << "its workflow says how a child is undone";
  tick(first_minute_ms);
  tick(first_minute_ms + minute_ms);
  EXPECT_EQ(stored("nightly@2023-11-14T22:14:00Z")->state(), v1::TASK_STATE_UNDOING);
  EXPECT_EQ(stored("nightly@2023-11-14T22:14:00Z/ship~1")->state(), v1::TASK_STATE_UNDOING);
  answer(failure(out.performs.at(0).what, v1::FAULT_KIND_PERMANENT));
  EXPECT_TRUE(stored("nightly@2023-11-14T22:15:00Z"));
  // The next one has come to it.
  answer(success(out.performs.back().what));
  tick(first_minute_ms + 2 * minute_ms);
  EXPECT_EQ(stored("nightly@2023-11-14T22:15:00Z")->state(), v1::TASK_STATE_RUNNING);
  EXPECT_TRUE(stored("nightly@2023-11-14T22:15:00Z")->terminated());
}

TEST_F(scheduler_jobs_test, AJobGoesOnWhoseCompletedLaunchIsTerminatedInItsUndo) {
  auto only = ::fairlead::testing::step("only");
  only.mutable_undo()->set_call("do");
  only.mutable_undo()->set_timeout_ms(5'000);
  only.mutable_undo()->set_attempts(2);
  *only.mutable_undo()->mutable_backoff() = only.backoff();
  deploy(workflow_of({only}, "report"));
  apply(job("nightly"));
  tick(first_minute_ms);
  finish_everything();
  ASSERT_EQ(launches("nightly").at(0).state(), v1::LAUNCH_STATE_COMPLETED);
  for (const auto verb : {v1::OPERATOR_VERB_UNDO, v1::OPERATOR_VERB_TERMINATE}) {
    v1::OperateRequest request;
    request.mutable_action()->set_verb(verb);
    request.mutable_action()->set_who("ann");
    request.mutable_action()->set_at_once(verb == v1::OPERATOR_VERB_TERMINATE);
    request.add_ids("nightly@2023-11-14T22:14:00Z");
    node->shell.answer(request, next_ticket++);
    node->settle();
  }
  ASSERT_EQ(stored("nightly@2023-11-14T22:14:00Z")->state(), v1::TASK_STATE_FAILED);
  EXPECT_EQ(launches("nightly").at(0).state(), v1::LAUNCH_STATE_FAILED);
  tick(first_minute_ms + minute_ms);
  EXPECT_FALSE(record("nightly").paused());
  EXPECT_TRUE(stored("nightly@2023-11-14T22:15:00Z"));
}

TEST_F(scheduler_jobs_test, AClockBehindTheMarksRaisesAnAlertAndRewindMendsIt) {
  apply(job("a"));
  apply(job("b"));
  tick(first_minute_ms);
  finish_everything();
  tick(first_minute_ms + 60 * minute_ms);
  finish_everything();
  // The clock was wrong, and is set right.
  tick(first_minute_ms + 30'000);
  ASSERT_NE(counts().clock_alert(), 0U);
  EXPECT_EQ((*store::load_alert(*store.read(), counts().clock_alert()))->kind(), v1::ALERT_KIND_CLOCK_BEHIND);
  tick(first_minute_ms + minute_ms);
  EXPECT_FALSE(stored("a@2023-11-14T22:15:00Z"));
  v1::JobOperateRequest request;
  request.mutable_action()->set_verb(v1::JOB_VERB_REWIND);
  request.mutable_action()->set_who("ann");
  node->shell.answer(request, next_ticket);
  node->settle();
  EXPECT_EQ(out.job_operations.at(next_ticket++).results_size(), 2);
  EXPECT_EQ(counts().clock_alert(), 0U);
  tick(first_minute_ms + 2 * minute_ms);
  EXPECT_TRUE(stored("a@2023-11-14T22:16:00Z"));
  EXPECT_TRUE(stored("b@2023-11-14T22:16:00Z"));
  // What was launched ahead of its time is not launched again.
  finish_everything();
  const auto performed = out.performs.size();
  for (int minute = 3; minute <= 59; ++minute) {
    tick(first_minute_ms + minute * minute_ms);
    finish_everything();
  }
  const auto before_last = out.performs.size();
  EXPECT_EQ(before_last - performed, 2U * 57);
  tick(first_minute_ms + 60 * minute_ms);
  EXPECT_EQ(out.performs.size(), before_last);
  tick(first_minute_ms + 61 * minute_ms);
  EXPECT_EQ(out.performs.size(), before_last + 2);
}

TEST_F(scheduler_jobs_test, NobodyIsToldOfAClockBehindTheMarkOfAJobThatIsGone) {
  apply(job("gone"));
  apply(job("hourly", "0 * * * *"));
  tick(first_minute_ms + 20 * minute_ms);
  finish_everything();
  operate(v1::JOB_VERB_DELETE, "gone");
  tick(first_minute_ms);
  EXPECT_EQ(counts().clock_alert(), 0U) << "no job has been launched for a later time";
  // And once it stands, it goes with the last job that it is about.
  apply(job("short"));
  tick(first_minute_ms + 20 * minute_ms);
  finish_everything();
  tick(first_minute_ms + minute_ms);
  ASSERT_NE(counts().clock_alert(), 0U);
  operate(v1::JOB_VERB_DELETE, "short");
  tick(first_minute_ms + minute_ms + 1'000);
  EXPECT_EQ(counts().clock_alert(), 0U);
}

TEST_F(scheduler_jobs_test, ARunThatIsSentTwiceIsLaunchedOnce) {
  apply(job("nightly"));
  v1::JobOperateRequest request;
  request.mutable_action()->set_verb(v1::JOB_VERB_RUN);
  request.mutable_action()->set_who("ann");
  request.mutable_action()->set_nominal_unix_ms(start_ms + 5);
  request.add_names("nightly");
  for (int i = 0; i < 2; ++i) {
    node->shell.answer(request, next_ticket);
    node->settle();
    const auto& done = out.job_operations.at(next_ticket++).results(0);
    EXPECT_FALSE(done.has_error()) << done.error().sentence();
    EXPECT_EQ(done.launch(), "nightly@2023-11-14T22:13:20.005Z");
  }
  EXPECT_EQ(out.performs.size(), 1U);
}

TEST_F(scheduler_jobs_test, TheLogTellsOnlyOfWhatAnOperatorHasChanged) {
  const auto told = [this](const std::string& what) {
    const auto& notes = log.notes;
    return std::count(notes.begin(), notes.end(), "job nightly was " + what + " by ann");
  };
  apply(job("nightly"));
  EXPECT_EQ(operate(v1::JOB_VERB_RESUME, "nightly").sentence(), "the job was not paused");
  EXPECT_EQ(told("resumed"), 0);
  operate(v1::JOB_VERB_PAUSE, "nightly");
  EXPECT_EQ(told("paused"), 1);
  EXPECT_EQ(operate(v1::JOB_VERB_PAUSE, "nightly").sentence(), "the job was already paused");
  EXPECT_EQ(told("paused"), 1);
  operate(v1::JOB_VERB_RESUME, "nightly");
  EXPECT_EQ(told("resumed"), 1);

  v1::JobOperateRequest run;
  run.mutable_action()->set_verb(v1::JOB_VERB_RUN);
  run.mutable_action()->set_who("ann");
  run.mutable_action()->set_nominal_unix_ms(start_ms + 5);
  run.add_names("nightly");
  for (int i = 0; i < 2; ++i) {
    node->shell.answer(run, next_ticket++);
    node->settle();
    EXPECT_EQ(told("run"), 1);
  }

  v1::JobOperateRequest fill;
  fill.mutable_action()->set_verb(v1::JOB_VERB_BACKFILL);
  fill.mutable_action()->set_who("ann");
  fill.mutable_action()->set_from_unix_ms(first_minute_ms - minute_ms);
  fill.mutable_action()->set_to_unix_ms(first_minute_ms - minute_ms);
  fill.add_names("nightly");
  for (int i = 0; i < 2; ++i) {
    node->shell.answer(fill, next_ticket++);
    node->settle();
    EXPECT_EQ(told("backfilled"), 1);
  }
}

TEST_F(scheduler_jobs_test, ALaunchByHandAmongSkipsAheadOfTheClockDoesNotHideThemFromARewind) {
  apply(job("paused", "* * * * * *"));
  operate(v1::JOB_VERB_PAUSE, "paused");
  tick(start_ms + 10 * minute_ms);
  ASSERT_EQ(launches("paused").at(0).count(), 600U);
  // The clock was wrong. Before somebody rewinds the job, somebody else runs it.
  time.now_ms = start_ms + 5 * minute_ms;
  operate(v1::JOB_VERB_RUN, "paused");
  operate(v1::JOB_VERB_RUN, "paused");
  EXPECT_FALSE(operate(v1::JOB_VERB_REWIND, "paused").has_error());
  EXPECT_EQ(launches("paused").at(0).count(), 300U);
}

TEST_F(scheduler_jobs_test, NothingIsLaunchedWhileTheNodeStops) {
  apply(job("nightly"));
  node->shell.drain();
  tick(first_minute_ms);
  EXPECT_TRUE(launches("nightly").empty());
  EXPECT_LT(record("nightly").mark_unix_ms(), first_minute_ms) << "whoever comes next launches it";
}

}  // namespace
}  // namespace fairlead::testing
