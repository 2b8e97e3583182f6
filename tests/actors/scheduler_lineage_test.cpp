// A Scheduler and agents that know another lineage of its shard, or a later start of it.

#include "tests/actors/scheduler_world.hpp"

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
  EXPECT_NE(answer.error().sentence().find("obeys a later lineage of shard 0"), std::string::npos) << answer.error().sentence();
  EXPECT_NE(answer.error().remedy().find("fairlead restore"), std::string::npos);
  submit(submission("t2"));
  EXPECT_EQ(out.performs.size(), 1u) << "it gets nothing";
  EXPECT_TRUE(noted("agent instance n1/svc is away (agent instance n1/svc obeys a later lineage"));
}

TEST_F(scheduler_lineage_test, refuses_who_has_obeyed_a_later_start_of_the_shard_because_its_store_is_an_older_copy) {
  const auto answer = welcome(knowing(lineage(2'000), node->shell.epoch() + 3));
  EXPECT_EQ(answer.error().code(), v1::ERROR_CODE_CONFLICT);
  EXPECT_NE(answer.error().sentence().find("it is an older copy of the shard's store"), std::string::npos) << answer.error().sentence();
  submit(submission("t1"));
  EXPECT_TRUE(out.performs.empty());
}

TEST_F(scheduler_lineage_test, refuses_another_lineage_of_the_same_moment_by_name) {
  EXPECT_NE(welcome(knowing(lineage(2'000, 9))).error().sentence().find("both were made at the same moment"), std::string::npos);
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
  node->settle();
  EXPECT_EQ(stored("t1")->state(), v1::TASK_STATE_RUNNING);
  EXPECT_TRUE(out.acks.empty());
  EXPECT_TRUE(
      noted("effect without a task: agent instance n1/svc has carried out attempt 1 under the idempotency key order-9/charge/perform/0"));
  EXPECT_EQ(std::count_if(log.notes.begin(), log.notes.end(), [](const auto& one) { return one.find("effect without") == 0; }), 1);
}

}  // namespace
}  // namespace fairlead::testing
