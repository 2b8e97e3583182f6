#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

decision spent(world& w, std::uint32_t attempt, v1::FaultKind kind = v1::FAULT_KIND_TRANSIENT) {
  attempt_ended e;
  e.attempt = attempt;
  e.fault.emplace();
  e.fault->set_kind(kind);
  e.fault->set_code("http_409");
  e.fault->set_key_spent(true);
  return w.apply(e);
}

std::string key_of(const decision& made) { return made.performs.empty() ? "none" : made.performs.back().message.idempotency_key(); }

bool noted(const world& w, v1::EventKind kind) {
  return std::any_of(w.record.recent().begin(), w.record.recent().end(), [&](const v1::HistoryEvent& one) { return one.kind() == kind; });
}

/// Its service honours keys for a minute.
world forgetful(v1::WorkflowDefinition definition) {
  world w{std::move(definition)};
  w.agents.key_valid_for["do_a"] = 60'000;
  w.started();
  return w;
}

TEST(task_keys, a_key_that_is_spent_is_not_used_again) {
  world w{graph({step("a")})};
  w.started();
  spent(w, 1);
  w.advance_ms(1'000);
  EXPECT_EQ(key_of(w.recover(0)), "t1/a/perform/1");
  w.fault(0, 2, v1::FAULT_KIND_TRANSIENT);
  w.advance_ms(1'000);
  EXPECT_EQ(key_of(w.recover(0)), "t1/a/perform/1") << "one that is not spent is kept";
}

TEST(task_keys, an_operator_who_retries_what_was_refused_for_good_gets_a_fresh_key_where_the_old_one_is_spent) {
  world w{graph({step("a")})};
  w.started();
  spent(w, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_TRUE(w.record.parked());
  EXPECT_EQ(key_of(w.operate(v1::OPERATOR_VERB_RETRY, "a")), "t1/a/perform/1");
}

TEST(task_keys, a_step_in_doubt_keeps_its_key_even_when_it_is_spent) {
  world w{graph({step("a")})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
  w.advance_ms(1'000);
  w.recover(0);
  spent(w, 2);
  w.advance_ms(1'000);
  EXPECT_EQ(key_of(w.recover(0)), "t1/a/perform/0");
}

TEST(task_keys, what_is_in_doubt_is_not_tried_again_once_the_service_may_have_forgotten_the_key) {
  auto w = forgetful(graph({step("a")}));
  EXPECT_EQ(w.at(0).key_used_at_unix_ms(), start_ms);
  w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT, "http_504");
  w.operate(v1::OPERATOR_VERB_PAUSE);
  w.advance_ms(55'001);  // a lease of five seconds would end beyond the minute
  w.operate(v1::OPERATOR_VERB_RESUME);
  EXPECT_EQ(w.at(0).attempt(), 1u);
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_IN_DOUBT);
  EXPECT_TRUE(w.record.parked());
  EXPECT_EQ(w.record.parked_reason(),
            "step a is in doubt (key_expired): its service honours an idempotency key for 1m and got this key at 2023-11-14T22:13:20.000Z, "
            "so another attempt might carry it out twice; the last fault was http_504: told by the service");
  EXPECT_TRUE(noted(w, v1::EVENT_KIND_STEP_KEY_EXPIRED));
  EXPECT_EQ(w.agents.text().find("n1/svc=0"), 0u) << "and no slot is kept: " << w.agents.text();
}

TEST(task_keys, an_attempt_that_ends_in_time_is_made) {
  auto w = forgetful(graph({step("a")}));
  w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
  w.operate(v1::OPERATOR_VERB_PAUSE);
  w.advance_ms(55'000);
  EXPECT_EQ(key_of(w.operate(v1::OPERATOR_VERB_RESUME)), "t1/a/perform/0");
}

TEST(task_keys, no_wait_is_begun_that_the_key_would_not_outlive) {
  auto patient = step("a");
  patient.mutable_backoff()->set_first_ms(200'000);
  patient.mutable_backoff()->set_max_ms(200'000);
  auto w = forgetful(graph({patient}));
  w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
  EXPECT_TRUE(w.record.parked()) << "at once, not after the backoff";
  EXPECT_EQ(w.at(0).not_before_unix_ms(), 0);
}

TEST(task_keys, an_operator_who_has_been_told_may_try_again) {
  auto w = forgetful(graph({step("a")}));
  w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
  w.advance_ms(58'000);
  w.recover(0);
  ASSERT_TRUE(w.record.parked());
  const auto made = w.operate(v1::OPERATOR_VERB_RETRY, "a");
  EXPECT_EQ(key_of(made), "t1/a/perform/0") << "never another key while it is in doubt";
  EXPECT_EQ(w.at(0).key_used_at_unix_ms(), w.now_ms) << "for a service that has forgotten it this is the first use";
  EXPECT_FALSE(w.record.parked());
}

TEST(task_keys, it_is_looked_up_where_the_agent_can) {
  world w{graph({step("a")})};
  w.agents.key_valid_for["do_a"] = 60'000;
  w.agents.lookups.insert("do_a");
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
  w.advance_ms(58'000);
  const auto made = w.recover(0);
  ASSERT_EQ(made.performs.size(), 1u);
  EXPECT_EQ(made.performs[0].message.direction(), v1::DIRECTION_LOOKUP);
  EXPECT_FALSE(w.record.parked());
  EXPECT_EQ(key_of(w.outcome_of(0, v1::DIRECTION_LOOKUP, v1::LOOKUP_VERDICT_NEVER_HAPPENED)), "t1/a/perform/1");
  EXPECT_EQ(w.at(0).key_used_at_unix_ms(), w.now_ms);
}

TEST(task_keys, a_step_that_cools_off_or_would_be_undone_is_left_to_an_operator_all_the_same) {
  for (const auto answer : {v1::ON_FAILURE_COOL_OFF, v1::ON_FAILURE_UNDO}) {
    auto definition = graph({undoable(step("a"))});
    definition.set_on_failure(answer);
    definition.set_cool_off_ms(600'000);
    auto w = forgetful(definition);
    w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
    w.advance_ms(58'000);
    w.recover(0);
    EXPECT_TRUE(w.record.parked()) << answer;
    EXPECT_EQ(w.record.state(), v1::TASK_STATE_RUNNING);
  }
}

TEST(task_keys, a_look_up_that_fails_does_not_hide_that_the_key_may_be_forgotten) {
  auto definition = graph({undoable(step("a"))});
  definition.set_on_failure(v1::ON_FAILURE_UNDO);
  world w{definition};
  w.agents.key_valid_for["do_a"] = 60'000;
  w.agents.lookups.insert("do_a");
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
  w.advance_ms(58'000);
  w.recover(0);
  w.fault_of(0, v1::DIRECTION_LOOKUP, v1::FAULT_KIND_PERMANENT, "http_403");
  EXPECT_TRUE(w.record.parked());
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_RUNNING);
  EXPECT_EQ(key_of(w.operate(v1::OPERATOR_VERB_RETRY, "a")), "t1/a/perform/0") << "and who has been told may try again";
}

TEST(task_keys, where_nothing_has_happened_an_old_key_gives_way_to_a_fresh_one) {
  auto w = forgetful(graph({step("a")}));
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  w.advance_ms(58'000);
  EXPECT_EQ(key_of(w.recover(0)), "t1/a/perform/1");
  EXPECT_EQ(w.at(0).key_used_at_unix_ms(), w.now_ms);
}

// A step that is undone, with `a` performed and its undo handed over once; refunds are honoured for a minute.
world refunding() {
  auto definition = graph({undoable(step("a"))});
  definition.set_on_failure(v1::ON_FAILURE_UNDO);
  world w{std::move(definition)};
  w.agents.key_valid_for["undo_a"] = 60'000;
  w.started();
  w.outcome(0, 1);
  w.operate(v1::OPERATOR_VERB_UNDO);
  EXPECT_EQ(w.at(0).undo().made(), 1u);
  return w;
}

TEST(task_keys, an_undo_in_doubt_is_not_repeated_once_the_service_may_have_forgotten_its_key) {
  auto w = refunding();
  w.fault_of(0, v1::DIRECTION_UNDO, v1::FAULT_KIND_IN_DOUBT, "http_504");
  w.operate(v1::OPERATOR_VERB_PAUSE);
  w.advance_ms(57'000);  // an undo's lease of four seconds would end beyond the minute
  w.operate(v1::OPERATOR_VERB_RESUME);
  w.apply(task_due{});
  EXPECT_EQ(w.at(0).undo().made(), 1u) << "money would be given back twice";
  EXPECT_TRUE(w.record.parked());
  EXPECT_NE(w.record.parked_reason().find("key_expired"), std::string::npos) << w.record.parked_reason();
  EXPECT_TRUE(noted(w, v1::EVENT_KIND_STEP_KEY_EXPIRED));
  w.operate(v1::OPERATOR_VERB_RETRY, "a");
  EXPECT_EQ(w.at(0).undo().made(), 2u) << "whoever has been told so and asks for it means it";
}

TEST(task_keys, an_undo_that_never_happened_may_be_repeated_for_ever) {
  auto w = refunding();
  w.fault_of(0, v1::DIRECTION_UNDO, v1::FAULT_KIND_TRANSIENT);
  w.operate(v1::OPERATOR_VERB_PAUSE);
  w.advance_ms(600'000);
  w.operate(v1::OPERATOR_VERB_RESUME);
  w.apply(task_due{});
  EXPECT_EQ(w.at(0).undo().made(), 2u);
  w.undone(0);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_UNDONE);
  EXPECT_EQ(w.at(0).undo_key_used_at_unix_ms(), 0);
}

}  // namespace
}  // namespace fairlead::core::testing
