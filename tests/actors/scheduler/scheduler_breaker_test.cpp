// What a shard does about a service that is down: it is durable, said, and over by itself.

#include "store/rows/alert_rows.hpp"
#include "store/rows/service_rows.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead {
namespace {

using namespace testing;

class scheduler_breaker_test : public scheduler_fixture {
 protected:
  scheduler_breaker_test() {
    add_agent(guarded());
    auto patient = step("a");
    patient.set_attempts(100);
    deploy(workflow_of({patient}));
  }

  static v1::RegisterAgent guarded(std::uint64_t incarnation = 1) {
    auto out = agent("n1/svc", 1'000, incarnation);
    out.mutable_breaker()->set_at_least(5);
    out.mutable_breaker()->set_open_ms(10'000);
    out.mutable_breaker()->set_canaries(2);
    return out;
  }

  /// Five tasks whose first attempt fails.
  void break_service() {
    for (int i = 0; i < 5; ++i) submit(submission("t" + std::to_string(i)));
    const auto sent = out.performs;
    for (const auto& one : sent) answer(failure(one.what, v1::FAULT_KIND_TRANSIENT));
  }

  /// Every step's backoff is over, and the Supervisor has asked.
  void let_backoffs_end() {
    time.now_ms += 2'000;
    v1::RecoverBatch due;
    for (const auto& hint : out.hints) *due.add_items() = hint.recover();
    node->shell.recover(due);
    node->settle();
  }

  void offer_at(std::int64_t after_ms) {
    time.now_ms += after_ms;
    node->shell.offer();
    node->settle();
  }

  std::vector<v1::ServiceRecord> services() {
    std::vector<v1::ServiceRecord> found;
    EXPECT_TRUE(store::for_each_service(*store.read(), [&](const v1::ServiceRecord& one) {
                  found.push_back(one);
                  return true;
                }).ok());
    return found;
  }

  std::vector<v1::AlertRecord> unresolved() {
    std::vector<v1::AlertRecord> found;
    EXPECT_TRUE(store::for_each_unresolved(*store.read(), [&](const v1::AlertRecord& one) {
                  found.push_back(one);
                  return true;
                }).ok());
    return found;
  }

  v1::AgentOperateReply operate(v1::AgentVerb verb, const std::string& of, const std::string& who = "ann") {
    v1::AgentOperateRequest what;
    what.set_verb(verb);
    (verb == v1::AGENT_VERB_DRAIN || verb == v1::AGENT_VERB_RESUME ? what.mutable_instance() : what.mutable_agent())->assign(of);
    what.set_who(who);
    node->shell.answer(what, 900);
    node->settle();
    return out.agent_operations.at(900);
  }
};

TEST_F(scheduler_breaker_test, hands_nothing_over_while_it_is_open_and_uses_up_no_attempts) {
  break_service();
  const auto before = out.performs.size();
  let_backoffs_end();
  EXPECT_EQ(out.performs.size(), before);
  EXPECT_EQ(stored("t0")->steps(0).attempt(), 1u);
  EXPECT_EQ(stored("t0")->steps(0).state(), v1::STEP_STATE_PENDING);
  ASSERT_EQ(status().services_size(), 1);
  EXPECT_EQ(status().services(0).waiting(), 5u);
  ASSERT_EQ(status().services(0).reasons_size(), 1);
  EXPECT_NE(status().services(0).reasons(0).find("breaker of svc is open"), std::string::npos) << status().services(0).reasons(0);
}

TEST_F(scheduler_breaker_test, does_not_count_that_a_node_has_no_address_for_callbacks) {
  for (int i = 0; i < 5; ++i) submit(submission("t" + std::to_string(i)));
  const auto sent = out.performs;
  for (const auto& one : sent) {
    auto unsent = failure(one.what, v1::FAULT_KIND_TRANSIENT);
    unsent.mutable_fault()->set_code("no_callback_url");
    answer(unsent);
  }
  EXPECT_TRUE(unresolved().empty());
  let_backoffs_end();
  EXPECT_EQ(out.performs.size(), 2 * sent.size()) << "the breaker is closed";
}

TEST_F(scheduler_breaker_test, stands_in_the_store_with_one_alert_and_survives_a_restart) {
  break_service();
  ASSERT_EQ(services().size(), 1u);
  EXPECT_EQ(services()[0].breaker(), v1::BREAKER_STATE_OPEN);
  ASSERT_EQ(unresolved().size(), 1u);
  EXPECT_EQ(unresolved()[0].kind(), v1::ALERT_KIND_BREAKER_OPEN);
  EXPECT_EQ(services()[0].breaker_alert(), unresolved()[0].number());

  restart();
  add_agent(guarded(2));
  sweep();
  const auto before = out.performs.size();
  let_backoffs_end();
  EXPECT_EQ(out.performs.size(), before) << "a restart must not let the whole backlog loose";
}

TEST_F(scheduler_breaker_test, sends_one_canary_at_a_time_and_closes_after_good_ones) {
  break_service();
  let_backoffs_end();
  const auto before = out.performs.size();
  ASSERT_TRUE(node->shell.next_offer().has_value());
  offer_at(10'000);
  ASSERT_EQ(out.performs.size(), before + 1) << "one canary";
  answer(success(out.performs.back().what));
  ASSERT_EQ(out.performs.size(), before + 2) << "and the next";
  EXPECT_EQ(services()[0].breaker(), v1::BREAKER_STATE_HALF_OPEN);
  answer(success(out.performs.back().what));
  EXPECT_EQ(out.performs.size(), before + 5) << "all that waited";
  EXPECT_TRUE(services().empty());
  EXPECT_TRUE(unresolved().empty());
}

TEST_F(scheduler_breaker_test, sends_its_canary_soon_though_the_clock_has_been_set_back_by_an_hour) {
  break_service();
  let_backoffs_end();
  const auto before = out.performs.size();
  offer_at(-3'600'000);
  EXPECT_EQ(services()[0].open_until_unix_ms(), time.now_ms + 10'000);
  EXPECT_EQ(unresolved().size(), 1u) << "said once";
  offer_at(9'999);
  EXPECT_EQ(out.performs.size(), before);
  offer_at(1);
  EXPECT_EQ(out.performs.size(), before + 1);
}

TEST_F(scheduler_breaker_test, opens_again_and_longer_when_the_canary_fails) {
  break_service();
  let_backoffs_end();
  offer_at(10'000);
  answer(failure(out.performs.back().what, v1::FAULT_KIND_TRANSIENT));
  ASSERT_EQ(services().size(), 1u);
  EXPECT_EQ(services()[0].breaker(), v1::BREAKER_STATE_OPEN);
  EXPECT_EQ(services()[0].open_until_unix_ms(), time.now_ms + 20'000);
  EXPECT_EQ(unresolved().size(), 1u) << "said once";
}

TEST_F(scheduler_breaker_test, is_an_operators_to_open_and_to_close) {
  EXPECT_EQ(operate(v1::AGENT_VERB_BREAKER_OPEN, "svc").error().code(), v1::ERROR_CODE_OK);
  submit(submission("t1"));
  offer_at(3'600'000);
  EXPECT_TRUE(out.performs.empty()) << "only a person closes what a person has opened";
  EXPECT_EQ(services()[0].breaker_by(), "ann");
  EXPECT_EQ(operate(v1::AGENT_VERB_BREAKER_CLOSE, "svc").error().code(), v1::ERROR_CODE_OK);
  EXPECT_EQ(out.performs.size(), 1u);
  EXPECT_TRUE(services().empty());
}

TEST_F(scheduler_breaker_test, refuses_operators_without_a_name_and_names_that_nobody_bears) {
  EXPECT_EQ(operate(v1::AGENT_VERB_BREAKER_OPEN, "svc", "").error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_EQ(operate(v1::AGENT_VERB_BREAKER_OPEN, "svk").error().code(), v1::ERROR_CODE_NOT_FOUND);
  EXPECT_EQ(operate(v1::AGENT_VERB_DRAIN, "n9/svc").error().code(), v1::ERROR_CODE_NOT_FOUND);
  EXPECT_EQ(operate(v1::AGENT_VERB_UNSPECIFIED, "svc").error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_TRUE(services().empty());
}

TEST_F(scheduler_breaker_test, a_drained_instance_finishes_what_it_holds_and_gets_nothing_more) {
  submit(submission("t1"));
  EXPECT_EQ(operate(v1::AGENT_VERB_DRAIN, "n1/svc").held(), 1u);
  submit(submission("t2"));
  EXPECT_EQ(out.performs.size(), 1u);
  answer(success(out.performs[0].what));
  EXPECT_EQ(stored("t1")->state(), v1::TASK_STATE_COMPLETED);
  EXPECT_EQ(out.performs.size(), 1u);
  operate(v1::AGENT_VERB_RESUME, "n1/svc");
  EXPECT_EQ(out.performs.size(), 2u);
}

TEST_F(scheduler_breaker_test, steps_that_wait_for_nobody_raise_an_alert_after_the_configured_time) {
  auto for_nobody = step("a");
  for_nobody.set_agent("nobody");
  deploy(workflow_of({for_nobody}, "lonely"));
  submit(submission("t1", "{}", "lonely"));
  offer_at(59'000);
  EXPECT_TRUE(unresolved().empty());
  offer_at(2'000);
  ASSERT_EQ(unresolved().size(), 1u);
  EXPECT_EQ(unresolved()[0].kind(), v1::ALERT_KIND_AGENT_ABSENT);
  offer_at(60'000);
  EXPECT_EQ(unresolved().size(), 1u) << "once";
  add_agent(agent("n1/nobody", 10, 1, "nobody"));
  EXPECT_TRUE(unresolved().empty());
  EXPECT_EQ(out.performs.size(), 1u);
}

}  // namespace
}  // namespace fairlead
