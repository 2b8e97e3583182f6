#include "actors/registry/answers.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

class scheduler_heartbeat_test : public scheduler_fixture {
 protected:
  scheduler_heartbeat_test() {
    auto one = step("load");
    one.set_timeout_ms(60'000);
    one.set_heartbeat_ms(3'000);
    deploy(workflow_of({one}));
    add_agent(agent("n1/svc"));
    submit(submission("t1"));
  }

  const v1::Perform& handed() const { return out.performs.back().what; }

  static v1::Heartbeat beat(const v1::Perform& of, std::uint64_t sequence = 1) {
    v1::Heartbeat out;
    out.set_task_number(of.task_number());
    out.set_step(of.step());
    out.set_direction(of.direction());
    out.set_attempt(of.attempt());
    out.set_sequence(sequence);
    return out;
  }

  void say(const v1::Heartbeat& what, const std::string& instance = "n1/svc", std::uint64_t incarnation = 1) {
    v1::HeartbeatBatch batch;
    batch.set_instance(instance);
    batch.set_incarnation(incarnation);
    *batch.add_items() = what;
    node->shell.heartbeats(std::move(batch));
  }

  bool held(const v1::Heartbeat& what, const std::string& instance = "n1/svc", std::uint64_t incarnation = 1) {
    const auto before = out.heartbeats.size();
    say(what, instance, incarnation);
    node->settle();
    EXPECT_EQ(out.heartbeats.size(), before + 1);
    EXPECT_EQ(out.heartbeats.back().first, instance);
    return out.heartbeats.back().second.held();
  }

  std::uint64_t watch(std::int64_t after_progress) {
    v1::WatchRequest what;
    what.set_id("t1");
    what.set_after_sequence(stored("t1")->history_size());
    what.set_wait_ms(20'000);
    what.set_after_progress_unix_ms(after_progress);
    node->shell.answer(what, next_ticket);
    return next_ticket++;
  }
};

TEST_F(scheduler_heartbeat_test, acknowledges_a_renewal_once_it_is_durable) {
  time.now_ms += 1'000;
  say(beat(handed(), 9));
  node->shell.flush();
  EXPECT_TRUE(out.heartbeats.empty()) << "not durable yet";
  EXPECT_EQ(stored("t1")->steps(0).heartbeat_by_unix_ms(), start_ms + 3'000);
  node->settle();
  ASSERT_EQ(out.heartbeats.size(), 1u);
  EXPECT_TRUE(out.heartbeats[0].second.held());
  EXPECT_EQ(out.heartbeats[0].second.sequence(), 9u);
  EXPECT_EQ(stored("t1")->steps(0).heartbeat_by_unix_ms(), start_ms + 4'000);
}

TEST_F(scheduler_heartbeat_test, tells_an_agent_what_it_does_not_hold) {
  add_agent(agent("n2/svc"));
  EXPECT_FALSE(held(beat(handed()), "n2/svc")) << "another instance";
  auto other = beat(handed());
  other.set_attempt(2);
  EXPECT_FALSE(held(other));
  other = beat(handed());
  other.set_step(99);
  EXPECT_FALSE(held(other));
  other = beat(handed());
  other.set_task_number(777);
  EXPECT_FALSE(held(other));
  EXPECT_EQ(stored("t1")->steps(0).heartbeat_by_unix_ms(), start_ms + 3'000) << "and nothing is renewed by that";
  answer(success(handed()));
  EXPECT_FALSE(held(beat(handed()))) << "it is over";
}

TEST_F(scheduler_heartbeat_test, the_supervisor_finds_a_renewed_lease_by_its_new_end) {
  supervisor watcher{{&time, &store, &out, &log}, std::chrono::seconds{1}};
  time.now_ms += 2'000;
  ASSERT_TRUE(held(beat(handed())));
  const auto scan = [&] {
    time.now_ms += 1'000;
    ASSERT_TRUE(watcher.scan().ok());
    for (; !out.recoveries.empty(); out.recoveries.pop_front()) node->shell.recover(out.recoveries.front());
    node->settle();
  };
  scan();  // 3 s: the entry of the first lease comes up, and moves
  EXPECT_EQ(stored("t1")->due_indexed_unix_ms(), start_ms + 5'000);
  EXPECT_EQ(stored("t1")->steps(0).state(), v1::STEP_STATE_RUNNING);
  scan();
  EXPECT_EQ(stored("t1")->steps(0).state(), v1::STEP_STATE_RUNNING);
  scan();
  EXPECT_EQ(stored("t1")->steps(0).fault().code(), "heartbeat_missed");
}

TEST_F(scheduler_heartbeat_test, makes_progress_fit_to_be_stored) {
  auto loud = beat(handed());
  loud.set_has_progress(true);
  loud.set_percent(4'000'000'000U);
  loud.set_note(std::string(500, 'x'));
  loud.set_checkpoint("{oops");
  EXPECT_TRUE(held(loud)) << "it is at work all the same";
  const auto told = stored("t1")->steps(0).progress();
  EXPECT_EQ(told.percent(), 100u);
  EXPECT_EQ(told.note(), std::string(256, 'x'));
  EXPECT_FALSE(told.has_checkpoint());
  loud.set_checkpoint("\"" + std::string(70'000, 'x') + "\"");
  EXPECT_TRUE(held(loud));
  EXPECT_FALSE(stored("t1")->steps(0).progress().has_checkpoint());
}

TEST_F(scheduler_heartbeat_test, answers_a_watch_that_waits_for_progress) {
  const auto for_events = watch(0);
  const auto for_progress = watch(1);
  auto told = beat(handed());
  told.set_has_progress(true);
  told.set_percent(40);
  told.set_note("loading pallets");
  told.set_checkpoint("7");
  time.now_ms += 500;
  ASSERT_TRUE(held(told));
  EXPECT_EQ(out.watches.count(for_events), 0u) << "nothing has happened";
  ASSERT_EQ(out.watches.count(for_progress), 1u);
  const auto& reply = out.watches.at(for_progress);
  ASSERT_EQ(reply.progress_size(), 1);
  EXPECT_EQ(reply.progress(0).step(), "load");
  EXPECT_EQ(reply.progress(0).progress().percent(), 40u);
  EXPECT_EQ(reply.progress(0).progress().note(), "loading pallets");
  EXPECT_FALSE(reply.progress(0).progress().has_checkpoint());
  const auto next = watch(reply.progress(0).progress().at_unix_ms());
  ASSERT_TRUE(held(beat(handed(), 2)));
  EXPECT_EQ(out.watches.count(next), 0u) << "only a sign of life";
  answer(success(handed()));
  ASSERT_EQ(out.watches.count(next), 1u);
  EXPECT_EQ(out.watches.at(next).progress_size(), 0) << "no attempt is out";
}

TEST_F(scheduler_heartbeat_test, a_checkpoint_outlives_the_process_and_the_next_attempt_gets_it) {
  auto told = beat(handed());
  told.set_has_progress(true);
  told.set_checkpoint("\"" + std::string(10'000, 'c') + "\"");
  ASSERT_TRUE(held(told));
  answer(failure(handed(), v1::FAULT_KIND_TRANSIENT));
  restart();
  sweep();
  add_agent(agent("n1/svc"));
  time.now_ms += 60'000;
  v1::RecoverBatch batch;
  batch.add_items()->set_task_number(stored("t1")->number());
  node->shell.recover(batch);
  node->settle();
  EXPECT_EQ(handed().attempt(), 2u);
  EXPECT_EQ(handed().checkpoint(), "\"" + std::string(10'000, 'c') + "\"");
}

// ---- agents that answer nonsense ----

TEST_F(scheduler_heartbeat_test, takes_no_outcome_of_a_process_that_does_not_hold_the_step) {
  const auto perform = handed();
  add_agent(agent("n2/svc"));
  answer(success(perform), "n2/svc");
  ASSERT_EQ(out.acks.size(), 1u);
  EXPECT_FALSE(out.acks[0].second.accepted()) << "and says so, that it may forget it";
  EXPECT_EQ(stored("t1")->steps(0).state(), v1::STEP_STATE_RUNNING);
  answer(success(perform));
  EXPECT_TRUE(out.acks.at(1).second.accepted());
  answer(success(perform));
  EXPECT_FALSE(out.acks.at(2).second.accepted()) << "said twice";
}

TEST_F(scheduler_heartbeat_test, refuses_outcomes_of_what_is_not_there) {
  auto nobody = success(handed());
  nobody.set_task_number(777);
  answer(nobody);
  auto nothing = success(handed());
  nothing.set_step(99);
  answer(nothing);
  auto later = success(handed());
  later.set_attempt(2);
  answer(later);
  auto sideways = success(handed());
  sideways.set_direction(static_cast<v1::Direction>(9));
  answer(sideways);
  ASSERT_EQ(out.acks.size(), 4u);
  for (const auto& [instance, ack] : out.acks) EXPECT_FALSE(ack.accepted());
  EXPECT_EQ(stored("t1")->steps(0).state(), v1::STEP_STATE_RUNNING);
}

TEST_F(scheduler_heartbeat_test, takes_a_fault_of_no_known_kind_for_one_that_leaves_doubt) {
  answer(failure(handed(), static_cast<v1::FaultKind>(77)));
  EXPECT_EQ(stored("t1")->steps(0).state(), v1::STEP_STATE_IN_DOUBT);
  EXPECT_EQ(stored("t1")->steps(0).fault().kind(), v1::FAULT_KIND_IN_DOUBT);
}

TEST_F(scheduler_heartbeat_test, goes_by_the_fault_where_there_is_an_output_too) {
  auto both = failure(handed(), v1::FAULT_KIND_PERMANENT);
  both.set_output(R"({"done":true})");
  both.set_verdict(v1::LOOKUP_VERDICT_DONE);
  answer(both);
  EXPECT_EQ(stored("t1")->steps(0).state(), v1::STEP_STATE_FAILED);
  EXPECT_FALSE(stored("t1")->steps(0).has_output());
}

TEST(agent_answers, numbers_stay_within_bounds) {
  v1::Outcome said;
  said.set_tries(4'000'000'000U);
  said.set_busy_ms(-5);
  said.mutable_fault()->set_retry_after_ms(-9);
  auto e = event_of(said);
  EXPECT_EQ(e.tries, 1'000'000u);
  EXPECT_EQ(e.busy_ms, 0);
  EXPECT_EQ(e.fault->retry_after_ms(), 0);
  EXPECT_EQ(e.fault->kind(), v1::FAULT_KIND_IN_DOUBT) << "no kind at all";
  said.set_busy_ms(std::numeric_limits<std::int64_t>::max());
  said.mutable_fault()->set_kind(v1::FAULT_KIND_TRANSIENT);
  said.mutable_fault()->set_retry_after_ms(std::numeric_limits<std::int64_t>::max());
  e = event_of(said);
  EXPECT_EQ(e.busy_ms, 7LL * 24 * 3'600'000);
  EXPECT_EQ(e.fault->retry_after_ms(), 24LL * 3'600'000);
  EXPECT_EQ(e.fault->kind(), v1::FAULT_KIND_TRANSIENT);
}

}  // namespace
}  // namespace fairlead::testing
