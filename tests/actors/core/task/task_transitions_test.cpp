// Every event against every situation of a step: which apply, and which leave the record untouched.

#include <functional>

#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

struct situation {
  const char* name;
  std::function<void(world&)> reach;
  const char* applies;  // one character an event, in the order of `events`: `X` applies, `.` does not
};

struct named_event {
  const char* name;
  event what;
};

attempt_ended outcome_of(std::uint32_t step, v1::Direction direction, std::uint32_t attempt) {
  attempt_ended out;
  out.step = step;
  out.direction = direction;
  out.attempt = attempt;
  out.output = "{}";
  return out;
}

const std::vector<named_event>& events() {
  static const std::vector<named_event> all{
      {"admitted", task_admitted{}},
      {"outcome of attempt 1", outcome_of(0, v1::DIRECTION_PERFORM, 1)},
      {"outcome of attempt 2", outcome_of(0, v1::DIRECTION_PERFORM, 2)},
      {"outcome in the other direction", outcome_of(0, v1::DIRECTION_UNDO, 1)},
      {"outcome of attempt 0", outcome_of(0, v1::DIRECTION_PERFORM, 0)},
      {"outcome of a step that is not there", outcome_of(9, v1::DIRECTION_PERFORM, 1)},
      {"recover (1, 0)", recovery_requested{0, 1, 0}},
      {"recover (1, 1)", recovery_requested{0, 1, 1}},
      {"recover (1, 2)", recovery_requested{0, 1, 2}},
      {"recover (2, 1)", recovery_requested{0, 2, 1}},
      {"recover a step that is not there", recovery_requested{9, 1, 0}},
      {"replaced by a higher incarnation", agent_replaced{"n1/svc", 2}},
      {"replaced by the same incarnation", agent_replaced{"n1/svc", 1}},
      {"another instance replaced", agent_replaced{"n2/svc", 9}},
      {"input evaluated", expressions_evaluated{0, {"1"}, std::nullopt}},
      {"when evaluated", expressions_evaluated{0, {"false"}, std::nullopt, v1::EXPRESSION_PART_WHEN}},
      {"input of a step that is not there", expressions_evaluated{9, {"1"}, std::nullopt}},
      {"slot freed", slot_freed{}},
      {"poisoned", task_poisoned{"a bug"}},
  };
  return all;
}

const std::vector<situation>& situations() {
  static const std::vector<situation> all{
      //                                                                              a12u0-RRRR-hsoiwofP
      {"pending", [](world& w) { w.submit(); }, "X.................X"},
      {"running", [](world& w) { w.started(); }, ".X.........X......X"},
      {"running, lease over",
       [](world& w) {
         w.started();
         w.advance_ms(5'000);
       },
       ".X....X....X......X"},
      {"failed, before its time",
       [](world& w) {
         w.started();
         w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
       },
       "..................X"},
      {"failed, recovery due",
       [](world& w) {
         w.started();
         w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
         w.advance_ms(300);
       },
       ".......X..........X"},
      {"in doubt, before its time",
       [](world& w) {
         w.started();
         w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
       },
       "..................X"},
      {"in doubt, recovery due",
       [](world& w) {
         w.started();
         w.fault(0, 1, v1::FAULT_KIND_IN_DOUBT);
         w.advance_ms(300);
       },
       ".......X..........X"},
      {"running again",
       [](world& w) {
         w.started();
         w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
         w.advance_ms(300);
         w.recover(0);
       },
       "..X........X......X"},
      {"running again, lease over",
       [](world& w) {
         w.started();
         w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
         w.advance_ms(300);
         w.recover(0);
         w.advance_ms(5'000);
       },
       "..X......X.X......X"},
      {"waiting for a slot",
       [](world& w) {
         w.agents.instances["n1/svc"].capacity = 0;
         w.started();
         w.agents.instances["n1/svc"].capacity = 1;
       },
       ".................XX"},
      {"completed",
       [](world& w) {
         w.started();
         w.outcome(0, 1);
       },
       "..................."},
      {"parked, failed",
       [](world& w) {
         w.started();
         w.fault(0, 1, v1::FAULT_KIND_PERMANENT);
         w.advance_ms(300);
       },
       "..................."},
      {"parked, running",
       [](world& w) {
         w.started();
         w.apply(task_poisoned{"an operator must look"});
       },
       ".X.........X......."},
      {"parked, running, lease over",
       [](world& w) {
         w.started();
         w.apply(task_poisoned{"an operator must look"});
         w.advance_ms(5'000);
       },
       ".X....X....X......."},
  };
  return all;
}

TEST(task, applies_exactly_the_events_that_its_state_allows) {
  for (const auto& one : situations()) {
    std::string applied;
    for (const auto& candidate : events()) {
      SCOPED_TRACE(std::string{one.name} + ", " + candidate.name);
      world w{graph({step("a")})};
      one.reach(w);
      if (std::string{candidate.name}.rfind("replaced by a higher", 0) == 0) w.agents.replace("n1/svc");
      applied += w.apply(candidate.what).changed ? 'X' : '.';
    }
    ASSERT_EQ(applied.size(), events().size());
    EXPECT_EQ(applied, one.applies) << one.name;
    for (std::size_t i = 0; i < applied.size(); ++i) EXPECT_EQ(applied[i], one.applies[i]) << one.name << ": " << events()[i].name;
  }
}

TEST(task, says_accepted_for_an_outcome_exactly_when_it_applies) {
  for (const auto& one : situations()) {
    for (const auto& candidate : events()) {
      if (!std::holds_alternative<attempt_ended>(candidate.what)) continue;
      SCOPED_TRACE(std::string{one.name} + ", " + candidate.name);
      world w{graph({step("a")})};
      one.reach(w);
      const auto made = w.apply(candidate.what);
      EXPECT_EQ(made.accepted, made.changed);
    }
  }
}

TEST(task, takes_an_outcome_after_complete_by_until_recovery_is_decided) {
  world late{graph({step("a")})};
  late.started().advance_ms(60'000);
  EXPECT_TRUE(late.outcome(0, 1).accepted);
  EXPECT_EQ(late.record.state(), v1::TASK_STATE_COMPLETED);

  world too_late{graph({step("a")})};
  too_late.started().advance_ms(5'000);
  EXPECT_TRUE(too_late.recover(0).changed);
  EXPECT_FALSE(too_late.outcome(0, 1).accepted);
  EXPECT_EQ(too_late.at(0).state(), v1::STEP_STATE_IN_DOUBT);
}

TEST(task, counts_an_outcome_once) {
  world w{graph({step("a"), step("b", {"a"})})};
  w.started();
  EXPECT_TRUE(w.outcome(0, 1, R"({"v":1})").accepted);
  EXPECT_FALSE(w.outcome(0, 1, R"({"v":2})").accepted);
  EXPECT_EQ(w.at(0).output().json(), R"({"v":1})");
}

TEST(task, gives_a_slot_back_exactly_when_its_attempt_leaves_running) {
  world w{graph({step("a")})};
  const auto held = [&w] { return w.agents.instances["n1/svc"].held; };
  w.started();
  EXPECT_EQ(held(), 1);
  w.fault(0, 1, v1::FAULT_KIND_TRANSIENT);
  EXPECT_EQ(held(), 0);
  w.advance_ms(1'000);
  w.recover(0);
  EXPECT_EQ(held(), 1);
  w.advance_ms(5'000);
  w.recover(0);
  EXPECT_EQ(held(), 0);
  w.advance_ms(60'000);
  w.recover(0);
  w.outcome(0, 3);
  EXPECT_EQ(held(), 0);
}

TEST(task, gives_the_slot_of_an_expired_attempt_back_also_when_it_is_parked) {
  world w{graph({step("a"), step("b")})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_PERMANENT);
  ASSERT_TRUE(w.record.parked());
  EXPECT_EQ(w.agents.instances["n1/svc"].held, 1);
  EXPECT_EQ(w.record.due_unix_ms(), start_ms + 5'000) << "the lease of what is still out is awaited";
  w.advance_ms(5'000);
  w.apply(task_due{});
  EXPECT_EQ(w.agents.instances["n1/svc"].held, 0);
  EXPECT_EQ(w.at(1).state(), v1::STEP_STATE_IN_DOUBT);
  EXPECT_EQ(w.record.due_unix_ms(), 0);
  w.advance_ms(600'000);
  EXPECT_FALSE(w.recover(1).changed) << "another attempt waits for the operator";
}

TEST(task, records_what_an_agent_achieved_after_it_was_parked_and_starts_nothing) {
  world w{graph({step("a"), step("b"), step("c", {"b"})})};
  w.started();
  w.fault(0, 1, v1::FAULT_KIND_PERMANENT);
  const auto made = w.outcome(1, 1, "7");
  EXPECT_TRUE(made.accepted);
  EXPECT_TRUE(made.performs.empty());
  EXPECT_EQ(w.at(1).state(), v1::STEP_STATE_COMPLETED);
  EXPECT_EQ(w.at(2).state(), v1::STEP_STATE_PENDING);
  EXPECT_EQ(w.record.due_unix_ms(), 0);
}

}  // namespace
}  // namespace fairlead::core::testing
