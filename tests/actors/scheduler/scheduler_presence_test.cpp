// Agents that register, go away and come back, and what a Scheduler makes of messages that are not for it.

#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

class scheduler_presence_test : public scheduler_fixture {
 protected:
  scheduler_presence_test() { deploy(workflow_of({step("a")})); }

  v1::AgentWelcome add(const v1::RegisterAgent& what, bool reconnected = false) {
    const auto welcome = node->shell.add_agent(what, reconnected);
    node->settle();
    return welcome;
  }
  static v1::RegisterAgent part(std::uint32_t capacity, std::uint64_t revision) {
    auto out = agent("n1/svc", capacity);
    out.set_revision(revision);
    return out;
  }
  void away() {
    node->shell.agent_away("n1/svc", 1, "the connection to its node is lost");
    node->settle();
  }
  std::uint64_t misdirected() { return status().traffic().misdirected(); }
};

TEST_F(scheduler_presence_test, takes_up_what_was_out_though_the_clock_has_been_set_back_before_its_start) {
  add(agent("n1/svc"));
  submit(submission("t1"));
  ASSERT_EQ(out.performs.size(), 1u);
  time.now_ms -= 6 * 3'600'000;
  restart();
  sweep();
  add(agent("n1/svc"));
  ASSERT_EQ(out.performs.size(), 2u) << "by the clock of now its lease is far away, and nobody else would send it again";
  EXPECT_EQ(out.performs[1].what.attempt(), 1u);
  EXPECT_EQ(status().resumed_tasks(), 1u);
}

TEST_F(scheduler_presence_test, sends_nothing_again_whose_outcome_has_come_meanwhile) {
  add(agent("n1/svc"));
  submit(submission("t1"));
  ASSERT_EQ(out.performs.size(), 1u);
  node->shell.add_agent(agent("n1/svc"), true);  // it reconnects, and what it holds is to be sent again
  node->shell.outcomes(from("n1/svc", {success(out.performs[0].what)}));
  node->settle();
  EXPECT_EQ(out.performs.size(), 1u);
  EXPECT_EQ(stored("t1")->state(), v1::TASK_STATE_COMPLETED);
}

TEST_F(scheduler_presence_test, sends_what_an_instance_holds_again_when_it_has_been_away) {
  add(agent("n1/svc"));
  submit(submission("t1"));
  ASSERT_EQ(out.performs.size(), 1u);
  away();
  EXPECT_TRUE(status().agents(0).away());
  submit(submission("t2"));
  EXPECT_EQ(out.performs.size(), 1u) << "it gets no steps";
  EXPECT_EQ(stored("t1")->steps(0).state(), v1::STEP_STATE_RUNNING) << "the loss of a connection proves nothing";
  EXPECT_EQ(status().agents(0).held(), 1u);

  const auto welcome = add(agent("n1/svc"));
  EXPECT_EQ(welcome.error().code(), v1::ERROR_CODE_OK) << welcome.error().sentence();
  EXPECT_FALSE(status().agents(0).away());
  ASSERT_EQ(out.performs.size(), 3u);
  EXPECT_EQ(out.performs[1].what.task_id(), "t1");
  EXPECT_EQ(out.performs[1].what.attempt(), 1u) << "the same attempt";
  EXPECT_EQ(out.performs[1].what.complete_by_unix_ms(), out.performs[0].what.complete_by_unix_ms());
  EXPECT_EQ(out.performs[2].what.task_id(), "t2");
  EXPECT_EQ(status().agents(0).held(), 2u) << "counted once";
  answer(success(out.performs[1].what));
  answer(success(out.performs[2].what));
  EXPECT_EQ(status().agents(0).held(), 0u);
  EXPECT_EQ(status().counts().completed(), 2u);
}

TEST_F(scheduler_presence_test, takes_outcomes_of_an_instance_that_is_away) {
  add(agent("n1/svc"));
  submit(submission("t1"));
  away();
  answer(success(out.performs[0].what));
  EXPECT_EQ(stored("t1")->state(), v1::TASK_STATE_COMPLETED);
}

TEST_F(scheduler_presence_test, does_not_send_again_what_is_over) {
  add(agent("n1/svc"));
  submit(submission("t1"));
  away();
  time.now_ms += 5'000;
  add(agent("n1/svc"));
  EXPECT_EQ(out.performs.size(), 1u) << "its lease has ended, the Supervisor comes for it";
}

TEST_F(scheduler_presence_test, sends_nothing_again_when_only_the_part_of_the_capacity_changes) {
  add(part(4, 1));
  submit(submission("t1"));
  add(part(7, 2));
  EXPECT_EQ(out.performs.size(), 1u);
  EXPECT_EQ(status().agents(0).capacity(), 7u);
  add(part(9, 3), true);
  EXPECT_EQ(out.performs.size(), 2u) << "unless the connection is a new one";
  add(part(9, 4));
  EXPECT_EQ(out.performs.size(), 3u) << "or it says the same again: it does not know whether it is known";
}

TEST_F(scheduler_presence_test, takes_less_capacity_than_is_held_and_gives_nothing_until_there_is_room) {
  add(part(3, 1));
  for (const auto* id : {"t1", "t2", "t3"}) submit(submission(id));
  EXPECT_EQ(add(part(1, 2)).held(), 3u);
  submit(submission("t4"));
  answer(success(out.performs[0].what));
  answer(success(out.performs[1].what));
  EXPECT_EQ(out.performs.size(), 3u);
  answer(success(out.performs[2].what));
  ASSERT_EQ(out.performs.size(), 4u);
  EXPECT_EQ(add(part(0, 3)).error().code(), v1::ERROR_CODE_OK);
  EXPECT_EQ(status().agents(0).capacity(), 0u);
}

TEST_F(scheduler_presence_test, sends_nothing_again_to_one_that_waits_until_less_is_held) {
  add(part(3, 1));
  for (const auto* id : {"t1", "t2", "t3"}) submit(submission(id));
  add(part(1, 2));
  for (std::uint64_t second = 3; second < 10; ++second) EXPECT_EQ(add(part(1, second)).held(), 3u);
  EXPECT_EQ(out.performs.size(), 3u) << "it asks every second, and all tasks would be looked at each time";
}

TEST_F(scheduler_presence_test, gives_nobody_more_than_he_takes_before_it_knows_what_is_out) {
  constexpr int tasks = 700;
  add(agent("n1/svc", tasks));
  for (int i = 0; i < tasks; ++i) submit(submission("out" + std::to_string(i)));
  for (int i = 0; i < 10; ++i) submit(submission("waits" + std::to_string(i)));
  ASSERT_EQ(out.performs.size(), static_cast<std::size_t>(tasks));
  restart();
  add(agent("n1/svc", tasks));  // it has gone on meanwhile
  ASSERT_TRUE(node->shell.resume_some());
  node->settle();
  submit(submission("new"));
  sweep();
  EXPECT_EQ(status().agents(0).held(), static_cast<std::uint64_t>(tasks));
  for (const auto& one : out.performs) EXPECT_EQ(one.what.task_id().rfind("out", 0), 0u) << one.what.task_id();
  answer(success(out.performs.back().what));
  EXPECT_NE(out.performs.back().what.task_id().rfind("out", 0), 0u) << "it goes on when the sweep is over";
}

TEST_F(scheduler_presence_test, keeps_to_the_newest_revision_of_a_registration) {
  add(part(5, 8));
  const auto late = add(part(50, 7));
  EXPECT_EQ(late.error().code(), v1::ERROR_CODE_OK);
  EXPECT_EQ(late.revision(), 8u);
  EXPECT_EQ(status().agents(0).capacity(), 5u);
  auto next = part(6, 1);
  next.set_incarnation(2);
  EXPECT_EQ(add(next).revision(), 1u) << "a new process counts anew";
  EXPECT_EQ(status().agents(0).capacity(), 6u);
}

TEST_F(scheduler_presence_test, counts_and_sends_again_what_a_scheduler_before_it_has_handed_over) {
  add(agent("n1/svc", 1));
  submit(submission("t1"));
  submit(submission("t2"));
  restart();
  sweep();
  ASSERT_EQ(out.performs.size(), 1u);
  const auto welcome = add(agent("n1/svc", 1));
  EXPECT_EQ(welcome.held(), 1u);
  ASSERT_EQ(out.performs.size(), 2u) << "t2 has to wait: the one slot is taken";
  EXPECT_EQ(out.performs[1].what.task_id(), "t1");
  EXPECT_EQ(out.performs[1].what.attempt(), 1u);
  EXPECT_EQ(status().traffic().handed_over(), 0u) << "nothing new";
  answer(success(out.performs[1].what));
  EXPECT_EQ(out.performs.back().what.task_id(), "t2");
}

TEST_F(scheduler_presence_test, counts_what_absent_instances_hold_against_limits) {
  auto limited = agent("n1/svc");
  limited.add_limits()->set_concurrency(1);
  add(limited);
  submit(submission("t1"));
  submit(submission("t2"));
  ASSERT_EQ(out.performs.size(), 1u);
  restart();
  sweep();
  auto other = limited;
  other.set_instance("n2/svc");
  add(other);
  EXPECT_EQ(out.performs.size(), 1u) << "n1 is not back yet, and what it holds is all that may be out";
  EXPECT_EQ(status().services(0).limits(0).held(), 1u);
  add(limited);
  ASSERT_EQ(out.performs.size(), 2u) << "n1's own, once more";
  EXPECT_EQ(status().services(0).limits(0).held(), 1u) << "counted once";
  answer(success(out.performs[1].what));
  ASSERT_EQ(out.performs.size(), 3u);
  EXPECT_EQ(out.performs[2].what.task_id(), "t2");
}

TEST_F(scheduler_presence_test, refuses_an_older_process_and_says_what_to_do) {
  add(agent("n1/svc", 10, 7));
  const auto refused = add(agent("n1/svc", 10, 3));
  EXPECT_EQ(refused.error().code(), v1::ERROR_CODE_CONFLICT);
  EXPECT_NE(refused.error().sentence().find("already registered with incarnation 7"), std::string::npos) << refused.error().sentence();
  EXPECT_NE(refused.error().remedy().find("another node.name"), std::string::npos) << refused.error().remedy();
  EXPECT_NE(refused.error().remedy().find("data folder"), std::string::npos) << refused.error().remedy();
}

TEST_F(scheduler_presence_test, refuses_registrations_that_make_no_sense) {
  const auto refused = [&](auto&& spoil) {
    auto what = agent("n1/svc");
    spoil(what);
    return add(what).error().code();
  };
  EXPECT_EQ(refused([](auto& what) { what.set_instance(""); }), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& what) { what.set_instance(std::string(300, 'x')); }), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& what) { what.set_instance("n1/\x1b[2J"); }), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& what) { what.set_agent("no agent"); }), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& what) { what.set_agent(std::string(600, 'x')); }), v1::ERROR_CODE_INVALID_ARGUMENT) << "no key is that long";
  EXPECT_EQ(refused([](auto& what) { what.set_node("a node"); }), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& what) { what.add_calls("a\nb"); }), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& what) { what.add_labels()->set_key("="); }), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& what) { what.add_limits()->set_key("no path"); }), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_EQ(refused([](auto& what) { what.add_policies()->set_key_valid_for_ms(-1); }), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_EQ(status().agents_size(), 0);
  EXPECT_EQ(misdirected(), 10u);
}

TEST_F(scheduler_presence_test, counts_and_drops_what_is_not_for_it) {
  scheduler_limits limits;
  limits.shard = 3;
  limits.shard_count = 4;
  restart(limits);
  auto mine = agent("n1/svc");
  EXPECT_EQ(add(mine).error().code(), v1::ERROR_CODE_UNAVAILABLE) << "it speaks to shard 0";
  mine.set_shard(3);
  EXPECT_EQ(add(mine).shard(), 3u);
  submit(submission("t1"));
  ASSERT_EQ(out.performs.size(), 1u);
  EXPECT_EQ(misdirected(), 1u);

  auto batch = from("n1/svc", {success(out.performs[0].what)});
  node->shell.outcomes(batch);
  batch.set_shard(3);
  batch.set_incarnation(2);
  node->shell.outcomes(batch);
  batch.set_incarnation(0);
  node->shell.outcomes(batch);
  batch.set_incarnation(1);
  batch.set_instance("n9/svc");
  node->shell.outcomes(batch);
  v1::HeartbeatBatch beats;
  beats.set_instance("n1/svc");
  beats.set_incarnation(1);
  beats.add_items()->set_task_number(1);
  node->shell.heartbeats(beats);
  node->settle();
  EXPECT_EQ(misdirected(), 6u);
  EXPECT_TRUE(out.acks.empty());
  EXPECT_TRUE(out.heartbeats.empty());
  EXPECT_EQ(stored("t1")->steps(0).state(), v1::STEP_STATE_RUNNING);

  batch.set_instance("n1/svc");
  node->shell.outcomes(batch);
  node->settle();
  EXPECT_EQ(stored("t1")->state(), v1::TASK_STATE_COMPLETED);
}

TEST_F(scheduler_presence_test, says_how_much_of_a_shared_capacity_it_could_use) {
  add(agent("n1/svc", 2));
  EXPECT_EQ(node->shell.wanted_of("n1/svc"), 0u);
  for (int i = 0; i < 5; ++i) submit(submission("t" + std::to_string(i)));
  EXPECT_EQ(node->shell.wanted_of("n1/svc"), 5u) << "two are held, three wait";
  EXPECT_EQ(node->shell.wanted_of("n9/svc"), 0u);
}

TEST_F(scheduler_presence_test, counts_what_it_does) {
  auto twice = step("a");
  twice.set_attempts(2);
  deploy(workflow_of({twice}));
  add(agent("n1/svc"));
  submit(submission("t1"));
  submit(submission("t2"));
  time.now_ms += 40;
  answer(success(out.performs[0].what));
  answer(failure(out.performs[1].what, v1::FAULT_KIND_PERMANENT));
  const auto traffic = status().traffic();
  EXPECT_EQ(traffic.submitted(), 2u);
  EXPECT_EQ(traffic.handed_over(), 2u);
  EXPECT_EQ(traffic.steps_completed(), 1u);
  EXPECT_EQ(traffic.steps_failed(), 1u);
  EXPECT_EQ(traffic.completed(), 1u);
  EXPECT_EQ(traffic.parked(), 1u);
  EXPECT_EQ(traffic.step_ms().sum(), 80.0);
  EXPECT_EQ(traffic.step_ms().counts(5), 2u) << "40 ms each, so between 20 and 50";
  EXPECT_EQ(traffic.task_ms().sum(), 40.0);
}

TEST_F(scheduler_presence_test, counts_leases_that_end) {
  add(agent("n1/svc"));
  submit(submission("t1"));
  time.now_ms += 5'000;
  supervisor watcher{{&time, &store, &out, &log}};
  ASSERT_TRUE(watcher.scan().ok());
  node->shell.recover(out.recoveries.front());
  node->settle();
  EXPECT_EQ(status().traffic().steps_expired(), 1u);
  EXPECT_EQ(status().traffic().steps_failed(), 0u);
}

}  // namespace
}  // namespace fairlead::testing
