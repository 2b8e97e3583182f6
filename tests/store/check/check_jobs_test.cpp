// Jobs and launches: sound ones are found sound, each kind of planted damage is found and named.

#include "messages/api.pb.h"
#include "store/rows/alert_rows.hpp"
#include "tests/store/check/check_fixture.hpp"
#include "tests/store/job_fixture.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

/// Beside the tasks: `nightly` with a task that runs (7), launches that wait for room, agents, their time and one another, one that completed and
/// a run of skips; `hourly`, which is paused and names an alert.
struct checked_jobs : checked_store {
  v1::JobRecord nightly = minutely_job("nightly", 5);
  v1::JobRecord hourly = minutely_job("hourly");

  void SetUp() override {
    checked_store::SetUp();
    shard.create(launched_order(7, "nightly", 30'000));
    *nightly.add_open() = started_launch(30'000, 7);
    *nightly.add_open() = waiting_launch(40'000, v1::LAUNCH_WAIT_ROOM);
    *nightly.add_open() = waiting_launch(45'000, v1::LAUNCH_WAIT_AGENTS);
    nightly.mutable_open(2)->set_start_by_unix_ms(125'000);
    *nightly.add_open() = waiting_launch(50'000, v1::LAUNCH_WAIT_OVERLAP);
    *nightly.add_open() = waiting_launch(60'000, v1::LAUNCH_WAIT_TIME);
    nightly.mutable_open(4)->set_start_at_unix_ms(121'000);
    nightly.set_kept_launches(7);
    hourly.set_paused(true);
    hourly.set_alert(1);
    v1::AlertRecord alert;
    alert.set_number(1);
    alert.set_state(v1::ALERT_STATE_OPEN);
    alert.set_job("hourly");
    plant([&](batch& one) {
      for (const auto& launch : nightly.open()) put_launch(one, row_of("nightly", launch));
      put_launch(one, ended_launch("nightly", 20'000, v1::LAUNCH_STATE_COMPLETED));
      auto run = ended_launch("nightly", 10'000, v1::LAUNCH_STATE_SKIPPED);
      run.set_last_nominal_unix_ms(19'000);
      run.set_count(10);
      put_launch(one, run);
      store_job(shard, one, {}, nightly);
      store_job(shard, one, {}, hourly);
      put_alert(one, alert);
      shard.state().set_next_alert(1);
      shard.state().set_unresolved_alerts(1);
    });
  }

  /// Writes a changed row of `nightly` and nothing else.
  template <class Change>
  void plant_job(Change&& change) {
    auto record = nightly;
    change(record);
    plant([&](batch& one) { one.put(table::job, keys::job(1, "nightly"), record.SerializeAsString()); });
  }

  template <class Change>
  void plant_launch(std::int64_t nominal, Change&& change) {
    auto record = **load_launch(*it.read(), "nightly", nominal);
    change(record);
    plant([&](batch& one) { one.put(table::launch, keys::launch(1, "nightly", nominal), record.SerializeAsString()); });
  }
};

TEST_F(checked_jobs, are_found_sound) {
  const auto found = report();
  EXPECT_TRUE(found.clean()) << found.findings.front();
}

TEST_F(checked_jobs, damaged_values) {
  const std::pair<table, std::string> values[] = {
      {table::job, keys::job(1, "nightly")},
      {table::job_due, keys::job_due(1, 120'000, launch_order(5), "nightly")},
      {table::launch, keys::launch(1, "nightly", 20'000)},
      {table::launch_ready, keys::launch_ready(1, ready_for::room, launch_order(5), 40'000, "nightly")},
  };
  for (const auto& [where, key] : values) {
    ASSERT_TRUE(it.damage(where, key)) << keys::describe(where, key);
    expect_found(table_name(where), keys::describe(where, key), "checksum");
    ASSERT_TRUE(it.damage(where, key));  // the same bit turned back
    plant([&, &where = where](batch& one) { one.put(where, "\xff\xff", ""); });
    expect_found(table_name(where), "0xffff", "the key is none");
    plant([&, &where = where](batch& one) { one.erase(where, "\xff\xff"); });
  }
  EXPECT_TRUE(report().clean());
}

TEST_F(checked_jobs, values_that_do_not_parse) {
  plant([](batch& one) {
    one.put(table::launch, keys::launch(1, "nightly", 20'000), "\xff");
    one.put(table::job, keys::job(1, "hourly"), "\xff");
    one.put(table::job_due, keys::job_due(1, 120'000, launch_order(5), "nightly"), "x");
    one.put(table::launch_ready, keys::launch_ready(1, ready_for::room, launch_order(5), 40'000, "nightly"), "xy");
  });
  expect_found("launch", "launch 20000 of job `nightly`", "does not parse");
  expect_found("job", "job `hourly`", "does not parse");
  expect_found("job_due", "120000 of job `nightly`", "1 bytes");
  expect_found("launch_ready", "for room, 40000 of job `nightly`", "2 bytes");
}

TEST_F(checked_jobs, rows_under_another_name_or_time) {
  plant([&](batch& one) {
    one.put(table::job, keys::job(1, "other"), nightly.SerializeAsString());
    one.put(table::launch, keys::launch(1, "nightly", 21'000),
            ended_launch("nightly", 22'000, v1::LAUNCH_STATE_COMPLETED).SerializeAsString());
    one.put(table::launch, keys::launch(1, "nightly", 23'000),
            ended_launch("hourly", 23'000, v1::LAUNCH_STATE_COMPLETED).SerializeAsString());
  });
  expect_found("job", "job `other`", "says it is job `nightly`");
  expect_found("launch", "launch 21000 of job `nightly`", "says it is 22000 of job `nightly`");
  expect_found("launch", "launch 23000 of job `nightly`", "says it is 23000 of job `hourly`");
}

TEST_F(checked_jobs, an_index_entry_that_is_missing) {
  const std::pair<table, std::string> entries[] = {
      {table::job_due, keys::job_due(1, 120'000, launch_order(5), "nightly")},
      {table::launch_ready, keys::launch_ready(1, ready_for::room, launch_order(5), 40'000, "nightly")},
      {table::launch_ready, keys::launch_ready(1, ready_for::agents, launch_order(5), 45'000, "nightly")},
  };
  for (const auto& [where, key] : entries) {
    plant([&, &where = where, &key = key](batch& one) { one.erase(where, key); });
    expect_found("job", "job `nightly`", "lacks its entry " + keys::describe(where, key) + " in table " + table_name(where));
    plant([&, &where = where, &key = key](batch& one) { one.put(where, key, ""); });
  }
  EXPECT_TRUE(report().clean());
}

TEST_F(checked_jobs, an_index_entry_too_many) {
  const std::pair<table, std::string> entries[] = {
      {table::job_due, keys::job_due(1, 119'000, launch_order(5), "nightly")},
      {table::job_due, keys::job_due(1, 120'000, launch_order(0), "nightly")},
      {table::launch_ready, keys::launch_ready(1, ready_for::agents, launch_order(5), 40'000, "nightly")},
      {table::launch_ready, keys::launch_ready(1, ready_for::room, launch_order(0), 40'000, "nightly")},
      {table::launch_ready, keys::launch_ready(1, ready_for::room, launch_order(5), 50'000, "nightly")},
  };
  for (const auto& [where, key] : entries) {
    plant([&, &where = where, &key = key](batch& one) { one.put(where, key, ""); });
    expect_found(table_name(where), keys::describe(where, key), "does not say so");
    EXPECT_EQ(report().findings.size(), 1u);
    plant([&, &where = where, &key = key](batch& one) { one.erase(where, key); });
  }
  plant([](batch& one) {
    one.put(table::job_due, keys::job_due(1, 1, 1, "ghost"), "");
    one.put(table::launch_ready, keys::launch_ready(1, ready_for::room, 1, 1, "ghost"), "");
  });
  expect_found("job_due", "1 of job `ghost`", "no such job");
  expect_found("launch_ready", "1 of job `ghost`", "no such job");
}

TEST_F(checked_jobs, a_wake_up_that_is_lost_or_comes_too_late) {
  plant_job([](v1::JobRecord& job) { job.set_due_indexed_unix_ms(0); });
  expect_found("job", "job `nightly`", "never due, but its next time comes at 120000");
  plant_job([](v1::JobRecord& job) { job.set_next_unix_ms(119'000); });
  expect_found("job", "job `nightly`", "due at 120000, but its next time comes at 119000");
  plant_job([](v1::JobRecord& job) { job.mutable_open(2)->set_start_by_unix_ms(119'000); });
  expect_found("job", "job `nightly`", "the end of the start window of its launch of 45000 comes at 119000");
  plant_job([](v1::JobRecord& job) { job.mutable_open(4)->set_start_at_unix_ms(119'000); });
  expect_found("job", "job `nightly`", "the start of its launch of 60000 comes at 119000");
}

TEST_F(checked_jobs, a_launch_that_waits_for_nobody) {
  plant_job([](v1::JobRecord& job) {
    const auto queued = job.open(3);
    job.clear_open();
    *job.add_open() = queued;
  });
  expect_found("job", "job `nightly`", "its launch of 50000 waits for an earlier one, and none is open");
  plant_job([](v1::JobRecord& job) { job.mutable_open(3)->set_waits_for(v1::LAUNCH_WAIT_PAUSE); });
  expect_found("job", "job `nightly`", "its launch of 50000 waits until the job is resumed, and it is not paused");
}

TEST_F(checked_jobs, a_mark_beyond_all_marks_or_behind_the_next_time) {
  plant_job([](v1::JobRecord& job) { job.set_decided_until_unix_ms(59'000); });
  expect_found("job", "job `nightly`", "its mark is later than any mark");
  plant_job([](v1::JobRecord& job) { job.set_next_unix_ms(60'000); });
  expect_found("job", "job `nightly`", "its next time is not after its mark");
}

TEST_F(checked_jobs, open_launches_out_of_order_or_in_no_open_state) {
  plant_job([](v1::JobRecord& job) { job.mutable_open()->SwapElements(1, 2); });
  expect_found("job", "job `nightly`", "its launch of 40000 is after a later one");
  plant_job([](v1::JobRecord& job) { *job.mutable_open(2) = job.open(1); });
  expect_found("job", "job `nightly`", "its launch of 40000 is after a later one");
  plant_job([](v1::JobRecord& job) { job.mutable_open(1)->set_state(v1::LAUNCH_STATE_SKIPPED); });
  expect_found("job", "job `nightly`", "its launch of 40000 is held as open and is neither waiting nor started");
}

TEST_F(checked_jobs, an_open_launch_that_is_not_or_differs_in_table_launch) {
  plant_launch(40'000, [](v1::LaunchRecord& row) { row.set_state(v1::LAUNCH_STATE_STARTED); });
  expect_found("job", "job `nightly`", "its launch of 40000 is in another state in table launch");
  plant_launch(45'000, [](v1::LaunchRecord& row) { row.set_waits_for(v1::LAUNCH_WAIT_ROOM); });
  expect_found("job", "job `nightly`", "its launch of 45000 is in another state in table launch");
  plant_launch(30'000, [](v1::LaunchRecord& row) { row.set_task_number(6); });
  expect_found("job", "job `nightly`", "its launch of 30000 is task 7, in table launch it is task 6");
  plant([](batch& one) { erase_launch(one, "nightly", 50'000); });
  expect_found("job", "job `nightly`", "its launch of 50000 is not in table launch");
}

TEST_F(checked_jobs, a_started_launch_whose_task_is_missing_or_is_none_of_it) {
  const auto becomes = [&](std::uint64_t number) {
    plant_job([&](v1::JobRecord& job) { job.mutable_open(0)->set_task_number(number); });
    plant_launch(30'000, [&](v1::LaunchRecord& row) { row.set_task_number(number); });
  };
  becomes(77);
  expect_found("job", "job `nightly`", "its launch of 30000 is task 77, which is not there");
  becomes(1);
  expect_found("job", "job `nightly`", "its launch of 30000 is task 1, which is no task of it");
  becomes(7);
  EXPECT_TRUE(report().clean());
  plant_row(7, [](v1::TaskRecord& task) { task.mutable_launch()->set_nominal_unix_ms(31'000); });
  expect_found("job", "job `nightly`", "its launch of 30000 is task 7, which is no task of it");
}

TEST_F(checked_jobs, a_launch_without_a_job_or_that_its_job_does_not_hold) {
  plant([](batch& one) {
    put_launch(one, ended_launch("ghost", 20'000, v1::LAUNCH_STATE_COMPLETED));
    put_launch(one, row_of("nightly", waiting_launch(55'000, v1::LAUNCH_WAIT_ROOM)));
    put_launch(one, row_of("hourly", started_launch(55'000, 7)));
  });
  expect_found("launch", "launch 20000 of job `ghost`", "there is no such job");
  expect_found("launch", "launch 55000 of job `nightly`", "it is open, and its job does not hold it");
  expect_found("launch", "launch 55000 of job `hourly`", "it is open, and its job does not hold it");
}

TEST_F(checked_jobs, a_launch_that_is_neither_a_launch_nor_a_skip) {
  plant_launch(20'000, [](v1::LaunchRecord& row) { row.set_state(v1::LAUNCH_STATE_UNSPECIFIED); });
  expect_found("launch", "launch 20000 of job `nightly`", "no known state");
  plant_launch(20'000, [](v1::LaunchRecord& row) {
    row.set_state(v1::LAUNCH_STATE_COMPLETED);
    row.set_skip(v1::SKIP_REASON_PAUSED);
  });
  expect_found("launch", "launch 20000 of job `nightly`", "a reason to be skipped and is not");
  plant_launch(20'000, [](v1::LaunchRecord& row) {
    row.set_state(v1::LAUNCH_STATE_SKIPPED);
    row.clear_skip();
  });
  expect_found("launch", "launch 20000 of job `nightly`", "skipped for no reason");
}

TEST_F(checked_jobs, a_run_of_skips_that_is_none) {
  plant_launch(10'000, [](v1::LaunchRecord& row) { row.set_last_nominal_unix_ms(9'000); });
  expect_found("launch", "launch 10000 of job `nightly`", "no run of skips: 10 up to 9000");
  plant_launch(10'000, [](v1::LaunchRecord& row) {
    row.set_last_nominal_unix_ms(19'000);
    row.set_count(0);
  });
  expect_found("launch", "launch 10000 of job `nightly`", "no run of skips: 0 up to 19000");
  plant_launch(20'000, [](v1::LaunchRecord& row) {
    row.set_last_nominal_unix_ms(29'000);
    row.set_count(3);
  });
  expect_found("launch", "launch 20000 of job `nightly`", "no run of skips: 3 up to 29000");
}

TEST_F(checked_jobs, records_of_launches_that_are_miscounted) {
  plant([](batch& one) {
    erase_launch(one, "nightly", 20'000);
    put_launch(one, ended_launch("hourly", 20'000, v1::LAUNCH_STATE_UNDONE));
  });
  expect_found("job", "job `nightly`", "7 records of launches, counted were 6");
  expect_found("job", "job `hourly`", "0 records of launches, counted were 1");
}

TEST_F(checked_jobs, a_job_that_names_an_alert_that_is_none_of_its_own) {
  plant_job([](v1::JobRecord& job) { job.set_alert(1); });
  expect_found("job", "job `nightly`", "alert 1, which is about another job");
  plant_job([](v1::JobRecord& job) { job.set_alert(77); });
  expect_found("job", "job `nightly`", "alert 77, which is not in table alert");
  plant([](batch& one) {
    v1::AlertRecord resolved;
    resolved.set_number(1);
    resolved.set_state(v1::ALERT_STATE_RESOLVED);
    resolved.set_job("hourly");
    put_alert(one, resolved);
  });
  expect_found("job", "job `hourly`", "alert 1, which is resolved");
}

TEST_F(checked_jobs, counters_that_do_not_count) {
  auto& state = shard.state();
  state.set_jobs(77);
  state.set_jobs_paused(78);
  state.set_launches_in_flight(79);
  state.set_launches_waiting_room(80);
  state.set_launches_waiting_agents(81);
  state.set_latest_mark_unix_ms(59'000);
  plant([](batch&) {});
  expect_found("meta", "progress", "the counter jobs is 77, counted were 2");
  expect_found("meta", "progress", "the counter jobs_paused is 78, counted were 1");
  expect_found("meta", "progress", "the counter launches_in_flight is 79, counted were 1");
  expect_found("meta", "progress", "the counter launches_waiting_room is 80, counted were 1");
  expect_found("meta", "progress", "the counter launches_waiting_agents is 81, counted were 1");
  expect_found("meta", "progress", "the latest mark is 59000, but a job has 60000");
}

TEST_F(checked_jobs, counters_that_a_release_without_jobs_passed_on_are_no_finding) {
  auto one = shard.next();
  auto state = shard.state();
  state.set_launches_in_flight(79);
  state.set_counted_sequence(one.sequence);
  one.shard_state = state.SerializeAsString();
  ASSERT_TRUE(it.commit({one}).ok());
  EXPECT_TRUE(report().clean());
}

}  // namespace
}  // namespace fairlead::store
