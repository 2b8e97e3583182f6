#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

v1::StepDefinition beating(v1::StepDefinition of, std::int64_t heartbeat_ms = 1'000) {
  of.set_heartbeat_ms(heartbeat_ms);
  return of;
}

attempt_heartbeat beat(std::uint32_t attempt, v1::Direction direction = v1::DIRECTION_PERFORM) {
  attempt_heartbeat out;
  out.attempt = attempt;
  out.direction = direction;
  return out;
}

attempt_heartbeat telling(std::uint32_t attempt, std::optional<std::uint32_t> percent, std::string note, std::string checkpoint = {},
                          v1::Direction direction = v1::DIRECTION_PERFORM) {
  auto out = beat(attempt, direction);
  out.has_progress = true;
  out.percent = percent;
  out.note = std::move(note);
  out.checkpoint = std::move(checkpoint);
  return out;
}

TEST(task_heartbeat, an_attempt_holds_its_step_until_its_heartbeat_is_due) {
  world w{graph({beating(step("a"))})};
  w.submit();
  const auto made = w.apply(task_admitted{});
  EXPECT_EQ(w.at(0).complete_by_unix_ms(), start_ms + 5'000);
  EXPECT_EQ(w.at(0).heartbeat_by_unix_ms(), start_ms + 1'000);
  EXPECT_EQ(w.record.due_unix_ms(), start_ms + 1'000);
  ASSERT_EQ(made.performs.size(), 1u);
  EXPECT_EQ(made.performs[0].message.heartbeat_ms(), 1'000);
  EXPECT_EQ(made.performs[0].message.heartbeat_by_unix_ms(), start_ms + 1'000);
  EXPECT_EQ(made.performs[0].message.complete_by_unix_ms(), start_ms + 5'000);
}

TEST(task_heartbeat, a_step_without_one_is_held_until_complete_by) {
  world w{graph({step("a")})};
  w.submit();
  const auto made = w.apply(task_admitted{});
  EXPECT_EQ(w.at(0).heartbeat_by_unix_ms(), 0);
  EXPECT_EQ(made.performs[0].message.heartbeat_ms(), 0);
  const auto version = w.record.version();
  EXPECT_TRUE(w.apply(beat(1)).accepted);
  EXPECT_EQ(w.record.version(), version) << "nothing to write";
}

TEST(task_heartbeat, a_heartbeat_renews_the_lease_up_to_complete_by_and_writes_no_history) {
  world w{graph({beating(step("a"), 3'000)})};
  w.started();
  const auto events = w.record.history_size();
  w.advance_ms(2'000);
  const auto made = w.apply(beat(1));
  EXPECT_TRUE(made.accepted);
  EXPECT_TRUE(made.changed);
  EXPECT_EQ(w.at(0).heartbeat_by_unix_ms(), start_ms + 5'000) << "never beyond complete_by";
  EXPECT_EQ(w.record.due_unix_ms(), start_ms + 5'000);
  EXPECT_EQ(w.record.history_size(), events);
  w.advance_ms(-1'500);
  EXPECT_TRUE(w.apply(beat(1)).accepted);
  EXPECT_EQ(w.at(0).heartbeat_by_unix_ms(), start_ms + 5'000) << "a clock that is set back takes nothing from the agent";
}

TEST(task_heartbeat, a_step_whose_agent_is_not_heard_from_is_in_doubt_and_tried_again) {
  world w{graph({beating(step("a"))})};
  w.started();
  w.advance_ms(999);
  EXPECT_FALSE(w.recover(0).changed);
  w.advance_ms(1);
  EXPECT_TRUE(w.recover(0).changed);
  EXPECT_EQ(w.at(0).state(), v1::STEP_STATE_IN_DOUBT);
  EXPECT_EQ(w.at(0).fault().code(), "heartbeat_missed");
  EXPECT_EQ(w.at(0).fault().message(), "agent instance n1/svc sent no heartbeat for 1s");
  EXPECT_EQ(w.at(0).heartbeat_by_unix_ms(), 0);
  EXPECT_EQ(w.agents.told.back(), "step 0 expired");
}

TEST(task_heartbeat, one_that_is_heard_from_to_the_end_expires_by_complete_by) {
  world w{graph({beating(step("a"))})};
  w.started();
  for (int i = 0; i < 5; ++i) {
    w.advance_ms(900);
    ASSERT_TRUE(w.apply(beat(1)).accepted);
  }
  w.advance_ms(500);
  w.apply(task_due{});
  EXPECT_EQ(w.at(0).fault().code(), "lease_expired");
}

TEST(task_heartbeat, only_the_attempt_that_is_out_is_renewed) {
  world w{graph({beating(step("a"))})};
  w.started();
  EXPECT_FALSE(w.apply(beat(2)).accepted);
  EXPECT_FALSE(w.apply(beat(0)).accepted);
  EXPECT_FALSE(w.apply(beat(1, v1::DIRECTION_UNDO)).accepted);
  EXPECT_FALSE(w.apply(beat(1, v1::DIRECTION_LOOKUP)).accepted);
  auto elsewhere = beat(1);
  elsewhere.step = 7;
  EXPECT_FALSE(w.apply(elsewhere).accepted);
  w.outcome(0, 1);
  EXPECT_FALSE(w.apply(beat(1)).accepted) << "it is over";
}

TEST(task_heartbeat, a_lease_that_is_over_is_not_renewed_though_nobody_has_decided_about_it) {
  world w{graph({beating(step("a"))})};
  w.started();
  w.advance_ms(1'000);
  EXPECT_FALSE(w.apply(beat(1)).accepted);
  EXPECT_TRUE(w.outcome(0, 1).accepted) << "an outcome counts still: nobody else holds the step";
}

TEST(task_heartbeat, keeps_what_the_agent_tells_and_moves_no_wake_up_by_it) {
  world w{graph({step("a")})};
  w.started();
  const auto due = w.record.due_unix_ms();
  w.advance_ms(100);
  EXPECT_TRUE(w.apply(telling(1, 40, "loading pallets")).accepted);
  EXPECT_EQ(w.record.due_unix_ms(), due);
  const auto& told = w.at(0).progress();
  EXPECT_EQ(told.percent(), 40u);
  EXPECT_EQ(told.note(), "loading pallets");
  EXPECT_EQ(told.at_unix_ms(), start_ms + 100);
  EXPECT_EQ(told.attempt(), 1u);
  w.apply(telling(1, 60, ""));
  EXPECT_EQ(w.at(0).progress().percent(), 60u);
  EXPECT_EQ(w.at(0).progress().note(), "loading pallets") << "what is left out stays as it was";
  w.outcome(0, 1);
  EXPECT_FALSE(w.at(0).has_progress()) << "of a step that is completed there is nothing to tell";
}

TEST(task_heartbeat, hands_a_checkpoint_to_the_next_attempt) {
  world w{graph({beating(step("a"))})};
  w.started();
  w.apply(telling(1, 40, "half", R"({"row":7})"));
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  w.advance_ms(1'000);
  const auto made = w.recover(0);
  ASSERT_EQ(made.performs.size(), 1u);
  EXPECT_EQ(made.performs[0].message.checkpoint(), R"({"row":7})");
  w.apply(telling(2, 10, ""));
  EXPECT_EQ(w.at(0).progress().note(), "") << "how far another attempt was says nothing of this one";
  EXPECT_EQ(w.at(0).progress().checkpoint().json(), R"({"row":7})");
}

TEST(task_heartbeat, a_look_up_does_not_cost_the_checkpoint) {
  world w{graph({beating(step("a"))})};
  w.agents.lookups.insert("do_a");
  w.started();
  w.apply(telling(1, 40, "half", R"({"row":7})"));
  for (std::uint32_t attempt = 1; attempt <= 3; ++attempt) {
    w.fault(0, attempt, v1::FAULT_KIND_IN_DOUBT);
    if (attempt == 3) break;
    w.advance_ms(10'000);
    w.recover(0);
  }
  ASSERT_EQ(w.at(0).direction(), v1::DIRECTION_LOOKUP);
  EXPECT_TRUE(w.apply(telling(1, 90, "asking", R"("asked")", v1::DIRECTION_LOOKUP)).accepted);
  w.outcome_of(0, v1::DIRECTION_LOOKUP, v1::LOOKUP_VERDICT_UNKNOWN);
  const auto made = w.operate(v1::OPERATOR_VERB_RETRY, "a");
  ASSERT_EQ(made.performs.size(), 1u);
  EXPECT_EQ(made.performs[0].message.checkpoint(), R"({"row":7})");
}

TEST(task_heartbeat, keeps_a_large_checkpoint_apart_and_only_the_last) {
  world w{graph({step("a")})};
  w.started();
  const auto large = [](char c) { return "\"" + std::string(10'000, c) + "\""; };
  w.apply(telling(1, {}, "", large('a')));
  w.apply(telling(1, {}, "", large('b')));
  ASSERT_EQ(w.payloads.slots.size(), 1u);
  EXPECT_EQ(w.payloads.slots.begin()->second, large('b'));
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  w.advance_ms(1'000);
  const auto made = w.recover(0);
  EXPECT_EQ(made.performs.at(0).message.checkpoint(), large('b'));
  w.outcome(0, 2);
  EXPECT_TRUE(w.payloads.slots.empty());
}

TEST(task_heartbeat, an_undo_is_heard_from_as_well_and_gets_no_checkpoint_of_the_perform) {
  auto definition = graph({undoable(beating(step("a"))), undoable(step("b", {"a"}))});
  definition.set_on_failure(v1::ON_FAILURE_UNDO);
  world w{definition};
  w.started();
  w.apply(telling(1, 90, "nearly", "1"));
  w.outcome(0, 1);
  const auto made = w.fault(1, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_EQ(made.performs.size(), 1u);
  EXPECT_EQ(made.performs[0].message.direction(), v1::DIRECTION_UNDO);
  EXPECT_EQ(made.performs[0].message.checkpoint(), "");
  EXPECT_EQ(w.at(0).heartbeat_by_unix_ms(), start_ms + 1'000);
  EXPECT_TRUE(w.apply(telling(1, 20, "unloading", "2", v1::DIRECTION_UNDO)).accepted);
  EXPECT_EQ(w.at(0).progress().direction(), v1::DIRECTION_UNDO);
  w.undone(0);
  EXPECT_FALSE(w.at(0).has_progress());
  EXPECT_EQ(w.at(0).heartbeat_by_unix_ms(), 0);
}

// ---- how long a service asks to be left alone ----

TEST(task_retry_after, the_next_attempt_waits_as_long_as_the_service_asks_and_a_little_more) {
  const auto wait_for = [](std::int64_t retry_after_ms, std::uint64_t number, std::int64_t timeout_ms = 0) {
    world w{graph({step("a")}, timeout_ms)};
    w.submit();
    w.record.set_number(number);
    w.apply(task_admitted{});
    attempt_ended e;
    e.attempt = 1;
    e.fault.emplace();
    e.fault->set_kind(v1::FAULT_KIND_TRANSIENT);
    e.fault->set_code("http_429");
    e.fault->set_retry_after_ms(retry_after_ms);
    w.apply(e);
    return w.at(0).not_before_unix_ms() - start_ms;
  };
  std::set<std::int64_t> moments;
  for (std::uint64_t number = 1; number <= 1'000; ++number) moments.insert(wait_for(5'000, number));
  EXPECT_GE(*moments.begin(), 5'000);
  EXPECT_LE(*moments.rbegin(), 5'500);
  EXPECT_GT(moments.size(), 300u) << "a thousand steps do not come back in one instant";
  constexpr std::int64_t day = 24LL * 3'600'000;
  EXPECT_LE(wait_for(std::numeric_limits<std::int64_t>::max(), 7), day + day / 10) << "no service sends a step away for ever";
  EXPECT_GE(wait_for(std::numeric_limits<std::int64_t>::max(), 7), day);
  EXPECT_EQ(wait_for(3'600'000, 7, 20'000), 20'000) << "by then the task has timed out";
  for (const auto nonsense : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_GE(wait_for(nonsense, 7), 100);
    EXPECT_LE(wait_for(nonsense, 7), 200);
  }
}

TEST(task_heartbeat, what_was_overtaken_on_its_way_changes_nothing_of_what_is_known) {
  world w{graph({beating(step("a"))})};
  w.started();
  auto later = telling(1, 60, "two thirds", R"({"row":9})");
  later.sequence = 2;
  auto earlier = telling(1, 30, "a third", R"({"row":4})");
  earlier.sequence = 1;
  w.apply(later);
  EXPECT_TRUE(w.apply(earlier).accepted) << "the attempt is held all the same";
  EXPECT_EQ(w.at(0).progress().percent(), 60u);
  EXPECT_EQ(w.at(0).progress().checkpoint().json(), R"({"row":9})");
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  w.advance_ms(1'000);
  w.recover(0);
  auto next = telling(2, 61, "");
  next.sequence = 1;
  w.apply(next);
  EXPECT_EQ(w.at(0).progress().percent(), 61u) << "each attempt counts anew";
}

}  // namespace
}  // namespace fairlead::core::testing
