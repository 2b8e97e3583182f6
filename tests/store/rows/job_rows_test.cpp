#include "store/rows/job_rows.hpp"

#include <limits>

#include "tests/store/any_store.hpp"
#include "tests/store/job_fixture.hpp"

namespace fairlead::store {
namespace {

using namespace testing;
using words = std::vector<std::string>;

template <class Kind>
struct job_rows : any_store<Kind> {
  test_shard shard{*this->it};

  template <class Write>
  void write(Write&& how) {
    auto one = shard.next();
    how(one);
    shard.expect_committed(std::move(one));
  }

  void put(const job_index_state& before, const v1::JobRecord& after) {
    write([&](batch& one) { put_job(one, before, after); });
  }

  /// Keys of a table as people read them.
  words entries(table where) {
    words out;
    EXPECT_TRUE(this->it->read()
                    ->scan(where, {}, {},
                           [&](std::string_view key, std::string_view payload) {
                             EXPECT_TRUE(where == table::job || where == table::launch || payload.empty());
                             out.push_back(keys::describe(where, key));
                             return true;
                           })
                    .ok());
    return out;
  }

  words names_after(std::string_view name, std::size_t limit = 100) {
    words out;
    const auto done = for_each_job(*this->it->read(), name, [&](const v1::JobRecord& job) {
      out.push_back(job.spec().name());
      return out.size() < limit;
    });
    EXPECT_TRUE(done.ok()) << done.failure().sentence;
    return out;
  }

  std::vector<std::int64_t> times_of(std::string_view job, std::int64_t from, std::size_t limit = 100) {
    std::vector<std::int64_t> out;
    const auto done = for_each_launch(*this->it->read(), job, from, [&](const v1::LaunchRecord& launch) {
      EXPECT_EQ(launch.job(), job);
      out.push_back(launch.nominal_unix_ms());
      return out.size() < limit;
    });
    EXPECT_TRUE(done.ok()) << done.failure().sentence;
    return out;
  }
};

TYPED_TEST_SUITE(job_rows, store_kinds);

TYPED_TEST(job_rows, of_a_job_are_read_back_as_they_were_written) {
  auto job = minutely_job("nightly");
  *job.add_open() = started_launch(60'000, 7);
  this->put({}, job);
  const auto now = this->it->read();
  const auto found = load_job(*now, "nightly");
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->SerializeAsString(), job.SerializeAsString());
  for (const auto& other : {std::string("nightl"), std::string("nightly2"), std::string(), std::string(600, 'x')}) {
    const auto none = load_job(*now, other);
    ASSERT_TRUE(none.ok()) << none.failure().sentence;
    EXPECT_FALSE(none->has_value()) << other;
  }
}

TYPED_TEST(job_rows, stand_in_the_index_at_the_moment_the_row_says) {
  auto job = minutely_job("nightly");
  this->put({}, job);
  EXPECT_EQ(this->entries(table::job_due), words{"job_due 120000 of job `nightly`"});
  auto before = index_state_of(job);
  job.set_due_indexed_unix_ms(180'000);
  this->put(before, job);
  EXPECT_EQ(this->entries(table::job_due), words{"job_due 180000 of job `nightly`"});
  before = index_state_of(job);
  job.set_due_indexed_unix_ms(0);
  this->put(before, job);
  EXPECT_EQ(this->entries(table::job_due), words{});
}

TYPED_TEST(job_rows, that_stay_where_they_are_cost_one_operation) {
  auto job = minutely_job("nightly");
  *job.add_open() = waiting_launch(60'000, v1::LAUNCH_WAIT_ROOM);
  const auto before = index_state_of(job);
  job.set_launched(9);
  batch one;
  put_job(one, before, job);
  EXPECT_EQ(one.size(), 1u);
}

TYPED_TEST(job_rows, go_over_to_another_priority_with_every_entry) {
  auto job = minutely_job("nightly", 0);
  *job.add_open() = waiting_launch(60'000, v1::LAUNCH_WAIT_ROOM);
  this->put({}, job);
  this->put({}, minutely_job("before", 3));
  const auto before = index_state_of(job);
  job.mutable_spec()->set_priority(5);
  this->put(before, job);
  EXPECT_EQ(this->entries(table::job_due), (words{"job_due 120000 of job `nightly`", "job_due 120000 of job `before`"}));
  EXPECT_EQ(this->entries(table::launch_ready), words{"launch_ready for room, 60000 of job `nightly`"});
}

TYPED_TEST(job_rows, hold_the_launches_that_could_start_and_no_others) {
  auto job = minutely_job("nightly");
  *job.add_open() = started_launch(10'000, 7);
  *job.add_open() = waiting_launch(20'000, v1::LAUNCH_WAIT_ROOM);
  *job.add_open() = waiting_launch(30'000, v1::LAUNCH_WAIT_AGENTS);
  *job.add_open() = waiting_launch(40'000, v1::LAUNCH_WAIT_TIME);
  *job.add_open() = waiting_launch(50'000, v1::LAUNCH_WAIT_OVERLAP);
  this->put({}, job);
  EXPECT_EQ(this->entries(table::launch_ready),
            (words{"launch_ready for agents, 30000 of job `nightly`", "launch_ready for room, 20000 of job `nightly`"}));
  const auto before = index_state_of(job);
  job.mutable_open(1)->set_waits_for(v1::LAUNCH_WAIT_AGENTS);
  job.mutable_open(2)->set_state(v1::LAUNCH_STATE_STARTED);
  this->put(before, job);
  EXPECT_EQ(this->entries(table::launch_ready), words{"launch_ready for agents, 20000 of job `nightly`"});
}

TYPED_TEST(job_rows, that_are_erased_leave_nothing_in_the_indexes) {
  // Of the highest priority, whose place in the order is that of a job that is not there.
  auto job = minutely_job("nightly", std::numeric_limits<std::int32_t>::max());
  *job.add_open() = waiting_launch(60'000, v1::LAUNCH_WAIT_ROOM);
  this->put({}, job);
  this->put({}, minutely_job("nightly2"));
  EXPECT_EQ(this->entries(table::launch_ready).size(), 1u);
  this->write([&](batch& one) { erase_job(one, index_state_of(job), "nightly"); });
  EXPECT_EQ(this->entries(table::job), words{"job `nightly2`"});
  EXPECT_EQ(this->entries(table::job_due), words{"job_due 120000 of job `nightly2`"});
  EXPECT_EQ(this->entries(table::launch_ready), words{});
}

TYPED_TEST(job_rows, are_walked_by_name_from_behind_another) {
  for (const auto* name : {"b", "a", "ab", "c"}) this->put({}, minutely_job(name));
  EXPECT_EQ(this->names_after(""), (words{"a", "ab", "b", "c"}));
  EXPECT_EQ(this->names_after("a"), (words{"ab", "b", "c"}));
  EXPECT_EQ(this->names_after("aa"), (words{"ab", "b", "c"}));
  EXPECT_EQ(this->names_after("", 2), (words{"a", "ab"}));
  EXPECT_EQ(this->names_after("c"), words{});
  EXPECT_EQ(this->names_after("b" + std::string(600, 'x')), words{"c"}) << "a name longer than any";
}

TYPED_TEST(job_rows, of_launches_are_walked_from_the_oldest) {
  this->write([](batch& one) {
    for (const auto at : {300'000, 60'000, 120'000}) put_launch(one, ended_launch("ab", at, v1::LAUNCH_STATE_COMPLETED));
    put_launch(one, ended_launch("a", 90'000, v1::LAUNCH_STATE_SKIPPED));
    put_launch(one, ended_launch("abc", 90'000, v1::LAUNCH_STATE_SKIPPED));
  });
  using times = std::vector<std::int64_t>;
  EXPECT_EQ(this->times_of("ab", 0), (times{60'000, 120'000, 300'000}));
  EXPECT_EQ(this->times_of("ab", std::numeric_limits<std::int64_t>::min()), (times{60'000, 120'000, 300'000}));
  EXPECT_EQ(this->times_of("ab", 120'000), (times{120'000, 300'000}));
  EXPECT_EQ(this->times_of("ab", 0, 1), (times{60'000}));
  EXPECT_EQ(this->times_of("nobody", 0), (times{}));
}

TYPED_TEST(job_rows, of_launches_are_found_by_their_time_until_they_are_erased) {
  this->write([](batch& one) { put_launch(one, ended_launch("nightly", 60'000, v1::LAUNCH_STATE_SKIPPED)); });
  const auto state = [&](std::string_view job, std::int64_t at) {
    const auto found = load_launch(*this->it->read(), job, at);
    EXPECT_TRUE(found.ok());
    return found.ok() && found->has_value() ? (*found)->state() : v1::LAUNCH_STATE_UNSPECIFIED;
  };
  EXPECT_EQ(state("nightly", 60'000), v1::LAUNCH_STATE_SKIPPED);
  EXPECT_EQ(state("nightly", 60'001), v1::LAUNCH_STATE_UNSPECIFIED);
  EXPECT_EQ(state("nightl", 60'000), v1::LAUNCH_STATE_UNSPECIFIED);
  EXPECT_EQ(state("", 60'000), v1::LAUNCH_STATE_UNSPECIFIED);
  EXPECT_EQ(state(std::string(600, 'x'), 60'000), v1::LAUNCH_STATE_UNSPECIFIED);
  this->write([](batch& one) { erase_launch(one, "nightly", 60'000); });
  EXPECT_EQ(state("nightly", 60'000), v1::LAUNCH_STATE_UNSPECIFIED);
}

TYPED_TEST(job_rows, that_are_no_jobs_or_launches_stop_the_walk_with_their_name) {
  this->put({}, minutely_job("a"));
  this->write([](batch& one) {
    one.put(table::job, keys::job(1, "torn"), "\xff");
    one.put(table::launch, keys::launch(1, "a", 60'000), "\xff");
  });
  const auto now = this->it->read();
  int seen = 0;
  const auto jobs = for_each_job(*now, "", [&](const v1::JobRecord&) { return ++seen, true; });
  ASSERT_FALSE(jobs.ok());
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(jobs.failure().code, v1::ERROR_CODE_CORRUPT);
  EXPECT_NE(jobs.failure().sentence.find("job `torn`"), std::string::npos) << jobs.failure().sentence;
  const auto launches = for_each_launch(*now, "a", 0, [&](const v1::LaunchRecord&) { return true; });
  ASSERT_FALSE(launches.ok());
  EXPECT_NE(launches.failure().sentence.find("60000 of job `a`"), std::string::npos) << launches.failure().sentence;
  EXPECT_FALSE(load_job(*now, "torn").ok());
  EXPECT_FALSE(load_launch(*now, "a", 60'000).ok());
}

TEST(job_counters, follow_a_job_with_what_waits_of_it) {
  v1::ShardState shard;
  auto job = minutely_job("nightly");
  *job.add_open() = waiting_launch(10'000, v1::LAUNCH_WAIT_ROOM);
  *job.add_open() = waiting_launch(20'000, v1::LAUNCH_WAIT_ROOM);
  *job.add_open() = waiting_launch(30'000, v1::LAUNCH_WAIT_AGENTS);
  *job.add_open() = waiting_launch(40'000, v1::LAUNCH_WAIT_OVERLAP);
  const auto first = index_state_of(job);
  move_job_counters(shard, {}, first);
  EXPECT_EQ(shard.jobs(), 1u);
  EXPECT_EQ(shard.jobs_paused(), 0u);
  EXPECT_EQ(shard.launches_waiting_room(), 2u);
  EXPECT_EQ(shard.launches_waiting_agents(), 1u);
  job.set_paused(true);
  job.mutable_open(0)->set_state(v1::LAUNCH_STATE_STARTED);
  job.mutable_open()->DeleteSubrange(2, 1);
  const auto second = index_state_of(job);
  move_job_counters(shard, first, second);
  EXPECT_EQ(shard.jobs(), 1u);
  EXPECT_EQ(shard.jobs_paused(), 1u);
  EXPECT_EQ(shard.launches_waiting_room(), 1u);
  EXPECT_EQ(shard.launches_waiting_agents(), 0u);
  move_job_counters(shard, second, {});
  EXPECT_EQ(shard.SerializeAsString(), "");
}

}  // namespace
}  // namespace fairlead::store
