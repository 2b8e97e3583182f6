#include "actors/queries/job_queries.hpp"

#include <gtest/gtest.h>

#include "actors/system/time_zones.hpp"
#include "store/memory/memory_store.hpp"
#include "tests/store/job_fixture.hpp"

namespace fairlead::testing {
namespace {

using names = std::vector<std::string>;
using moments = std::vector<std::int64_t>;
constexpr std::int64_t minute = 60'000;

class job_queries_test : public ::testing::Test {
 protected:
  template <class Change>
  void put(const std::string& name, Change&& how) {
    auto job = store::testing::minutely_job(name);
    how(job);
    auto rows = shard.next();
    store::testing::store_job(shard, rows, {}, job);
    shard.expect_committed(std::move(rows));
  }
  void put(const std::string& name) {
    put(name, [](v1::JobRecord&) {});
  }
  void put_many(const std::string& what, int count) {
    auto rows = shard.next();
    for (int i = 0; i < count; ++i)
      store::testing::store_job(shard, rows, {}, store::testing::minutely_job(what + std::to_string(10'000 + i)));
    shard.expect_committed(std::move(rows));
  }
  void put_launches(const std::vector<v1::LaunchRecord>& launches) {
    auto rows = shard.next();
    for (const auto& one : launches) store::put_launch(rows, one);
    shard.expect_committed(std::move(rows));
  }

  v1::JobListReply list(const v1::JobListRequest& what = {}) {
    auto out = list_jobs(what, *kept.read());
    EXPECT_EQ(out.error().sentence(), "");
    return out;
  }
  v1::JobShowReply show(const std::string& name, moment now, std::uint32_t coming = 0) {
    v1::JobShowRequest what;
    what.set_name(name);
    what.set_coming(coming);
    return show_job(what, *kept.read(), time_zones::of_system(), now);
  }
  v1::JobHistoryReply history(const v1::JobHistoryRequest& what) {
    auto out = job_history(what, *kept.read());
    EXPECT_EQ(out.error().sentence(), "");
    return out;
  }
  v1::JobHistoryRequest of_job(const std::string& name) {
    v1::JobHistoryRequest out;
    out.set_name(name);
    return out;
  }

  static names of(const v1::JobListReply& reply) {
    names out;
    for (const auto& one : reply.items()) out.push_back(one.name());
    return out;
  }
  static moments of(const v1::JobHistoryReply& reply) {
    moments out;
    for (const auto& one : reply.items()) out.push_back(one.launch().nominal_unix_ms() / minute);
    return out;
  }

  store::memory_store kept;
  store::testing::test_shard shard{kept};
};

TEST_F(job_queries_test, lists_jobs_by_name_page_by_page) {
  for (const auto* name : {"c", "a", "d", "b"}) put(name);
  v1::JobListRequest what;
  what.set_page_size(2);
  auto page = list(what);
  EXPECT_EQ(of(page), (names{"a", "b"}));
  EXPECT_EQ(page.after(), "b");
  what.set_after(page.after());
  page = list(what);
  EXPECT_EQ(of(page), (names{"c", "d"}));
  EXPECT_EQ(page.after(), "") << "there is no more";
}

TEST_F(job_queries_test, filters_by_workflow_labels_pause_name_and_failure) {
  put("billing-nightly", [](v1::JobRecord& job) {
    job.mutable_spec()->set_workflow("bill");
    auto* label = job.mutable_spec()->add_labels();
    label->set_key("team");
    label->set_value("billing");
  });
  put("paused", [](v1::JobRecord& job) { job.set_paused(true); });
  put("failing", [](v1::JobRecord& job) { job.set_bad_in_a_row(2); });
  const auto by = [this](auto&& how) {
    v1::JobListRequest what;
    how(what);
    return of(list(what));
  };
  EXPECT_EQ(by([](auto& what) { what.set_workflow("bill"); }), names{"billing-nightly"});
  EXPECT_EQ(by([](auto& what) { what.set_paused(true); }), names{"paused"});
  EXPECT_EQ(by([](auto& what) { what.set_paused(false); }), (names{"billing-nightly", "failing"}));
  EXPECT_EQ(by([](auto& what) { what.set_failing(true); }), names{"failing"});
  EXPECT_EQ(by([](auto& what) { what.set_name_contains("night"); }), names{"billing-nightly"});
  const auto label = [](auto& what, const char* value) {
    what.add_labels()->set_key("team");
    what.mutable_labels(0)->set_value(value);
  };
  EXPECT_EQ(by([&](auto& what) { label(what, "billing"); }), names{"billing-nightly"});
  EXPECT_EQ(by([&](auto& what) { label(what, "sales"); }), names{});
}

TEST_F(job_queries_test, counts_launches_that_wait_and_those_that_run) {
  put("busy", [](v1::JobRecord& job) {
    *job.add_open() = store::testing::started_launch(minute, 7);
    *job.add_open() = store::testing::waiting_launch(2 * minute, v1::LAUNCH_WAIT_OVERLAP);
    *job.add_open() = store::testing::waiting_launch(3 * minute, v1::LAUNCH_WAIT_AGENTS);
    job.mutable_last()->set_nominal_unix_ms(3 * minute);
  });
  const auto page = list();
  ASSERT_EQ(page.items_size(), 1);
  EXPECT_EQ(page.items(0).started(), 1U);
  EXPECT_EQ(page.items(0).waiting(), 2U);
  EXPECT_EQ(page.items(0).last().nominal_unix_ms(), 3 * minute);
}

TEST_F(job_queries_test, tells_how_many_launches_of_a_job_wait_for_an_operator_and_takes_it_for_failing) {
  auto stands = store::testing::launched_order(1, "stuck", minute);
  stands.set_parked(true);
  shard.create(stands);
  shard.create(store::testing::launched_order(2, "stuck", 2 * minute));
  shard.create(store::testing::launched_order(3, "runs", minute));
  auto alone = store::testing::launched_order(4, "elsewhere", minute);
  alone.set_paused(true);
  shard.create(alone);
  put("stuck", [](v1::JobRecord& job) {
    *job.add_open() = store::testing::started_launch(minute, 1);
    *job.add_open() = store::testing::started_launch(2 * minute, 2);
    *job.add_open() = store::testing::waiting_launch(3 * minute, v1::LAUNCH_WAIT_OVERLAP);
  });
  put("runs", [](v1::JobRecord& job) { *job.add_open() = store::testing::started_launch(minute, 3); });
  put("task-paused", [](v1::JobRecord& job) { *job.add_open() = store::testing::started_launch(minute, 4); });
  put("bad", [](v1::JobRecord& job) { job.set_bad_in_a_row(1); });
  auto page = list();
  ASSERT_EQ(of(page), (names{"bad", "runs", "stuck", "task-paused"}));
  EXPECT_EQ(page.items(1).parked(), 0U);
  EXPECT_EQ(page.items(2).parked(), 1U);
  EXPECT_EQ(page.items(2).started(), 2U);
  EXPECT_EQ(page.items(3).parked(), 0U) << "whoever paused the task knows of it";
  v1::JobListRequest failing;
  failing.set_failing(true);
  page = list(failing);
  EXPECT_EQ(of(page), (names{"bad", "stuck"}));
  EXPECT_EQ(page.items(1).parked(), 1U);

  shard.change(1, [](v1::TaskRecord& task) { task.set_parked(false); });
  EXPECT_EQ(of(list(failing)), names{"bad"}) << "an operator has seen to it";
}

TEST_F(job_queries_test, looks_up_the_tasks_of_so_many_launches_of_a_job_and_not_of_all_that_run) {
  for (std::uint64_t number = 1; number <= 20; ++number) {
    auto task = store::testing::launched_order(number, "many", static_cast<std::int64_t>(number) * minute);
    task.set_parked(true);
    shard.create(task);
  }
  put("many", [](v1::JobRecord& job) {
    // What waits is not counted among them.
    *job.add_open() = store::testing::waiting_launch(0, v1::LAUNCH_WAIT_AGENTS);
    for (std::uint64_t number = 1; number <= 20; ++number)
      *job.add_open() = store::testing::started_launch(static_cast<std::int64_t>(number) * minute, number);
  });
  const auto page = list();
  ASSERT_EQ(page.items_size(), 1);
  EXPECT_EQ(page.items(0).started(), 20U);
  EXPECT_EQ(page.items(0).parked(), 16U);
}

TEST_F(job_queries_test, looks_at_so_many_jobs_for_a_page_and_not_at_all_there_are) {
  put_many("j", 5'001);
  v1::JobListRequest what;
  what.set_name_contains("15000");  // the very last one
  auto page = list(what);
  EXPECT_EQ(of(page), names{});
  EXPECT_EQ(page.after(), "j14999");
  what.set_after(page.after());
  page = list(what);
  EXPECT_EQ(of(page), names{"j15000"});
  EXPECT_EQ(page.after(), "");
}

TEST_F(job_queries_test, shows_a_job_with_the_times_that_come_and_its_latest_launches) {
  put("m");
  std::vector<v1::LaunchRecord> launches;
  for (int i = 1; i <= 12; ++i) launches.push_back(store::testing::ended_launch("m", i * minute, v1::LAUNCH_STATE_COMPLETED));
  launches.push_back(store::testing::ended_launch("m2", 99 * minute, v1::LAUNCH_STATE_COMPLETED));
  put_launches(launches);
  const auto reply = show("m", from_unix_ms(100 * minute + 1));
  EXPECT_EQ(reply.error().sentence(), "");
  EXPECT_EQ(reply.job().spec().name(), "m");
  EXPECT_EQ((moments{reply.coming_unix_ms().begin(), reply.coming_unix_ms().end()}),
            (moments{101 * minute, 102 * minute, 103 * minute, 104 * minute, 105 * minute}));
  ASSERT_EQ(reply.latest_size(), 10);
  EXPECT_EQ(reply.latest(0).nominal_unix_ms(), 12 * minute);
  EXPECT_EQ(reply.latest(9).nominal_unix_ms(), 3 * minute);
  EXPECT_EQ(show("m", from_unix_ms(0), 1'000).coming_unix_ms_size(), 100);
}

TEST_F(job_queries_test, shows_the_times_behind_a_mark_that_is_ahead_of_the_clock) {
  put("m", [](v1::JobRecord& job) { job.set_mark_unix_ms(50 * minute); });
  EXPECT_EQ(show("m", from_unix_ms(minute), 1).coming_unix_ms(0), 51 * minute);
}

TEST_F(job_queries_test, says_that_a_job_is_not_there) {
  EXPECT_EQ(show("none", from_unix_ms(0)).error().sentence(), "there is no job none");
  EXPECT_EQ(show("", from_unix_ms(0)).error().code(), v1::ERROR_CODE_NOT_FOUND);
  EXPECT_EQ(show(std::string(1'000, 'x'), from_unix_ms(0)).error().code(), v1::ERROR_CODE_NOT_FOUND);
  EXPECT_EQ(job_history(of_job("none"), *kept.read()).error().code(), v1::ERROR_CODE_NOT_FOUND);
}

TEST_F(job_queries_test, tells_launches_newest_first_and_goes_on_where_the_page_ended) {
  put("m");
  std::vector<v1::LaunchRecord> launches;
  for (int i = 1; i <= 5; ++i) launches.push_back(store::testing::ended_launch("m", i * minute, v1::LAUNCH_STATE_COMPLETED));
  put_launches(launches);
  auto what = of_job("m");
  what.set_page_size(2);
  auto page = history(what);
  EXPECT_EQ(of(page), (moments{5, 4}));
  what.set_before_unix_ms(page.before_unix_ms());
  page = history(what);
  EXPECT_EQ(of(page), (moments{3, 2}));
  what.set_before_unix_ms(page.before_unix_ms());
  page = history(what);
  EXPECT_EQ(of(page), (moments{1}));
  EXPECT_EQ(page.before_unix_ms(), 0);

  auto stretch = of_job("m");
  stretch.set_from_unix_ms(2 * minute);
  stretch.set_to_unix_ms(4 * minute);
  EXPECT_EQ(of(history(stretch)), (moments{3, 2}));
  stretch.set_before_unix_ms(3 * minute);
  EXPECT_EQ(of(history(stretch)), (moments{2}));
}

TEST_F(job_queries_test, tells_a_run_of_skips_that_reaches_into_the_stretch) {
  put("m");
  auto run = store::testing::ended_launch("m", 2 * minute, v1::LAUNCH_STATE_SKIPPED);
  run.set_last_nominal_unix_ms(40 * minute);
  run.set_count(39);
  put_launches({store::testing::ended_launch("m", minute, v1::LAUNCH_STATE_COMPLETED), run,
                store::testing::ended_launch("m", 41 * minute, v1::LAUNCH_STATE_COMPLETED)});
  auto what = of_job("m");
  what.set_from_unix_ms(40 * minute);
  EXPECT_EQ(of(history(what)), (moments{41, 2}));
  what.set_from_unix_ms(40 * minute + 1);
  EXPECT_EQ(of(history(what)), (moments{41}));
  auto launches = of_job("m");
  launches.set_launches_only(true);
  EXPECT_EQ(of(history(launches)), (moments{41, 1}));
}

TEST_F(job_queries_test, looks_at_so_many_skips_for_a_page_and_not_at_all_there_are) {
  put("m");
  std::vector<v1::LaunchRecord> launches{store::testing::ended_launch("m", minute, v1::LAUNCH_STATE_COMPLETED)};
  for (int i = 2; i <= 5'001; ++i) launches.push_back(store::testing::ended_launch("m", i * minute, v1::LAUNCH_STATE_SKIPPED));
  put_launches(launches);
  auto what = of_job("m");
  what.set_launches_only(true);
  auto page = history(what);
  EXPECT_EQ(of(page), moments{});
  EXPECT_EQ(page.before_unix_ms(), 2 * minute);
  what.set_before_unix_ms(page.before_unix_ms());
  EXPECT_EQ(of(history(what)), (moments{1}));
}

TEST_F(job_queries_test, tells_the_state_that_a_task_has_now_and_of_an_archived_one_what_its_row_says) {
  put("m");
  auto task = store::testing::launched_order(1, "m", minute);
  task.set_parked(true);
  shard.create(task);
  auto running = store::testing::ended_launch("m", minute, v1::LAUNCH_STATE_STARTED);
  running.set_task_number(1);
  auto archived = store::testing::ended_launch("m", 2 * minute, v1::LAUNCH_STATE_UNDONE);
  archived.set_task_number(77);
  put_launches({running, archived, store::testing::ended_launch("m", 3 * minute, v1::LAUNCH_STATE_SKIPPED)});
  const auto page = history(of_job("m"));
  ASSERT_EQ(page.items_size(), 3);
  EXPECT_EQ(page.items(0).task_state(), v1::TASK_STATE_UNSPECIFIED);
  EXPECT_EQ(page.items(0).id(), "m@1970-01-01T00:03:00Z");
  EXPECT_EQ(page.items(1).task_state(), v1::TASK_STATE_UNDONE);
  EXPECT_FALSE(page.items(1).parked());
  EXPECT_EQ(page.items(2).task_state(), v1::TASK_STATE_RUNNING);
  EXPECT_TRUE(page.items(2).parked());
}

}  // namespace
}  // namespace fairlead::testing
