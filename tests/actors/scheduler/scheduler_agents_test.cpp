// Admission, slots, restarts, poisoned tasks: how the Scheduler spreads work.

#include <set>
#include <stdexcept>

#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

class scheduler_work_test : public scheduler_fixture {
 protected:
  scheduler_work_test() { deploy(workflow_of({step("a")})); }

  std::vector<std::string> handed_over() const {
    std::vector<std::string> ids;
    for (const auto& one : out.performs) ids.push_back(one.what.task_id());
    return ids;
  }
};

using names = std::vector<std::string>;

TEST_F(scheduler_work_test, keeps_tasks_beyond_the_limit_pending_and_admits_them_in_order) {
  scheduler_limits limits;
  limits.running_tasks = 2;
  restart(limits);
  add_agent(agent("n1/svc"));
  for (int i = 1; i <= 5; ++i) submit(submission("t" + std::to_string(i)));
  EXPECT_EQ(handed_over(), (names{"t1", "t2"}));
  EXPECT_EQ(status().counts().pending(), 3u);
  EXPECT_EQ(stored("t3")->state(), v1::TASK_STATE_PENDING);
  answer(success(out.performs[0].what));
  EXPECT_EQ(handed_over(), (names{"t1", "t2", "t3"}));
  finish_everything();
  EXPECT_EQ(handed_over(), (names{"t1", "t2", "t3", "t4", "t5"}));
  EXPECT_EQ(status().counts().completed(), 5u);
  EXPECT_EQ(status().counts().pending(), 0u);
  EXPECT_EQ(store.read()->count(store::table::pending), 0u);
}

TEST_F(scheduler_work_test, admits_by_priority_and_lets_waiting_count) {
  scheduler_limits limits;
  limits.running_tasks = 1;
  restart(limits);
  add_agent(agent("n1/svc"));
  submit(submission("first"));
  submit(submission("old"));
  time.now_ms += 1'000;
  auto urgent = submission("urgent");
  urgent.set_priority(1);
  submit(urgent);
  time.now_ms += 120'000;
  auto late = submission("late");
  late.set_priority(1);
  submit(late);
  finish_everything();
  EXPECT_EQ(handed_over(), (names{"first", "urgent", "old", "late"}));
}

TEST_F(scheduler_work_test, admits_pending_tasks_after_a_restart) {
  scheduler_limits limits;
  limits.running_tasks = 1;
  restart(limits);
  for (int i = 1; i <= 600; ++i) submit(submission("t" + std::to_string(i)));
  restart();
  add_agent(agent("n1/svc", 10'000, 2));
  sweep();
  finish_everything();
  EXPECT_EQ(status().counts().completed(), 600u);
}

TEST_F(scheduler_work_test, does_not_let_parked_tasks_take_the_place_of_others) {
  scheduler_limits limits;
  limits.running_tasks = 1;
  restart(limits);
  add_agent(agent("n1/svc"));
  submit(submission("t1"));
  submit(submission("t2"));
  answer(failure(out.performs[0].what, v1::FAULT_KIND_PERMANENT));
  EXPECT_EQ(handed_over(), (names{"t1", "t2"}));
  EXPECT_EQ(status().counts().parked(), 1u);
}

TEST_F(scheduler_work_test, gives_freed_slots_to_those_who_waited_longest) {
  add_agent(agent("n1/svc", 2));
  for (int i = 1; i <= 6; ++i) submit(submission("t" + std::to_string(i)));
  EXPECT_EQ(handed_over(), (names{"t1", "t2"}));
  EXPECT_EQ(status().agents(0).held(), 2u);
  EXPECT_EQ(status().agents(0).waiting(), 4u);
  answer(success(out.performs[1].what));
  answer(success(out.performs[0].what));
  EXPECT_EQ(handed_over(), (names{"t1", "t2", "t3", "t4"}));
  finish_everything();
  EXPECT_EQ(handed_over(), (names{"t1", "t2", "t3", "t4", "t5", "t6"}));
  EXPECT_EQ(status().agents(0).held(), 0u);
}

TEST_F(scheduler_work_test, serves_those_who_waited_for_an_agent_that_arrives) {
  submit(submission("t1"));
  submit(submission("t2"));
  EXPECT_TRUE(out.performs.empty());
  add_agent(agent("n2/other", 5, 1, "other"));
  EXPECT_TRUE(out.performs.empty());
  add_agent(agent("n1/svc", 1));
  EXPECT_EQ(handed_over(), (names{"t1"}));
  add_agent(agent("n2/svc", 1));
  EXPECT_EQ(out.performs[1].instance, "n2/svc");
}

TEST_F(scheduler_work_test, spreads_attempts_over_the_instances_with_most_room) {
  add_agent(agent("n1/svc", 3));
  add_agent(agent("n2/svc", 2));
  for (int i = 1; i <= 5; ++i) submit(submission("t" + std::to_string(i)));
  std::map<std::string, int> by_instance;
  for (const auto& one : out.performs) ++by_instance[one.instance];
  EXPECT_EQ(by_instance["n1/svc"], 3);
  EXPECT_EQ(by_instance["n2/svc"], 2);
}

TEST_F(scheduler_work_test, hands_over_anew_what_a_dead_process_held) {
  add_agent(agent("n1/svc", 10, 1));
  submit(submission("t1"));
  add_agent(agent("n1/svc", 10, 2));
  ASSERT_EQ(out.performs.size(), 2u);
  EXPECT_EQ(out.performs[1].what.attempt(), 2u);
  EXPECT_EQ(out.performs[1].what.idempotency_key(), out.performs[0].what.idempotency_key());
  answer(success(out.performs[0].what));
  EXPECT_FALSE(out.acks.back().second.accepted());
  add_agent(agent("n1/svc", 10, 1));
  EXPECT_EQ(out.performs.size(), 2u) << "an older process changes nothing";
  answer(success(out.performs[1].what));
  EXPECT_EQ(stored("t1")->state(), v1::TASK_STATE_COMPLETED);
}

TEST_F(scheduler_work_test, takes_nothing_for_done_that_never_left_when_an_instance_comes_back_as_a_new_process) {
  auto careful = step("a");
  careful.set_in_doubt(v1::IN_DOUBT_PARK);
  careful.set_attempts(1);
  deploy(workflow_of({careful}, "careful"));
  add_agent(agent("n1/svc", 10, 1));
  // Decided, and not durable yet; and decided, and not even on its way to the disk.
  offer({submission("on-its-way", "1", "careful")});
  node->shell.flush();
  offer({submission("open", "1", "careful")});
  node->shell.add_agent(agent("n1/svc", 10, 2));
  incarnations_["n1/svc"] = 2;
  node->settle();
  ASSERT_EQ(out.performs.size(), 2u) << "each goes to the new process, and to no other";
  for (const auto& one : out.performs) {
    const auto task = stored(one.what.task_id());
    EXPECT_FALSE(task->parked()) << task->parked_reason();
    EXPECT_FALSE(task->steps(0).doubtful());
    EXPECT_EQ(task->steps(0).failure_count(), 0u);
    EXPECT_EQ(one.what.attempt(), 2u) << "the number of an attempt is never used twice";
    EXPECT_EQ(task->steps(0).excused(), 1u) << "and it does not count";
  }
  finish_everything();
  EXPECT_EQ(stored("open")->state(), v1::TASK_STATE_COMPLETED);
  EXPECT_EQ(stored("on-its-way")->state(), v1::TASK_STATE_COMPLETED);
}

TEST_F(scheduler_work_test, leaves_in_doubt_what_may_have_left_though_it_was_to_be_sent_again) {
  auto careful = step("a");
  careful.set_in_doubt(v1::IN_DOUBT_PARK);
  deploy(workflow_of({careful}, "careful"));
  add_agent(agent("n1/svc", 10, 1));
  submit(submission("t1", "1", "careful"));
  ASSERT_EQ(out.performs.size(), 1u);
  node->shell.add_agent(agent("n1/svc", 10, 1), true);  // it reconnects, and what it holds is to be sent again
  node->shell.add_agent(agent("n1/svc", 10, 2));
  node->settle();
  EXPECT_TRUE(stored("t1")->parked());
  EXPECT_TRUE(stored("t1")->steps(0).doubtful());
  EXPECT_EQ(out.performs.size(), 1u);
}

TEST_F(scheduler_work_test, hands_over_nothing_that_has_ended_before_its_message_could_leave) {
  add_agent(agent("n1/svc", 1));
  offer({submission("t1")});
  node->shell.flush();
  ASSERT_TRUE(out.performs.empty()) << "its commit takes long";
  time.now_ms += 5'000;
  v1::RecoverBatch due;
  auto& item = *due.add_items();
  item.set_task_number(1);
  item.set_step(1);
  item.set_direction(v1::DIRECTION_PERFORM);
  item.set_attempt(1);
  node->shell.recover(due);
  time.now_ms -= 60'000;  // by the clock its lease has not even begun
  node->settle();
  EXPECT_EQ(stored("t1")->steps(0).state(), v1::STEP_STATE_IN_DOUBT);
  EXPECT_TRUE(out.performs.empty()) << "another instance may get the step next";
}

TEST_F(scheduler_work_test, takes_up_every_running_task_after_a_restart) {
  add_agent(agent("n1/svc", 10'000));
  for (int i = 0; i < 1'300; ++i) offer({submission("t" + std::to_string(i))});
  node->settle();
  ASSERT_EQ(out.performs.size(), 1'300u);

  restart();
  add_agent(agent("n1/svc", 10'000));  // the same process: what it holds is handed over again
  EXPECT_TRUE(status().resuming());
  EXPECT_TRUE(node->shell.resume_some());
  node->settle();
  EXPECT_EQ(out.performs.size(), 1'300u + 512u) << "in bounded pieces";
  sweep();
  EXPECT_FALSE(status().resuming());
  EXPECT_EQ(status().resumed_tasks(), 1'300u);
  ASSERT_EQ(out.performs.size(), 2'600u);
  std::set<std::uint64_t> again;
  for (std::size_t i = 1'300; i < 2'600; ++i) {
    EXPECT_EQ(out.performs[i].what.attempt(), 1u);
    EXPECT_GT(out.performs[i].epoch, out.performs[0].epoch);
    again.insert(out.performs[i].what.task_number());
  }
  EXPECT_EQ(again.size(), 1'300u);
  EXPECT_EQ(status().agents(0).held(), 1'300u);
  answered_ = 1'300;
  finish_everything();
  EXPECT_EQ(status().counts().completed(), 1'300u);
}

TEST_F(scheduler_work_test, counts_a_task_that_waits_for_a_slot_once_when_it_takes_it_up) {
  for (int i = 0; i < 700; ++i) offer({submission("t" + std::to_string(i))});
  node->settle();
  restart();
  EXPECT_TRUE(node->shell.resume_some());
  add_agent(agent("n1/svc", 100));
  sweep();
  EXPECT_EQ(status().resumed_tasks(), 700u);
  finish_everything();
  EXPECT_EQ(status().counts().completed(), 700u);
}

TEST_F(scheduler_work_test, asks_the_worker_once_and_goes_on_with_its_answer) {
  deploy(workflow_of({step("a", {}, R"({"m":"${ .input.n + 1 }"})")}, "sums"));
  add_agent(agent("n1/svc"));
  submit(submission("t1", R"({"n":1})", "sums"));
  ASSERT_EQ(out.asked.size(), 1u);
  v1::RecoverBatch look;
  look.add_items()->set_task_number(out.asked[0].task_number());
  node->shell.recover(look);
  EXPECT_EQ(out.asked.size(), 1u) << "the answer is still awaited";
  v1::EvaluateReply reply;
  reply.set_ticket(out.asked[0].ticket());
  reply.add_results("2");
  node->shell.evaluated(reply);
  node->shell.evaluated(reply);
  node->settle();
  ASSERT_EQ(out.performs.size(), 1u);
  EXPECT_EQ(out.performs[0].what.input(), R"({"m":2})");
}

TEST_F(scheduler_work_test, parks_a_task_whose_expression_fails_with_text_that_can_be_stored) {
  deploy(workflow_of({step("a", {}, R"({"m":"${ .input.n + 1 }"})")}, "sums"));
  submit(submission("t1", R"({"n":1})", "sums"));
  v1::EvaluateReply reply;
  reply.set_ticket(out.asked[0].ticket());
  reply.mutable_error()->set_code(v1::ERROR_CODE_EXPRESSION);
  reply.mutable_error()->set_sentence("string (\"\xc3...) cannot be added");
  node->shell.evaluated(reply);
  node->settle();
  const auto task = stored("t1");
  ASSERT_TRUE(task.has_value());
  EXPECT_TRUE(task->parked());
  EXPECT_EQ(task->parked_reason(), "step a: string (\"\xef\xbf\xbd...) cannot be added");
}

/// Throws for tasks whose id says so, as a bug in an engine would.
class engine_with_a_bug final : public core::workflow_engine {
 public:
  void begin(const core::workflow& definition, v1::TaskRecord& record) const override { good_.begin(definition, record); }
  void next(const core::workflow& definition, const v1::TaskRecord& record, core::next_steps& out) const override {
    const bool now = record.id().rfind("bad-start", 0) == 0 ||
                     (record.id().rfind("bad-later", 0) == 0 && record.steps(0).state() == v1::STEP_STATE_COMPLETED);
    if (now) throw std::logic_error("index 9 of 3");
    good_.next(definition, record, out);
  }
  void next_undo(const core::workflow& definition, const v1::TaskRecord& record, core::next_steps& out) const override {
    good_.next_undo(definition, record, out);
  }
  void next_dropped(const core::workflow& definition, const v1::TaskRecord& record, core::next_steps& out) const override {
    good_.next_dropped(definition, record, out);
  }

 private:
  core::declarative_engine good_;
};

TEST_F(scheduler_work_test, parks_a_task_whose_decision_crashes_and_goes_on_with_the_others) {
  const engine_with_a_bug engine;
  restart({}, &engine);
  deploy(workflow_of({step("a"), step("b", {"a"})}, "two"));
  add_agent(agent("n1/svc", 10));
  submit(submission("good-1", "1", "two"));
  submit(submission("bad-later", "1", "two"), 7);
  submit(submission("good-2", "1", "two"));
  EXPECT_TRUE(submit(submission("bad-start", "1", "two")).created());
  finish_everything();
  EXPECT_EQ(stored("good-1")->state(), v1::TASK_STATE_COMPLETED);
  EXPECT_EQ(stored("good-2")->state(), v1::TASK_STATE_COMPLETED);
  for (const auto* id : {"bad-later", "bad-start"}) {
    const auto task = stored(id);
    ASSERT_TRUE(task.has_value()) << id;
    EXPECT_TRUE(task->parked()) << id;
    EXPECT_NE(task->parked_reason().find("index 9 of 3"), std::string::npos) << task->parked_reason();
  }
  ASSERT_EQ(out.notices.size(), 1u);
  EXPECT_EQ(out.notices[0].second.id(), "bad-later");
  EXPECT_EQ(status().counts().parked(), 2u);
  EXPECT_EQ(status().counts().running(), 2u);

  // The outcome that met the bug was neither recorded nor refused; offered again, it is recorded.
  const auto bad = stored("bad-later");
  EXPECT_EQ(bad->steps(0).state(), v1::STEP_STATE_RUNNING);
  for (const auto& [instance, ack] : out.acks) EXPECT_NE(ack.task_number(), bad->number());
  for (const auto& one : out.performs)
    if (one.what.task_id() == "bad-later") answer(success(one.what));
  EXPECT_EQ(stored("bad-later")->steps(0).state(), v1::STEP_STATE_COMPLETED);
}

TEST_F(scheduler_work_test, parks_a_pending_task_whose_admission_crashes_and_admits_the_next) {
  const engine_with_a_bug engine;
  scheduler_limits limits;
  limits.running_tasks = 1;
  restart(limits, &engine);
  add_agent(agent("n1/svc"));
  submit(submission("t1"));
  submit(submission("bad-start"));
  submit(submission("t2"));
  finish_everything();
  EXPECT_TRUE(stored("bad-start")->parked());
  EXPECT_EQ(stored("t2")->state(), v1::TASK_STATE_COMPLETED);
  EXPECT_EQ(status().counts().pending(), 0u);
  EXPECT_EQ(status().counts().running(), 1u);
}

TEST_F(scheduler_work_test, takes_up_a_task_that_crashes_at_a_restart_by_parking_it) {
  add_agent(agent("n1/svc"));
  submit(submission("bad-start"));
  submit(submission("t1"));
  const engine_with_a_bug engine;
  restart({}, &engine);
  add_agent(agent("n1/svc", 10, 2));
  sweep();
  EXPECT_TRUE(stored("bad-start")->parked());
  EXPECT_FALSE(stored("t1")->parked());
  EXPECT_EQ(status().resumed_tasks(), 2u);
}

TEST_F(scheduler_work_test, gives_the_slot_of_an_expired_attempt_to_the_next) {
  add_agent(agent("n1/svc", 1));
  submit(submission("t1"));
  submit(submission("t2"));
  ASSERT_EQ(out.performs.size(), 1u);
  time.now_ms += 5'000;
  supervisor watcher{{&time, &store, &out, &log}};
  ASSERT_TRUE(watcher.scan().ok());
  ASSERT_EQ(out.recoveries.size(), 1u);
  node->shell.recover(out.recoveries.front());
  node->settle();
  EXPECT_EQ(handed_over(), (names{"t1", "t2"}));
  EXPECT_EQ(stored("t1")->steps(0).state(), v1::STEP_STATE_IN_DOUBT);
  ASSERT_EQ(out.hints.size(), 1u);
  time.now_ms = out.hints[0].due_unix_ms();
  watcher.hint([&] {
    v1::RecoveryHintBatch all;
    *all.add_items() = out.hints[0];
    return all;
  }());
  watcher.fire();
  node->shell.recover(out.recoveries.back());
  node->settle();
  answer(success(out.performs[1].what));
  EXPECT_EQ(handed_over(), (names{"t1", "t2", "t1"}));
}

TEST_F(scheduler_work_test, sends_no_successor_what_was_meant_for_the_process_before_it) {
  add_agent(agent("n1/svc"));
  offer({submission("t1")});
  node->shell.flush();
  // The hand-over is on its way to the disk when the process dies.
  node->shell.add_agent(agent("n1/svc", 1'000, 2));
  node->settle();
  ASSERT_EQ(out.performs.size(), 1u) << "the first attempt and the second would both be carried out";
  EXPECT_EQ(out.performs[0].what.attempt(), 2u);
}

}  // namespace
}  // namespace fairlead::testing
