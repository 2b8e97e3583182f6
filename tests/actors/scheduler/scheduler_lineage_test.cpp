// A Scheduler and agents that know another lineage of its shard, or a later start of it.

#include "actors/supervisor/doctor.hpp"
#include "store/check/check.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

v1::Lineage lineage(std::int64_t made_unix_ms, std::uint64_t bits = 1) {
  v1::Lineage out;
  out.set_made_unix_ms(made_unix_ms);
  out.set_bits(bits);
  return out;
}

class scheduler_lineage_test : public scheduler_fixture {
 protected:
  scheduler_lineage_test() {
    scheduler_limits limits;
    limits.lineage = lineage(2'000);
    restart(limits);
    deploy(workflow_of({step("a")}));
  }

  static v1::RegisterAgent knowing(const v1::Lineage& of, std::uint64_t epoch = 0) {
    auto out = agent("n1/svc");
    *out.mutable_lineage() = of;
    out.set_epoch(epoch);
    return out;
  }

  v1::AgentWelcome welcome(const v1::RegisterAgent& what) {
    auto out = node->shell.add_agent(what);
    node->settle();
    return out;
  }

  void refuse(const v1::Perform& what, std::uint64_t epoch) {
    auto batch = from("n1/svc", {failure(what, v1::FAULT_KIND_TRANSIENT, "stale_shard")});
    *batch.mutable_lineage() = lineage(2'000);
    batch.set_refused_epoch(epoch);
    node->shell.outcomes(std::move(batch));
    node->settle();
  }

  bool noted(const std::string& words) const {
    return std::any_of(log.notes.begin(), log.notes.end(), [&](const auto& one) { return one.find(words) != std::string::npos; });
  }
};

TEST_F(scheduler_lineage_test, welcomes_who_knows_nothing_or_an_earlier_lineage_and_tells_its_own) {
  EXPECT_EQ(welcome(agent("n1/svc")).lineage().made_unix_ms(), 2'000);
  EXPECT_FALSE(welcome(knowing(lineage(1'000), 999)).has_error()) << "the later one wins whatever the epochs";
  EXPECT_FALSE(welcome(knowing(lineage(2'000), node->shell.epoch())).has_error());
}

TEST_F(scheduler_lineage_test, refuses_who_obeys_a_later_lineage_and_does_not_count_it_as_there) {
  submit(submission("t1"));
  ASSERT_FALSE(welcome(knowing({})).has_error());
  ASSERT_EQ(out.performs.size(), 1u);
  const auto answer = welcome(knowing(lineage(3'000)));
  EXPECT_EQ(answer.error().code(), v1::ERROR_CODE_CONFLICT);
  EXPECT_NE(answer.error().sentence().find("has seen a later lineage of shard 0"), std::string::npos) << answer.error().sentence();
  EXPECT_NE(answer.error().remedy().find("fairlead restore"), std::string::npos);
  submit(submission("t2"));
  EXPECT_EQ(out.performs.size(), 1u) << "it gets no steps";
  EXPECT_TRUE(noted("agent instance n1/svc is away (agent instance n1/svc has seen a later lineage"));
}

TEST_F(scheduler_lineage_test, refuses_who_has_obeyed_a_later_start_of_the_shard_because_its_store_is_an_older_copy) {
  const auto answer = welcome(knowing(lineage(2'000), node->shell.epoch() + 3));
  EXPECT_EQ(answer.error().code(), v1::ERROR_CODE_CONFLICT);
  EXPECT_NE(answer.error().sentence().find("it is an older copy of the shard's store"), std::string::npos) << answer.error().sentence();
  submit(submission("t1"));
  EXPECT_TRUE(out.performs.empty());
}

TEST_F(scheduler_lineage_test, refuses_another_lineage_of_the_same_moment_by_name) {
  EXPECT_NE(welcome(knowing(lineage(2'000, 9))).error().sentence().find("they began apart from each other"), std::string::npos);
}

TEST_F(scheduler_lineage_test, gives_an_attempt_that_was_refused_to_somebody_else_and_does_not_count_it) {
  submit(submission("t1"));
  ASSERT_FALSE(welcome(knowing({})).has_error());
  ASSERT_EQ(out.performs.size(), 1u);
  refuse(out.performs[0].what, node->shell.epoch());
  EXPECT_EQ(out.performs.size(), 1u) << "not to the same one, which would refuse it again";
  auto task = stored("t1");
  EXPECT_EQ(task->steps(0).state(), v1::STEP_STATE_PENDING);
  EXPECT_EQ(task->steps(0).attempt() - task->steps(0).excused(), 0u);
  add_agent(agent("n2/svc"));
  ASSERT_EQ(out.performs.size(), 2u);
  EXPECT_EQ(out.performs[1].instance, "n2/svc");
  EXPECT_FALSE(stored("t1")->steps(0).doubtful());
}

TEST_F(scheduler_lineage_test, takes_no_refusal_of_what_an_earlier_start_of_it_has_handed_over) {
  submit(submission("t1"));
  ASSERT_FALSE(welcome(knowing({})).has_error());
  refuse(out.performs.at(0).what, node->shell.epoch() - 1);
  EXPECT_EQ(stored("t1")->steps(0).state(), v1::STEP_STATE_RUNNING);
}

TEST_F(scheduler_lineage_test, takes_no_outcome_of_an_earlier_lineage_and_names_the_effects_that_have_no_task) {
  submit(submission("t1"));
  ASSERT_FALSE(welcome(knowing(lineage(1'000))).has_error());
  auto known = success(out.performs.at(0).what);
  known.set_idempotency_key("t1/a/perform/0");
  auto unknown = known;
  unknown.set_task_number(4'711);
  unknown.set_idempotency_key("order-9/charge/perform/0");
  auto batch = from("n1/svc", {known, unknown});
  *batch.mutable_lineage() = lineage(1'000);
  node->shell.outcomes(std::move(batch));
  EXPECT_TRUE(out.acks.empty()) << "not before it is durable";
  node->settle();
  EXPECT_EQ(stored("t1")->state(), v1::TASK_STATE_RUNNING);
  ASSERT_EQ(out.acks.size(), 2u) << "its agent need not say it again";
  EXPECT_FALSE(out.acks[0].second.accepted());
  EXPECT_EQ(out.acks[1].second.task_number(), 4'711u);
  EXPECT_TRUE(
      noted("effect without a task: agent instance n1/svc has carried out attempt 1 under the idempotency key order-9/charge/perform/0"));
  EXPECT_EQ(std::count_if(log.notes.begin(), log.notes.end(), [](const auto& one) { return one.find("effect without") == 0; }), 1);
}

/// What the agent has done for lineage 1,000.
class effects_without_a_task : public scheduler_lineage_test {
 protected:
  effects_without_a_task() {
    submit(submission("t1"));
    welcome(knowing(lineage(1'000)));
  }

  v1::Outcome done(const std::string& key, v1::Direction direction = v1::DIRECTION_PERFORM) const {
    auto out_of = success(out.performs.at(0).what);
    out_of.set_task_number(4'711);
    out_of.set_direction(direction);
    out_of.set_idempotency_key(key);
    return out_of;
  }
  void tell(std::vector<v1::Outcome> items) {
    auto batch = from("n1/svc", std::move(items));
    *batch.mutable_lineage() = lineage(1'000);
    node->shell.outcomes(std::move(batch));
    node->settle();
  }
  v1::DoctorReply listed() { return examine(store, {}).reply; }
  std::vector<std::string> keys() {
    std::vector<std::string> out_of;
    const auto reply = listed();
    for (const auto& one : reply.effects()) out_of.push_back(one.idempotency_key());
    return out_of;
  }
};

TEST_F(effects_without_a_task, are_listed_by_the_doctor_also_after_a_restart) {
  tell({done("order/9/charge/perform/0"), done("order-8/charge/undo/2", v1::DIRECTION_UNDO)});
  scheduler_limits limits;
  limits.lineage = lineage(2'000);
  restart(limits);
  const auto reply = listed();
  ASSERT_EQ(reply.effects_size(), 2);
  const auto& first = reply.effects(0);
  EXPECT_EQ(first.task_id(), "order/9");
  EXPECT_EQ(first.step(), "charge");
  EXPECT_EQ(first.direction(), v1::DIRECTION_PERFORM);
  EXPECT_EQ(first.attempt(), 1u);
  EXPECT_EQ(first.instance(), "n1/svc");
  EXPECT_EQ(first.idempotency_key(), "order/9/charge/perform/0");
  EXPECT_EQ(first.heard_at_unix_ms(), start_ms);
  EXPECT_EQ(first.lineage().made_unix_ms(), 1'000);
  EXPECT_EQ(reply.effects(1).direction(), v1::DIRECTION_UNDO);
  EXPECT_EQ(reply.effects(1).task_id(), "order-8");
  EXPECT_TRUE(store::check(*store.read(), {}, 100, nullptr).clean());
}

TEST_F(effects_without_a_task, are_listed_once_however_often_they_are_told_and_without_what_had_none) {
  tell({done("order-9/charge/perform/0"), done("order-9/charge/perform/0"), done("order-9/charge/lookup/0", v1::DIRECTION_LOOKUP)});
  auto failed = done("order-9/pack/perform/0");
  failed.mutable_fault()->set_kind(v1::FAULT_KIND_TRANSIENT);
  tell({failed, done("order-9/charge/perform/0"), done("t1/a/perform/0")});
  EXPECT_EQ(keys(), (std::vector<std::string>{"order-9/charge/perform/0"}));
}

TEST_F(effects_without_a_task, are_also_those_of_a_step_that_only_a_version_of_the_lost_time_had) {
  auto there = done("t1/a/perform/0"), lost = done("t1/gone/perform/0");
  const auto number = out.performs.at(0).what.task_number();
  there.set_task_number(number);
  lost.set_task_number(number);
  lost.set_step(1);
  tell({there, lost});
  EXPECT_EQ(keys(), (std::vector<std::string>{"t1/gone/perform/0"}));
  EXPECT_TRUE(noted("the present lineage does not have this step"));
}

TEST_F(effects_without_a_task, end_when_the_task_is_submitted_again) {
  tell({done("order-9/charge/perform/0"), done("order-8/charge/perform/0")});
  submit(submission("order-9"));
  EXPECT_EQ(keys(), (std::vector<std::string>{"order-8/charge/perform/0"}));
  tell({done("order-9/charge/perform/0")});
  EXPECT_EQ(keys(), (std::vector<std::string>{"order-8/charge/perform/0"}));
}

TEST_F(effects_without_a_task, stay_where_the_task_that_is_submitted_again_does_not_begin_with_their_keys) {
  tell({done("order-9/charge/perform/1"), done("order-9/charge/undo/0", v1::DIRECTION_UNDO)});
  submit(submission("order-9"));
  const std::vector<std::string> both{"order-9/charge/perform/1", "order-9/charge/undo/0"};
  EXPECT_EQ(keys(), both);
  tell({done("order-9/charge/perform/2")});
  EXPECT_EQ(keys().size(), 3u) << "the same when it is told afterwards";
}

TEST_F(effects_without_a_task, are_also_those_that_may_have_been) {
  auto doubtful = done("order-9/charge/perform/0");
  doubtful.mutable_fault()->set_kind(v1::FAULT_KIND_IN_DOUBT);
  tell({doubtful});
  EXPECT_EQ(keys(), (std::vector<std::string>{"order-9/charge/perform/0"}));
  EXPECT_TRUE(noted("effect without a task: agent instance n1/svc may have carried out attempt 1"));
}

TEST_F(effects_without_a_task, end_by_an_operators_word_which_is_durable_when_it_is_answered) {
  tell({done("order-9/charge/perform/0")});
  v1::DoctorRequest forget;
  forget.set_forget_effects(true);
  forget.set_who("ann");
  node->shell.answer(forget, 7);
  EXPECT_EQ(out.doctors.count(7), 0u);
  node->settle();
  EXPECT_EQ(out.doctors.at(7).effects_size(), 1) << "named once more";
  EXPECT_TRUE(keys().empty());
  EXPECT_TRUE(noted("1 effects without a task were forgotten by ann"));
  tell({done("order-7/charge/perform/0")});
  EXPECT_EQ(keys(), (std::vector<std::string>{"order-7/charge/perform/0"}));
}

TEST_F(effects_without_a_task, are_kept_up_to_a_limit_and_those_beyond_it_are_counted) {
  for (std::size_t i = 0; i < stray_effects::most + 3; ++i) tell({done("order-" + std::to_string(i) + "/charge/perform/0")});
  auto reply = listed();
  EXPECT_EQ(reply.effects_size(), static_cast<int>(stray_effects::most));
  EXPECT_EQ(reply.effects(0).task_id(), "order-3") << "the oldest make room";
  EXPECT_EQ(reply.effects_dropped(), 3u);
  v1::DoctorRequest forget;
  node->shell.answer(forget, 7);
  node->settle();
  EXPECT_EQ(listed().effects_dropped(), 0u);
}

}  // namespace
}  // namespace fairlead::testing
