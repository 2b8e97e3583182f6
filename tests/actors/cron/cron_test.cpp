#include "actors/cron/cron.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "store/memory/memory_store.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"
#include "tests/store/job_fixture.hpp"

namespace fairlead::testing {
namespace {

using names = std::vector<std::string>;

class cron_test : public ::testing::Test, public cron_outbox {
 protected:
  cron_test() { time.now_ms = 1'000'000; }

  void due(due_jobs what) override { told.push_back(std::move(what)); }

  /// The job is due then; 0: not at all.
  void set_due(const names& jobs, std::int64_t due_ms, std::int32_t priority = 0) {
    auto rows = shard.next();
    for (const auto& name : jobs) {
      const auto known = store::load_job(*kept.read(), name);
      ASSERT_TRUE(known.ok());
      auto job = *known ? **known : store::testing::minutely_job(name, priority);
      const auto before = *known ? store::index_state_of(job) : store::job_index_state{};
      job.set_due_indexed_unix_ms(due_ms);
      store::testing::store_job(shard, rows, before, job);
    }
    shard.expect_committed(std::move(rows));
  }
  /// As the Scheduler would: the entry is gone.
  void decide(const names& jobs) { set_due(jobs, 0); }

  /// When the cron looks next.
  std::int64_t scan() {
    told.clear();
    const auto next = watcher.scan();
    EXPECT_TRUE(next.ok());
    return next.ok() ? to_unix_ms(*next) : 0;
  }

  names sent() const {
    names out;
    for (const auto& one : told) out.insert(out.end(), one.names.begin(), one.names.end());
    return out;
  }
  std::size_t looks() const {
    return static_cast<std::size_t>(std::count_if(told.begin(), told.end(), [](const due_jobs& one) { return one.look; }));
  }

  static names numbered(const std::string& what, int count) {
    names out;
    for (int i = 0; i < count; ++i) out.push_back(what + std::to_string(10'000 + i));
    return out;
  }

  store::memory_store kept;
  store::testing::test_shard shard{kept};
  manual_clock time;
  std::vector<due_jobs> told;
  cron watcher{{&time, &kept, this}};
};

TEST_F(cron_test, names_a_job_at_the_very_millisecond_and_sleeps_until_then) {
  set_due({"nightly"}, 1'001'700);
  EXPECT_EQ(scan(), 1'001'000);  // never longer than a second
  time.now_ms = 1'001'000;
  EXPECT_EQ(scan(), 1'001'700);
  time.now_ms = 1'001'699;
  EXPECT_EQ(scan(), 1'001'700);
  EXPECT_EQ(sent(), names{});
  time.now_ms = 1'001'700;
  scan();
  EXPECT_EQ(sent(), names{"nightly"});
  EXPECT_TRUE(told.back().look);
}

TEST_F(cron_test, names_no_job_twice_before_a_second_has_passed) {
  set_due({"nightly"}, 999'000);
  scan();
  EXPECT_EQ(sent(), names{"nightly"});
  time.now_ms += 400;
  scan();
  EXPECT_EQ(sent(), names{});
  time.now_ms += 599;
  EXPECT_EQ(scan(), 1'001'000);
  EXPECT_EQ(sent(), names{});
  time.now_ms += 1;
  scan();
  EXPECT_EQ(sent(), names{"nightly"});
}

TEST_F(cron_test, names_a_job_again_at_once_when_another_time_of_it_has_come) {
  set_due({"catching-up"}, 999'000);
  scan();
  EXPECT_EQ(sent(), names{"catching-up"});
  set_due({"catching-up"}, 999'500);
  time.now_ms += 1;
  scan();
  EXPECT_EQ(sent(), names{"catching-up"});
}

TEST_F(cron_test, names_a_job_again_at_once_when_its_entry_was_gone_and_is_back) {
  set_due({"rewound"}, 999'000);
  scan();
  decide({"rewound"});
  time.now_ms += 1;
  scan();
  set_due({"rewound"}, 999'000);
  time.now_ms += 1;
  scan();
  EXPECT_EQ(sent(), names{"rewound"});
}

TEST_F(cron_test, names_the_earliest_first_and_of_one_moment_the_highest_priority) {
  set_due({"usual-b", "usual-a"}, 999'000, 0);
  set_due({"urgent"}, 999'000, 7);
  set_due({"idle"}, 999'000, -7);
  set_due({"earlier"}, 998'000, -100);
  scan();
  EXPECT_EQ(sent(), (names{"earlier", "urgent", "usual-a", "usual-b", "idle"}));
}

TEST_F(cron_test, sends_a_herd_in_portions_and_more_only_as_the_scheduler_gets_it_done) {
  const auto herd = numbered("j", 3'000);
  set_due(herd, 1'000'000);
  auto next = scan();
  EXPECT_EQ(next, 1'000'005);  // soon again, because there is more
  ASSERT_EQ(told.size(), 4U);
  for (const auto& one : told) EXPECT_EQ(one.names.size(), 256U);
  auto all = sent();
  EXPECT_TRUE(std::equal(all.begin(), all.end(), herd.begin()));

  time.now_ms = next;
  scan();
  EXPECT_EQ(sent(), names{}) << "the Scheduler has done nothing yet";

  decide(names(herd.begin(), herd.begin() + 300));
  time.now_ms += 5;
  scan();
  EXPECT_EQ(sent(), names(herd.begin() + 1'024, herd.begin() + 1'324));
  EXPECT_EQ(told.front().names.size(), 256U);
  all.insert(all.end(), told.front().names.begin(), told.front().names.end());
  all.insert(all.end(), told.back().names.begin(), told.back().names.end());

  std::size_t done = 300;
  for (int i = 0; i < 20 && all.size() < herd.size(); ++i) {
    decide(names(herd.begin() + static_cast<std::ptrdiff_t>(done), herd.begin() + static_cast<std::ptrdiff_t>(all.size())));
    done = all.size();
    time.now_ms += 5;
    next = scan();
    const auto more = sent();
    all.insert(all.end(), more.begin(), more.end());
    ASSERT_FALSE(more.empty());
    EXPECT_EQ(told.back().look, all.size() == herd.size()) << "only then has the index been read to its end";
  }
  EXPECT_EQ(all, herd) << "each once, in order";
}

TEST_F(cron_test, passes_over_a_herd_that_nobody_can_launch) {
  const auto stuck = numbered("broken", 1'500);
  set_due(stuck, 990'000);
  set_due({"sound"}, 999'000);
  std::set<std::string> seen;
  for (int i = 0; i < 3; ++i) {
    scan();
    for (const auto& name : sent()) seen.insert(name);
    time.now_ms += 1'000;
  }
  EXPECT_EQ(seen.count("sound"), 1U);
}

TEST_F(cron_test, finds_what_has_come_while_a_herd_was_on_its_way) {
  scan();
  const auto herd = numbered("j", 1'100);
  set_due(herd, 1'000'000);
  scan();
  EXPECT_EQ(looks(), 0U);
  decide(herd);
  set_due({"next"}, 1'000'004);
  time.now_ms += 5;
  EXPECT_EQ(scan(), time.now_ms) << "the pass is over, and the next has something to do";
  EXPECT_EQ(looks(), 1U) << "the herd has been sent, and none of its messages could say so";
  scan();
  EXPECT_EQ(sent(), names{"next"});
}

TEST_F(cron_test, names_all_that_has_passed_when_the_clock_jumps_ahead) {
  set_due({"hourly"}, 3'600'000);
  set_due({"daily"}, 86'400'000);
  EXPECT_EQ(scan(), 1'001'000);
  time.now_ms = 100'000'000;
  scan();
  EXPECT_EQ(sent(), (names{"hourly", "daily"}));
}

TEST_F(cron_test, names_nothing_ahead_of_a_clock_that_was_set_back_and_everything_when_its_time_comes_again) {
  set_due({"early"}, 900'000);
  set_due({"late"}, 999'900);
  scan();
  EXPECT_EQ(sent(), (names{"early", "late"}));
  time.now_ms = 950'000;
  const auto next = scan();
  // What was sent lies ahead of this clock, so that nobody knows how long ago that was.
  EXPECT_EQ(sent(), names{"early"});
  EXPECT_LE(next, 951'000);
  EXPECT_EQ(looks(), 1U) << "the Scheduler has to see the clock";
  time.now_ms = 999'899;
  scan();
  EXPECT_EQ(sent(), names{"early"});
  time.now_ms = 999'900;
  scan();
  EXPECT_EQ(sent(), names{"late"});
}

TEST_F(cron_test, ends_a_pass_whose_time_is_ahead_of_a_clock_that_was_set_back) {
  set_due(numbered("j", 1'100), 999'000);
  scan();
  time.now_ms = 500'000;
  EXPECT_EQ(scan(), 501'000);
  EXPECT_EQ(sent(), names{});
}

TEST_F(cron_test, has_the_scheduler_look_once_a_second_and_ten_times_while_launches_wait_for_room) {
  scan();
  EXPECT_EQ(looks(), 1U);
  EXPECT_EQ(sent(), names{});
  time.now_ms += 999;
  EXPECT_EQ(scan(), 1'001'000);
  EXPECT_EQ(looks(), 0U);
  time.now_ms += 1;
  scan();
  EXPECT_EQ(looks(), 1U);

  auto rows = shard.next();
  auto job = store::testing::minutely_job("herded");
  *job.add_open() = store::testing::waiting_launch(60'000, v1::LAUNCH_WAIT_ROOM);
  job.set_due_indexed_unix_ms(0);
  store::testing::store_job(shard, rows, {}, job);
  shard.expect_committed(std::move(rows));
  time.now_ms += 100;
  EXPECT_EQ(scan(), time.now_ms + 100);
  EXPECT_EQ(looks(), 1U);
  time.now_ms += 99;
  scan();
  EXPECT_EQ(looks(), 0U);
  time.now_ms += 1;
  scan();
  EXPECT_EQ(looks(), 1U);
}

TEST_F(cron_test, any_number_may_run_and_each_says_what_is_due) {
  set_due({"nightly"}, 999'000);
  cron other{{&time, &kept, this}};
  scan();
  ASSERT_TRUE(other.scan().ok());
  EXPECT_EQ(sent(), (names{"nightly", "nightly"}));
}

}  // namespace
}  // namespace fairlead::testing
