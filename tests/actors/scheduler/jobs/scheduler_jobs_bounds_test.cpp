// Jobs in the Scheduler where something is wrong or too much: decisions that fail, more than one turn takes, a node that stops.

#include "actors/system/time_zones.hpp"
#include "store/rows/alert_rows.hpp"
#include "tests/actors/scheduler/jobs/scheduler_jobs_world.hpp"

namespace fairlead::testing {
namespace {

/// Zones of which one is a bug.
class treacherous_zones final : public core::zone_source {
 public:
  const cctz::time_zone* find(std::string_view name) const override {
    if (armed && name == "Europe/Berlin") throw std::logic_error{"no such weather"};
    return time_zones::of_system().find(name);
  }
  bool armed = false;
};

TEST_F(scheduler_jobs_test, AJobWhoseDecisionThrowsIsPausedWithAnAlertAndTheOthersGoOn) {
  treacherous_zones zones;
  node.reset();
  node = std::make_unique<process>(store, time, out, log, scheduler_limits{}, planted_faults{}, nullptr, &zones);
  node->open();
  sweep();
  prepare();
  auto bad = job("bad");
  bad.set_zone("Europe/Berlin");
  apply(bad);
  apply(job("good"));
  zones.armed = true;
  tick(first_minute_ms);
  EXPECT_TRUE(stored("good@2023-11-14T22:14:00Z"));
  EXPECT_FALSE(record("bad").paused());
  tick(first_minute_ms + 1'000);
  EXPECT_TRUE(record("bad").paused());
  EXPECT_NE(record("bad").alert(), 0U);
  EXPECT_EQ(counts().jobs_paused(), 1U);
  EXPECT_TRUE(due_now().names.empty()) << "it is left alone";
  // Mended, it goes on from its mark.
  zones.armed = false;
  EXPECT_FALSE(operate(v1::JOB_VERB_RESUME, "bad").has_error());
  EXPECT_EQ(launches("bad")[0].skip(), v1::SKIP_REASON_PAUSED);
  finish_everything();
  tick(first_minute_ms + minute_ms);
  EXPECT_TRUE(stored("bad@2023-11-14T22:15:00Z"));
  finish_everything();
  EXPECT_EQ(record("bad").alert(), 0U);
}

class scheduler_bad_job_test : public scheduler_jobs_test {
 protected:
  /// Starts anew with zones that fail once they are armed.
  void begin(scheduler_limits limits = {}) {
    node.reset();
    node = std::make_unique<process>(store, time, out, log, limits, planted_faults{}, nullptr, &zones);
    node->open();
    sweep();
    prepare();
  }

  static v1::JobSpec bad(const std::string& schedule = "* * * * *") {
    auto spec = job("bad", schedule);
    spec.set_zone("Europe/Berlin");
    return spec;
  }

  treacherous_zones zones;
};

TEST_F(scheduler_bad_job_test, OneThatWaitsForRoomHoldsNobodyUpAndGoesOnOnceItIsResumed) {
  scheduler_limits limits;
  limits.cron.in_flight = 1;
  begin(limits);
  apply(bad());
  auto first = job("first");
  first.set_priority(5);
  apply(first);
  auto last = job("last");
  last.set_priority(-5);
  apply(last);
  tick(first_minute_ms);
  ASSERT_EQ(launches("bad").at(0).waits_for(), v1::LAUNCH_WAIT_ROOM);
  zones.armed = true;
  finish_everything();
  EXPECT_TRUE(record("bad").paused());
  EXPECT_TRUE(stored("last@2023-11-14T22:14:00Z")) << "its turn has come";
  EXPECT_EQ(counts().launches_waiting_room(), 0U);
  zones.armed = false;
  EXPECT_FALSE(operate(v1::JOB_VERB_RESUME, "bad").has_error());
  finish_everything();
  EXPECT_TRUE(stored("bad@2023-11-14T22:14:00Z"));
}

TEST_F(scheduler_bad_job_test, TheEndOfATaskThatWasToldToTheDecisionThatFailedIsNotLost) {
  begin();
  apply(bad());
  tick(first_minute_ms);
  zones.armed = true;
  finish_everything();
  ASSERT_EQ(launches("bad").at(0).state(), v1::LAUNCH_STATE_STARTED);
  tick(first_minute_ms + minute_ms);
  EXPECT_TRUE(record("bad").paused());
  EXPECT_EQ(launches("bad").at(0).state(), v1::LAUNCH_STATE_COMPLETED);
  EXPECT_EQ(record("bad").open_size(), 0);
  zones.armed = false;
  EXPECT_FALSE(operate(v1::JOB_VERB_RESUME, "bad").has_error());
  tick(first_minute_ms + 2 * minute_ms);
  EXPECT_TRUE(stored("bad@2023-11-14T22:16:00Z")) << "no launch of it is open";
}

TEST_F(scheduler_bad_job_test, OneThatStoodStillForLongCatchesUpBeforeItIsResumed) {
  begin();
  apply(bad("* * * * * *"));
  zones.armed = true;
  tick(start_ms + 1'000);
  tick(start_ms + 2'000);
  ASSERT_TRUE(record("bad").paused());
  zones.armed = false;
  time.now_ms += 60 * minute_ms;
  EXPECT_EQ(operate(v1::JOB_VERB_RESUME, "bad").error().code(), v1::ERROR_CODE_UNAVAILABLE);
  tick(time.now_ms + 1'000);
  EXPECT_FALSE(operate(v1::JOB_VERB_RESUME, "bad").has_error());
  EXPECT_FALSE(record("bad").paused());
}

TEST_F(scheduler_bad_job_test, AJobThatGetsItsNameIsNotPausedForIt) {
  begin();
  apply(bad());
  zones.armed = true;
  tick(first_minute_ms);
  zones.armed = false;
  EXPECT_FALSE(operate(v1::JOB_VERB_DELETE, "bad").has_error());
  EXPECT_TRUE(apply(bad()).created());
  tick(first_minute_ms + minute_ms);
  EXPECT_FALSE(record("bad").paused());
  EXPECT_TRUE(stored("bad@2023-11-14T22:15:00Z"));
}

TEST_F(scheduler_jobs_test, FractionsOfAStartAreNotLost) {
  scheduler_limits limits;
  limits.cron.starts_per_second = 15;
  restart(limits);
  sweep();
  prepare();
  for (int i = 0; i < 40; ++i) apply(job("job" + std::to_string(100 + i)));
  // Everything that ends is a moment at which launches are let in; here nothing does but the tenths of a second.
  for (std::int64_t ms = 0; ms <= 2'000; ms += 100) {
    tick(first_minute_ms + ms);
    EXPECT_LE(counts().launches(), 2 + static_cast<std::uint64_t>(ms) * 15 / 1'000);
  }
  EXPECT_GE(counts().launches(), 30U);
}

/// A shard of its own, one of several, with more jobs that are due at the first minute than the limits let in.
class one_shard final : public scheduler_jobs_test {
 public:
  static constexpr std::uint64_t jobs = 20;

  one_shard(std::uint32_t shard, std::uint32_t shard_count, cron_limits cron) : shard_(shard) {
    scheduler_limits limits;
    limits.shard = shard;
    limits.shard_count = shard_count;
    limits.cron = cron;
    restart(limits);
    sweep();
    auto serving = agent("n1/svc");
    serving.set_shard(shard);
    add_agent(serving);
    for (std::uint64_t i = 0; i < jobs; ++i) apply(job("job" + std::to_string(100 + i)));
  }

  std::uint64_t started_by(std::int64_t ms) {
    tick(first_minute_ms + ms);
    return counts().launches();
  }
  /// All that runs, and what starts thereupon; there are never more than so many at a time.
  void finish(std::uint64_t most) {
    for (; answered_ < out.performs.size(); ++answered_) {
      auto ended = from("n1/svc", {success(out.performs[answered_].what)});
      ended.set_shard(shard_);
      node->shell.outcomes(std::move(ended));
      node->settle();
      EXPECT_LE(in_flight(), most);
    }
  }
  std::uint64_t started() { return counts().launches(); }
  std::uint64_t in_flight() { return counts().launches_in_flight(); }

 private:
  void TestBody() override {}

  std::uint32_t shard_;
};

using parts = std::vector<std::uint64_t>;

TEST(scheduler_jobs_of_shards, HaveInFlightTogetherWhatTheClusterMay) {
  const auto in_flight = [](std::uint64_t whole) {
    parts out;
    for (std::uint32_t shard = 0; shard < 4; ++shard) {
      one_shard one{shard, 4, {whole, 0}};
      out.push_back(one.started_by(0));
      EXPECT_EQ(one.in_flight(), out.back());
      one.finish(out.back());
      EXPECT_EQ(one.started(), one_shard::jobs);
    }
    return out;
  };
  EXPECT_EQ(in_flight(10), (parts{3, 3, 2, 2}));
  EXPECT_EQ(in_flight(4), (parts{1, 1, 1, 1}));
  EXPECT_EQ(in_flight(2), (parts{1, 1, 1, 1})) << "none at all would be a standstill";
  EXPECT_EQ(in_flight(0), (parts(4, one_shard::jobs))) << "no limit";
}

TEST(scheduler_jobs_of_shards, StartTogetherAtTheRateOfTheCluster) {
  for (std::uint32_t shard = 0; shard < 4; ++shard) {
    one_shard one{shard, 4, {0, 1}};
    for (std::int64_t ms = 0; ms <= 12'000; ms += 100)
      EXPECT_EQ(one.started_by(ms), 1 + static_cast<std::uint64_t>(ms) / 4'000) << ms << " ms";
  }
}

TEST_F(scheduler_jobs_test, OneTurnIsBoundedHoweverMuchIsToBeCaughtUpWith) {
  for (int i = 0; i < 20; ++i) {
    auto spec = job("job" + std::to_string(100 + i), "* * * * * *");
    spec.set_catch_up(v1::CATCH_UP_POLICY_NONE);
    apply(spec);
  }
  tick(start_ms + 120 * minute_ms);
  EXPECT_LE(counts().launches_skipped(), 71'000U);
  for (int turn = 0; turn < 5; ++turn) tick(time.now_ms + 1);
  EXPECT_GE(record("job119").mark_unix_ms(), start_ms + 120 * minute_ms) << "the last one's turn has come";
}

TEST_F(scheduler_jobs_test, OneRequestFillsAThousandTimesHoweverManyJobsItNames) {
  v1::JobOperateRequest request;
  auto& action = *request.mutable_action();
  action.set_verb(v1::JOB_VERB_BACKFILL);
  action.set_who("ann");
  action.set_from_unix_ms(first_minute_ms - 700 * minute_ms);
  action.set_to_unix_ms(first_minute_ms - minute_ms);
  for (const auto* name : {"a", "b", "c"}) {
    apply(job(name));
    request.add_names(name);
  }
  node->shell.answer(request, next_ticket);
  node->settle();
  const auto& reply = out.job_operations.at(next_ticket++);
  EXPECT_EQ(reply.results(0).launches(), 700U);
  EXPECT_EQ(reply.results(1).launches(), 700U);
  EXPECT_EQ(reply.results(2).error().code(), v1::ERROR_CODE_OVERLOADED);
  EXPECT_TRUE(launches("c").empty());
}

TEST_F(scheduler_jobs_test, WhatWaitsForATaskThatEndsWhileTheNodeStopsIsLeftToTheNextStart) {
  auto spec = job("nightly");
  spec.set_overlap(v1::OVERLAP_POLICY_QUEUE);
  apply(spec);
  tick(first_minute_ms);
  tick(first_minute_ms + minute_ms);
  node->shell.drain();
  answer(success(out.performs.at(0).what));
  EXPECT_EQ(launches("nightly").at(0).state(), v1::LAUNCH_STATE_COMPLETED);
  EXPECT_FALSE(stored("nightly@2023-11-14T22:15:00Z"));
  restart();
  sweep();
  prepare();
  tick(first_minute_ms + minute_ms + 1'000);
  EXPECT_TRUE(stored("nightly@2023-11-14T22:15:00Z"));
  EXPECT_EQ(counts().launches_waiting_room(), 0U);
}

v1::WorkflowDefinition report_with(const std::string& schema) {
  auto out = workflow_of({::fairlead::testing::step("only")}, "report");
  out.set_input_schema_json(schema);
  return out;
}

TEST_F(scheduler_jobs_test, WhatIsLeftOfMissedTimesThatWereAcknowledgedForManyJobsRaisesNoAlert) {
  for (int i = 0; i < 25; ++i) apply(job("j" + std::to_string(i)));
  tick(first_minute_ms + 120 * minute_ms);
  std::string shared;
  for (int i = 0; i < 25; ++i) {
    const auto name = "j" + std::to_string(i);
    const auto alert = store::load_alert(*store.read(), record(name).missed_alert());
    ASSERT_TRUE(alert.ok() && *alert);
    if ((*alert)->job().empty()) shared = name;
  }
  ASSERT_FALSE(shared.empty());
  const auto missed = record(shared).missed();
  v1::AlertAckRequest seen;
  seen.add_numbers(record(shared).missed_alert());
  seen.set_who("ann");
  node->shell.answer(seen, next_ticket++);
  node->settle();
  const auto alerts = counts().next_alert();
  v1::JobOperateRequest fill;
  fill.mutable_action()->set_verb(v1::JOB_VERB_BACKFILL);
  fill.mutable_action()->set_who("ann");
  fill.mutable_action()->set_from_unix_ms(missed.first_unix_ms());
  fill.mutable_action()->set_to_unix_ms(missed.first_unix_ms());
  fill.add_names(shared);
  node->shell.answer(fill, next_ticket++);
  node->settle();
  EXPECT_EQ(record(shared).missed().count(), missed.count() - 1);
  EXPECT_EQ(counts().next_alert(), alerts);
}

TEST_F(scheduler_jobs_test, AJobWhoseNextLaunchWouldNotFitTheSchemaIsRefused) {
  deploy(report_with(R"({"type":"object","properties":{"at":{"type":"string"},"unix":{"minimum":1700000041}},"required":["at"]})"));
  const auto applied = [this](const std::string& input) {
    auto spec = job("nightly");
    spec.set_input(input);
    return apply(spec).error();
  };
  const auto refused = applied(R"({"at":1})");
  EXPECT_EQ(refused.code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_EQ(refused.sentence(),
            "job nightly, input: the input does not fit the schema of workflow report: /at: must be a string, found an integer");
  EXPECT_EQ(applied("").sentence(),
            "job nightly, input: the input does not fit the schema of workflow report: the input must be an object, found null");
  EXPECT_EQ(counts().jobs(), 0U);
  // The next launch is that of second 1700000040.
  EXPECT_EQ(applied(R"({"at":"${ .launch.nominal_utc }","unix":"${ .launch.nominal_unix_s }"})").code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_EQ(applied(R"({"at":"${ .launch.nominal_utc }"})").code(), v1::ERROR_CODE_OK);
  EXPECT_EQ(counts().jobs(), 1U);
  tick(first_minute_ms);
  EXPECT_TRUE(stored("nightly@2023-11-14T22:14:00Z"));
}

TEST_F(scheduler_jobs_test, ALaunchWhoseInputDoesNotFitAnyMoreIsSkippedWithAnAlert) {
  apply(job("nightly"));
  deploy(report_with(R"({"type":"object"})"));
  tick(first_minute_ms);
  ASSERT_EQ(launches("nightly").size(), 1U);
  EXPECT_EQ(launches("nightly")[0].state(), v1::LAUNCH_STATE_SKIPPED);
  EXPECT_EQ(launches("nightly")[0].skip(), v1::SKIP_REASON_INPUT);
  EXPECT_EQ(launches("nightly")[0].reason(),
            "the input does not fit the schema of workflow report: the input must be an object, found null");
  EXPECT_FALSE(stored("nightly@2023-11-14T22:14:00Z"));
  EXPECT_NE(record("nightly").alert(), 0U);
  deploy(report_with(R"({"type":["object","null"]})"));
  tick(first_minute_ms + minute_ms);
  EXPECT_TRUE(stored("nightly@2023-11-14T22:15:00Z")) << "the next launch goes by the version of its time";
}

TEST_F(scheduler_jobs_test, ARunWithAnInputThatDoesNotFitIsRefused) {
  apply(job("nightly"));
  deploy(report_with(R"({"properties":{"n":{"type":"integer"}}})"));
  const auto run_with = [this](const std::string& input) {
    v1::JobOperateRequest request;
    request.mutable_action()->set_verb(v1::JOB_VERB_RUN);
    request.mutable_action()->set_who("ann");
    request.mutable_action()->set_input(input);
    request.add_names("nightly");
    node->shell.answer(request, next_ticket);
    node->settle();
    return out.job_operations.at(next_ticket++).results(0);
  };
  const auto refused = run_with(R"({"n":"1"})");
  EXPECT_EQ(refused.error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_EQ(refused.error().sentence(), "the input does not fit the schema of workflow report: /n: must be an integer, found a string");
  EXPECT_TRUE(launches("nightly").empty()) << "it is not even a skip";
  EXPECT_EQ(run_with(R"({"n":1})").sentence(), "started");
}

}  // namespace
}  // namespace fairlead::testing
