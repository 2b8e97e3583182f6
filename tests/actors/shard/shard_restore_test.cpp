// A store that goes on from a backup: what stands in it afterwards, and that a Scheduler takes it up.

#include <filesystem>

#include "store/rows/alert_rows.hpp"
#include "tests/actors/shard/shard_restore_world.hpp"

namespace fairlead::testing {
namespace {

class shard_restore_test : public shard_restore_world {};

TEST_F(shard_restore_test, goes_on_under_a_later_lineage_with_numbers_that_were_never_given_out) {
  start();
  deploy();
  add_agent();
  submit("t1");
  const auto epoch = shell->epoch();
  const auto number = task("t1").number();
  time.now_ms += an_hour_ms;
  const auto report = restore();
  EXPECT_EQ(report.lineage.made_unix_ms(), time.now_ms);
  EXPECT_EQ(report.backup_unix_ms, start_ms);
  EXPECT_EQ(report.tasks, 1u);
  EXPECT_EQ(report.steps, 2u);
  open();
  start();
  EXPECT_GT(shell->epoch(), epoch + (1U << 24));
  EXPECT_GE(*store->boot(), static_cast<std::uint64_t>(start_ms / 1'000));
  EXPECT_EQ(task("t1").number(), number) << "a task keeps its number";
  submit("t2");
  EXPECT_GT(task("t2").number(), std::uint64_t{1} << 24);
  add_agent();
  ASSERT_FALSE(out.performs.empty());
  const auto& sent = out.performs.back();
  EXPECT_GT(sent.epoch, epoch);
  std::vector<std::pair<std::string, std::uint32_t>> handed_over;
  for (const auto& one : out.performs)
    if (one.epoch > epoch) handed_over.emplace_back(one.what.task_id(), one.what.attempt());
  EXPECT_EQ(handed_over, (std::vector<std::pair<std::string, std::uint32_t>>{{"t1", 4'602}, {"t2", 1}}));
}

TEST_F(shard_restore_test, of_a_store_that_nothing_was_ever_written_to_names_the_moment_when_it_was_made) {
  ASSERT_TRUE(store->claim_lineage(lineage_).ok());
  time.now_ms += an_hour_ms;
  EXPECT_EQ(restore().backup_unix_ms, start_ms);
}

TEST_F(shard_restore_test, a_clock_that_was_ahead_at_the_backup_does_not_make_it_younger_than_it_is) {
  start();
  deploy();
  const auto real_ms = time.now_ms;
  time.now_ms += 30 * 24 * an_hour_ms;
  submit("t1");
  time.now_ms = real_ms + an_hour_ms;
  shell.reset();
  const auto done = restore();
  EXPECT_LE(done.backup_unix_ms, real_ms + an_hour_ms / 4) << "retention time went on by a few minutes at most";
}

TEST_F(shard_restore_test, tells_of_itself_by_one_alert_that_is_resolved_when_it_is_acknowledged) {
  start();
  deploy();
  submit("t1");
  const auto report = restore();
  EXPECT_GT(report.alert, std::uint64_t{1} << 24);
  const auto alert = **store::load_alert(*store->read(), report.alert);
  EXPECT_EQ(alert.kind(), v1::ALERT_KIND_RESTORED);
  EXPECT_EQ(alert.sentence(),
            "the shard was restored from a backup of 2023-11-14T22:13:20.000Z: 1 tasks go on, and 2 of their steps may have been carried "
            "out since the backup; scheduled times of 0 jobs have passed");
  open();
  start();
  v1::AlertAckRequest ack;
  ack.add_numbers(report.alert);
  shell->answer(ack, 9);
  settle();
  EXPECT_EQ((*store::load_alert(*store->read(), report.alert))->state(), v1::ALERT_STATE_RESOLVED);
}

TEST_F(shard_restore_test, a_receiver_of_status_events_takes_none_of_them_for_one_that_it_has_seen) {
  start();
  deploy();
  submit("t1", "shop");
  const auto told = task("t1").status_sequence();
  ASSERT_GT(told, 0u);
  restore();
  EXPECT_EQ(task("t1").status_sequence(), told + 1'000);
  open();
  start();
  add_agent();
  finish();
  EXPECT_EQ(task("t1").state(), v1::TASK_STATE_COMPLETED);
  EXPECT_GT(task("t1").status_sequence(), told + 1'000);
  restore();
}

/// The highest numbers that a shard has given out.
struct given_out {
  std::uint64_t task = 0;
  std::uint64_t alert = 0;
  std::uint64_t position = 0;
  std::uint64_t epoch = 0;
  std::uint64_t status_sequence = 0;
  std::uint32_t attempt = 0;
};

TEST_F(shard_restore_test, restored_twice_from_one_backup_no_number_is_given_out_again) {
  start();
  deploy();
  submit("t1", "shop");
  shell.reset();
  store.reset();
  std::filesystem::copy(here / "store", here / "backup");
  const auto live = [this](std::size_t from) {
    add_agent();
    finish();
    submit("t2");
    finish();
    given_out to;
    const auto& shard = store->read()->get_progress().shard;
    to.task = task("t2").number();
    to.alert = shard.next_alert();
    to.position = shard.next_position();
    to.epoch = shell->epoch();
    to.status_sequence = task("t1").status_sequence();
    for (auto i = from; i < out.performs.size(); ++i)
      if (out.performs[i].what.task_id() == "t1") to.attempt = std::max(to.attempt, out.performs[i].what.attempt());
    return to;
  };
  open();
  time.now_ms += an_hour_ms;
  const auto first_report = restore();
  open();
  start();
  const auto first = live(0);

  shell.reset();
  store.reset();
  std::filesystem::remove_all(here / "store");
  std::filesystem::copy(here / "backup", here / "store");
  open();
  time.now_ms += 5'000;
  const auto second_report = restore();
  EXPECT_GT(second_report.alert, first.alert);
  EXPECT_GT(second_report.lineage.made_unix_ms(), first_report.lineage.made_unix_ms());
  EXPECT_GT(task("t1").status_sequence(), first.status_sequence);
  EXPECT_GT(store->read()->get_progress().shard.next_position(), first.position);
  open();
  const auto handed_over = out.performs.size();
  start();
  EXPECT_GT(shell->epoch(), first.epoch);
  const auto second = live(handed_over);
  EXPECT_GT(second.task, first.task);
  ASSERT_GT(first.attempt, 0u);
  EXPECT_GT(second.attempt, first.attempt);
  EXPECT_EQ(task("t1").state(), v1::TASK_STATE_COMPLETED);
  restore();
}

TEST_F(shard_restore_test, cut_short_no_scheduler_takes_the_store_and_begun_again_it_comes_to_its_end) {
  start();
  deploy();
  submit("t1");
  shell.reset();
  ASSERT_TRUE(store->begin_restore(time.now_ms).ok());
  EXPECT_FALSE(store->claim_lineage(lineage_).ok());
  restore();
  open();
  start();
  EXPECT_EQ(task("t1").steps(0).attempt(), 1'000u);
}

TEST_F(shard_restore_test, a_task_that_was_cancelled_by_a_write_that_may_never_have_counted_goes_on_being_undone) {
  start();
  deploy();
  submit("t1");
  submit("t2");
  const auto cancel = [this](const std::string& id) {
    time.now_ms += 1'000;
    operate(id, v1::OPERATOR_VERB_CANCEL);
  };
  cancel("t1");
  time.now_ms += 1'000;
  submit("t3");
  ASSERT_TRUE(store->begin_recovery(time.now_ms).ok());
  cancel("t2");
  time.now_ms += an_hour_ms;
  const auto report = restore();
  EXPECT_EQ(report.tasks, 2u);
  EXPECT_EQ(report.backup_unix_ms, start_ms + 2'000);
  EXPECT_EQ(task("t1").state(), v1::TASK_STATE_UNDONE);
  EXPECT_EQ(task("t2").state(), v1::TASK_STATE_UNDOING);
  EXPECT_TRUE(task("t2").steps(0).doubtful());
}

TEST_F(shard_restore_test, a_parent_knows_of_a_child_that_it_is_being_undone_again) {
  start();
  deploy(workflow_of({step("pack")}, "shipment"));
  v1::StepDefinition ship;
  ship.set_name("ship");
  ship.set_kind(v1::STEP_KIND_WORKFLOW);
  ship.set_workflow("shipment");
  deploy(workflow_of({ship}));
  submit("t1");
  ASSERT_EQ(task("t1/ship~1").state(), v1::TASK_STATE_RUNNING);
  time.now_ms += 1'000;
  ASSERT_TRUE(store->begin_recovery(time.now_ms).ok());
  time.now_ms += 1'000;
  operate("t1", v1::OPERATOR_VERB_CANCEL);
  ASSERT_EQ(task("t1/ship~1").state(), v1::TASK_STATE_UNDONE);
  ASSERT_EQ(task("t1").steps(0).child().state(), v1::TASK_STATE_UNDONE);
  time.now_ms += an_hour_ms;
  EXPECT_EQ(restore().tasks, 2u);
  EXPECT_EQ(task("t1/ship~1").state(), v1::TASK_STATE_UNDOING);
  EXPECT_EQ(task("t1").steps(0).state(), v1::STEP_STATE_IN_DOUBT);
  EXPECT_EQ(task("t1").steps(0).child().state(), v1::TASK_STATE_UNDOING);
  open();
  start();
  operate("t1", v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED, "ship");
  const auto& reply = out.operations.at(3);
  ASSERT_EQ(reply.results_size(), 1);
  EXPECT_EQ(reply.results(0).error().sentence(), "task t1/ship~1, the child of step ship, is being undone");
}

TEST_F(shard_restore_test, times_of_jobs_since_the_backup_are_skipped_and_can_be_filled_later) {
  start();
  deploy();
  apply_hourly();
  time.now_ms += 5 * an_hour_ms;
  const auto report = restore();
  EXPECT_EQ(report.jobs, 1u);
  EXPECT_NE((*store::load_alert(*store->read(), report.alert))
                ->remedy()
                .find("fairlead job backfill hourly --from 2023-11-14T23:00:00.000Z --to "),
            std::string::npos);
  open();
  start();
  due_jobs due;
  due.names.push_back("hourly");
  shell->launch_due(due);
  settle();
  std::vector<v1::SkipReason> skipped;
  (void)store::for_each_launch(*store->read(), "hourly", 0, [&](const v1::LaunchRecord& one) {
    skipped.push_back(one.skip());
    return true;
  });
  EXPECT_EQ(skipped, std::vector<v1::SkipReason>(5, v1::SKIP_REASON_RESTORED));
}

TEST_F(shard_restore_test, a_launch_that_waited_in_the_backup_may_have_been_performed_since) {
  start();
  auto only = step("a");
  only.set_in_doubt(v1::IN_DOUBT_PARK);
  deploy(workflow_of({only}));
  apply_hourly();
  const auto ask = [this](v1::JobVerb verb) {
    v1::JobOperateRequest request;
    request.add_names("hourly");
    request.mutable_action()->set_verb(verb);
    request.mutable_action()->set_who("ann");
    request.mutable_action()->set_from_unix_ms(start_ms - 2 * an_hour_ms);
    request.mutable_action()->set_to_unix_ms(start_ms);
    shell->answer(request, 4);
    settle();
  };
  ask(v1::JOB_VERB_PAUSE);
  ask(v1::JOB_VERB_BACKFILL);  // held: they wait for the job to be resumed
  time.now_ms += an_hour_ms / 60;
  restore();
  open();
  start();
  add_agent();
  ask(v1::JOB_VERB_RESUME);
  EXPECT_TRUE(task("hourly@2023-11-14T21:00:00Z").parked());
  EXPECT_TRUE(out.performs.empty()) << "somebody may have resumed the job since the backup";
}

TEST_F(shard_restore_test, or_caught_up_where_that_is_asked_for) {
  start();
  deploy();
  apply_hourly();
  time.now_ms += 5 * an_hour_ms;
  restore(true);
  open();
  start();
  due_jobs due;
  due.names.push_back("hourly");
  shell->launch_due(due);
  settle();
  EXPECT_EQ((*store::load_job(*store->read(), "hourly"))->launched(), 5u);
}

TEST_F(shard_restore_test, times_of_a_job_without_a_next_time_are_skipped_too) {
  start();
  deploy();
  apply_hourly();
  shell.reset();
  auto job = **store::load_job(*store->read(), "hourly");
  const auto before = store::index_state_of(job);
  job.set_next_unix_ms(0);  // as where its zone is unknown
  store::batch rows;
  store::put_job(rows, before, job);
  const auto progress = store->read()->get_progress();
  rows.sequence = progress.sequence + 1;
  rows.epoch = progress.epoch;
  auto counters = progress.shard;
  store::seal_counters(rows, counters);  // include store/rows/counters.hpp
  ASSERT_TRUE(store->commit({rows}).ok());
  time.now_ms += 5 * an_hour_ms;
  EXPECT_EQ(restore().jobs, 0u);
  EXPECT_EQ((**store::load_job(*store->read(), "hourly")).restored_until_unix_ms(), time.now_ms);
}

}  // namespace
}  // namespace fairlead::testing
