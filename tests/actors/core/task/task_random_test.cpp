// Random graphs under random events, most of them out of place. `apply` checks what is true of every record; this file adds what is true
// of a whole run.

#include <random>
#include <set>

#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

using engine_of_chance = std::mt19937_64;

std::uint32_t below(engine_of_chance& chance, std::uint32_t limit) { return static_cast<std::uint32_t>(chance() % limit); }

/// A step that the Scheduler carries out itself, with the needs of another.
v1::StepDefinition own_step(engine_of_chance& chance, const v1::StepDefinition& from) {
  v1::StepDefinition out;
  out.set_name(from.name());
  *out.mutable_needs() = from.needs();
  out.mutable_undo()->set_none(true);
  out.set_with_json("null");
  switch (below(chance, 3)) {
    case 0:
      out.set_kind(v1::STEP_KIND_VALUE);
      out.set_with_json(below(chance, 2) == 0 ? R"({"v":"${ .input.n }"})" : R"({"v":"${ .input.n + 1 }"})");
      break;
    case 1:
      out.set_kind(v1::STEP_KIND_WAIT);
      out.set_with_json(below(chance, 3) == 0 ? R"("${ .input.n }")" : R"("4s")");
      break;
    default:
      out.set_kind(v1::STEP_KIND_SIGNAL);
      out.set_signal("go");
      out.set_timeout_ms(1 + below(chance, 20'000));
      out.set_goes_on_untimely(below(chance, 2) == 0);
  }
  return out;
}

/// Steps without an agent, steps that are repeated or answered later, and an output.
void add_constructs(engine_of_chance& chance, v1::WorkflowDefinition& to) {
  if (below(chance, 3) == 0) to.set_output_json(below(chance, 2) == 0 ? R"({"n":"${ .input.n }"})" : R"("${ .input.n + 1 }")");
  for (auto& one : *to.mutable_steps()) {
    if (one.pivot()) continue;
    if (below(chance, 5) == 0) {
      one = own_step(chance, one);
    } else if (below(chance, 8) == 0) {
      one = with_undo_none(one);
      one.mutable_repeat()->set_until_json("\"${ .steps." + one.name() + ".v > 500 }\"");
      one.mutable_repeat()->set_every_ms(below(chance, 2) * 2'000);
      one.mutable_repeat()->set_most(1 + below(chance, 4));
    }
    if (one.kind() == v1::STEP_KIND_CALL && below(chance, 3) == 0) one.set_callback_ms(1 + below(chance, 20'000));
  }
}

/// Rules for some faults of some steps that agents carry out.
void add_rules(engine_of_chance& chance, v1::WorkflowDefinition& to) {
  for (auto& one : *to.mutable_steps()) {
    if (one.kind() != v1::STEP_KIND_CALL || below(chance, 2) == 0) continue;
    const auto count = 1 + below(chance, 3);
    for (std::uint32_t i = 0; i < count; ++i) {
      auto& rule = *one.add_retry();
      rule.add_on(std::vector<std::string>{"fault", "busy*", "*"}.at(count == 1 ? below(chance, 3) : i));
      if (below(chance, 3) != 0) rule.set_attempts(1 + below(chance, 4));
      if (rule.attempts() == 0 || below(chance, 3) == 0) rule.set_retry_for_ms(1 + below(chance, 20'000));
      if (below(chance, 2) == 0) {
        rule.mutable_backoff()->set_first_ms(1 + below(chance, 2'000));
        rule.mutable_backoff()->set_factor(1);
        rule.mutable_backoff()->set_max_ms(2'000);
      }
    }
  }
}

v1::WorkflowDefinition random_graph(engine_of_chance& chance) {
  std::vector<v1::StepDefinition> steps;
  const auto count = 1 + below(chance, 8);
  for (std::uint32_t i = 0; i < count; ++i) {
    std::vector<std::string> needs;
    for (std::uint32_t j = 0; j < i; ++j)
      if (below(chance, 3) == 0) needs.push_back("s" + std::to_string(j));
    const auto kind = below(chance, 4);
    std::string with;
    if (kind == 0) with = R"({"n":"${ .input.n }"})";
    if (kind == 1) with = R"({"m":"${ .input.n + 1 }"})";
    if (kind == 2 && !needs.empty()) with = "\"${ .steps." + needs[0] + " }\"";
    auto one = step("s" + std::to_string(i), needs, with);
    one.set_agent(below(chance, 2) == 0 ? "svc" : "other");
    if (below(chance, 4) == 0) {
      one.set_attempts(below(chance, 2) == 0 ? 0 : 5);
      one.set_retry_for_ms(1 + below(chance, 20'000));
    } else {
      one.set_attempts(1 + below(chance, 5));
    }
    const auto in_doubt = below(chance, 10);
    if (in_doubt < 2) one.set_in_doubt(in_doubt == 0 ? v1::IN_DOUBT_PARK : v1::IN_DOUBT_FAIL);
    if (below(chance, 12) == 0) one.set_on_failure(v1::ON_FAILURE_FAIL);
    one = below(chance, 4) == 0 ? with_undo_none(one) : undoable(one, below(chance, 6) == 0 ? R"({"n":"${ .input.n + 1 }"})" : "");
    steps.push_back(one);
  }
  auto out = graph(steps, below(chance, 8) == 0 ? 200'000 : 0);
  if (below(chance, 3) != 0) out.set_on_failure(v1::ON_FAILURE_UNDO);
  if (out.on_failure() != v1::ON_FAILURE_UNDO && below(chance, 3) == 0) out.set_on_failure(v1::ON_FAILURE_FAIL);
  if (out.on_failure() == v1::ON_FAILURE_PARK && below(chance, 3) == 0) {
    out.set_on_failure(v1::ON_FAILURE_COOL_OFF);
    out.set_cool_off_ms(20'000);
    for (auto& one : *out.mutable_steps()) one.set_on_failure(v1::ON_FAILURE_COOL_OFF);
  }
  // A pivot is undone by nothing, and nothing after it may say undo.
  if (below(chance, 4) == 0) {
    auto& pivot = *out.mutable_steps(out.steps_size() - 1);
    pivot.set_pivot(true);
    pivot = with_undo_none(pivot);
  }
  if (below(chance, 3) == 0) add_constructs(chance, out);
  if (below(chance, 3) == 0) add_rules(chance, out);
  if (below(chance, 3) == 0)
    for (auto& one : *out.mutable_steps())
      if (one.has_undo() && !one.undo().none()) one.mutable_undo()->set_also_if_failed(below(chance, 2) == 0);
  return out;
}

/// Some steps start when some of their needs are completed, and some of these needs may fail.
void add_joins(engine_of_chance& chance, v1::WorkflowDefinition& to) {
  for (auto& one : *to.mutable_steps()) {
    if (one.needs_size() < 2 || below(chance, 4) == 0) continue;
    one.set_join(1 + below(chance, static_cast<std::uint32_t>(one.needs_size())));
    if (one.with_json().find(".steps") != std::string::npos && one.kind() == v1::STEP_KIND_CALL) one.set_with_json("");
    if (below(chance, 2) == 0) continue;
    for (auto& other : *to.mutable_steps())
      if (other.kind() == v1::STEP_KIND_CALL && !other.pivot() && below(chance, 2) == 0) other.set_on_failure(v1::ON_FAILURE_CONTINUE);
  }
}

/// Steps of the end, behind all others.
void add_ends(engine_of_chance& chance, v1::WorkflowDefinition& to) {
  const auto count = 1 + below(chance, 3);
  for (std::uint32_t i = 0; i < count; ++i) {
    auto one = with_undo_none(step("s" + std::to_string(to.steps_size())));
    if (below(chance, 4) == 0) one = own_step(chance, one);
    if (one.kind() == v1::STEP_KIND_CALL) {
      one.set_agent(below(chance, 2) == 0 ? "svc" : "other");
      one.set_attempts(1 + below(chance, 3));
      one.set_with_json(below(chance, 2) == 0 ? R"({"end":"${ .task.end }","s":"${ .steps.s0 }"})" : R"({"m":"${ .input.n + 1 }"})");
      if (const auto in_doubt = below(chance, 4); in_doubt < 2) one.set_in_doubt(in_doubt == 0 ? v1::IN_DOUBT_PARK : v1::IN_DOUBT_FAIL);
      if (below(chance, 4) == 0) one.set_callback_ms(1 + below(chance, 20'000));
    }
    one.set_finally(below(chance, 2) == 0 ? v1::FINALLY_ALWAYS : v1::FINALLY_AFTER_FAILURE);
    const auto& before = to.steps(to.steps_size() - 1);
    if (before.finally() == one.finally() && below(chance, 2) == 0) one.add_needs(before.name());
    *to.add_steps() = one;
  }
}

attempt_ended random_end(engine_of_chance& chance, const world& w, std::uint32_t step, bool there) {
  attempt_ended e;
  e.step = step;
  e.direction = there && below(chance, 20) != 0 ? w.at(step).direction() : static_cast<v1::Direction>(below(chance, 3));
  e.attempt = (there ? attempt_of(w.at(step), e.direction) : 0) + (below(chance, 8) == 0 ? 1 : 0);
  const auto how = below(chance, 12);
  if (how < 7) {
    e.output = R"({"v":)" + std::to_string(chance() % 1000) + "}";
    e.verdict = static_cast<v1::LookupVerdict>(1 + below(chance, 3));
  } else {
    e.fault.emplace();
    e.fault->set_kind(how == 7 ? v1::FAULT_KIND_PERMANENT : how < 10 ? v1::FAULT_KIND_TRANSIENT : v1::FAULT_KIND_IN_DOUBT);
    e.fault->set_code(below(chance, 2) == 0 ? "fault" : below(chance, 2) == 0 ? "busy_1" : "busy_2");
  }
  return e;
}

operated random_action(engine_of_chance& chance, const world& w, std::uint32_t step, bool there) {
  operated e;
  e.action.set_verb(static_cast<v1::OperatorVerb>(1 + below(chance, 9)));
  if (below(chance, 6) == 0) e.action.set_verb(v1::OPERATOR_VERB_SIGNAL);
  if (e.action.verb() == v1::OPERATOR_VERB_SIGNAL) e.action.set_signal("go");
  e.action.set_at_once(below(chance, 2) == 0);
  // Undo, cancel and terminate end everything: rarer than the rest.
  const auto ends = e.action.verb() == v1::OPERATOR_VERB_UNDO || e.action.verb() == v1::OPERATOR_VERB_CANCEL ||
                    e.action.verb() == v1::OPERATOR_VERB_TERMINATE;
  if (ends && below(chance, 4) != 0) e.action.set_verb(v1::OPERATOR_VERB_RETRY);
  if (w.record.paused() && below(chance, 2) == 0) e.action.set_verb(v1::OPERATOR_VERB_RESUME);
  if (there && below(chance, 3) != 0) e.action.set_step(w.at(step).path());
  if (below(chance, 3) == 0 || e.action.verb() == v1::OPERATOR_VERB_SETTLE_COMPLETED)
    e.action.set_json(below(chance, 6) == 0 ? "{not json" : R"({"by":"hand"})");
  e.action.set_who("ann");
  return e;
}

operated random_callback(engine_of_chance& chance, const world& w, std::uint32_t step, bool there) {
  operated e;
  e.action.set_verb(v1::OPERATOR_VERB_CALLBACK);
  e.action.set_who("service");
  if (below(chance, 2) == 0) e.action.set_json(below(chance, 8) == 0 ? "{not json" : R"({"v":700})");
  if (below(chance, 4) == 0) {
    e.action.mutable_fault()->set_kind(below(chance, 2) == 0 ? v1::FAULT_KIND_PERMANENT : v1::FAULT_KIND_TRANSIENT);
    e.action.mutable_fault()->set_code("refused");
  }
  e.called_back = {step, (there ? w.at(step).generation() : 0) + (below(chance, 8) == 0 ? 1 : 0)};
  return e;
}

event random_event(engine_of_chance& chance, const world& w) {
  const auto step = below(chance, static_cast<std::uint32_t>(w.record.steps_size()) + 1);
  const auto there = step < static_cast<std::uint32_t>(w.record.steps_size());
  switch (below(chance, 13)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4: return random_end(chance, w, step, there);
    case 5:
    case 6: {
      recovery_requested e{step, 0, 0};
      if (!there) return e;
      e.direction = w.at(step).direction();
      e.attempt = attempt_of(w.at(step), e.direction) + (below(chance, 8) == 0 ? 1 : 0);
      e.failure_count = failures_of(w.at(step), e.direction) + (below(chance, 8) == 0 ? 1 : 0);
      return e;
    }
    case 7: return task_due{};
    case 8: return slot_freed{};
    case 9:
      return expressions_evaluated{step,
                                   {below(chance, 3) == 0 ? "false" : "true"},
                                   below(chance, 30) == 0 ? std::optional<error>{error{v1::ERROR_CODE_EXPRESSION, "no", ""}} : std::nullopt,
                                   static_cast<v1::ExpressionPart>(below(chance, v1::ExpressionPart_MAX + 1))};
    case 10: return task_admitted{};
    case 11:
      if (below(chance, 6) == 0) return random_action(chance, w, step, there);
      if (below(chance, 4) == 0) return random_callback(chance, w, step, there);
      return random_end(chance, w, step, there);
    default: return agent_replaced{"n1/svc", w.agents.instances.at("n1/svc").incarnation};
  }
}

// Slots held are attempts out, at whatever instance is still the one they were handed to.
void check_slots(const world& w) {
  std::map<std::string, int> out;
  for (const auto& step : w.record.steps())
    if (attempt_out(step) && w.agents.instances.at(step.instance()).incarnation == step.incarnation()) ++out[step.instance()];
  for (const auto& [name, one] : w.agents.instances) EXPECT_EQ(one.held, out[name]) << name;
}

void check_end(const world& w) {
  for (const auto& step : w.record.steps()) {
    EXPECT_FALSE(attempt_out(step));
    const auto& of = w.definition().step_definition(step.definition());
    if (of.finally() != v1::FINALLY_NO) {
      EXPECT_TRUE(satisfies_needs(step)) << step.path() << " is of the end, and is not over";
    }
    if (w.record.state() == v1::TASK_STATE_FAILED) {
      const auto at_end = of.finally() != v1::FINALLY_NO && of.in_doubt() != v1::IN_DOUBT_PARK;
      EXPECT_TRUE(!step.doubtful() || w.record.terminated() || of.in_doubt() == v1::IN_DOUBT_FAIL || at_end)
          << step.path() << ": doubt passed over";
      EXPECT_EQ(step.not_before_unix_ms(), 0);
      EXPECT_EQ(step.doubtful() && step.state() != v1::STEP_STATE_UNDOING, step.state() == v1::STEP_STATE_IN_DOUBT) << step.path();
      continue;
    }
    // With `undo: none` nobody has to take back what a step has done that the task goes on without.
    EXPECT_FALSE(step.doubtful() && !(step.passed_over() && !step.dropped())) << step.path() << ": doubt passed over";
    if (w.record.state() == v1::TASK_STATE_COMPLETED) {
      EXPECT_TRUE(is_over(w.definition(), step)) << step.path() << " is not over";
    } else {
      EXPECT_EQ(w.record.state(), v1::TASK_STATE_UNDONE);
      EXPECT_TRUE(step.state() != v1::STEP_STATE_COMPLETED || of.undo().none()) << step.path() << " still stands";
      EXPECT_FALSE(is_undone_though_failed(of, step)) << step.path() << " has failed, and its undo was passed over";
    }
  }
}

struct tally {
  int completed = 0;
  int undone = 0;
  int parked = 0;
  int failed = 0;
  int undone_after_failed = 0;
  int blocked = 0;
  int looked_up = 0;
  int ruled = 0;
  int undone_though_failed = 0;
  int dropped = 0;
  int dropped_undone = 0;
  int ended_well = 0;
  int after_undo = 0;
};

bool over(const world& w) { return has_ended(w.record); }

/// A step of the end is handed over to be performed.
void check_end_begins(const world& w, const v1::StepDefinition& of, tally& seen, bool undo_seen) {
  for (const auto& other : w.record.steps()) {
    if (w.definition().step_definition(other.definition()).finally() != v1::FINALLY_NO) continue;
    // A look-up may be in progress that was asked for before the task was to be undone.
    EXPECT_FALSE(attempt_out(other) && other.direction() == v1::DIRECTION_PERFORM)
        << of.name() << " begins while " << other.path() << " is in progress";
  }
  const auto fails = w.record.state() == v1::TASK_STATE_UNDOING || w.record.failing();
  EXPECT_TRUE(fails || of.finally() == v1::FINALLY_ALWAYS) << of.name() << " is performed although the task completes";
  EXPECT_FALSE(undo_seen && of.finally() == v1::FINALLY_ALWAYS) << of.name() << " begins after an undo";
  seen.after_undo += undo_seen ? 1 : 0;
}

void run(std::uint64_t seed, tally& seen) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  engine_of_chance chance{seed};
  auto definition = random_graph(chance);
  engine_of_chance of_joins{seed + 1'000'000};
  if (seed % 3 == 0) add_joins(of_joins, definition);
  engine_of_chance of_ends{seed + 2'000'000};
  if (seed % 4 == 1 && seed < 700) add_ends(of_ends, definition);
  world w{definition};
  w.agents.instances["n1/svc"].capacity = static_cast<int>(1 + below(chance, 3));
  w.agents.instances["n2/other"] = {"other", 1, static_cast<int>(1 + below(chance, 3)), 0};
  for (int i = 0; i < w.definition().definition().steps_size(); ++i)
    if (below(chance, 3) == 0) w.agents.lookups.insert(w.definition().definition().steps(i).call());
  w.submit();
  std::set<std::tuple<std::uint32_t, v1::Direction, std::uint32_t>> handed_over;  // (step, direction, attempt)
  std::map<std::string, std::uint32_t> keys;                                      // key -> step
  bool undo_seen = false;
  bool failed = false;
  for (int i = 0; i < 600; ++i) {
    if (over(w)) {
      // A failed task may be undone.
      if (w.record.state() != v1::TASK_STATE_FAILED || failed || w.operate(v1::OPERATOR_VERB_UNDO).refused) break;
      failed = true;
    }
    if (below(chance, 50) == 0) w.agents.blocked["svc"] += below(chance, 30'000);
    if (below(chance, 4) == 0) w.advance_ms(below(chance, 3'000));
    if (below(chance, 40) == 0) w.hold_undo = !w.hold_undo;
    auto what = random_event(chance, w);
    if (below(chance, 60) == 0) {
      w.agents.replace("n1/svc");
      what = agent_replaced{"n1/svc", w.agents.instances.at("n1/svc").incarnation};
    }
    const auto before = w.record;
    const auto was_parked = before.parked();
    const auto made = w.apply(what);
    for (const auto& one : made.performs) {
      const auto& m = one.message;
      EXPECT_TRUE(handed_over.emplace(m.step(), m.direction(), m.attempt()).second)
          << "step " << m.step() << " attempt " << m.attempt() << " was handed over twice";
      EXPECT_TRUE(attempt_out(w.at(m.step())));
      EXPECT_EQ(attempt_of(w.at(m.step()), m.direction()), m.attempt());
      EXPECT_EQ(w.at(m.step()).instance(), one.instance);
      EXPECT_EQ(keys.emplace(m.idempotency_key(), m.step()).first->second, m.step());
      const auto& of = w.definition().step_definition(m.step());
      const auto at_end = of.finally() != v1::FINALLY_NO;
      if (at_end && m.direction() == v1::DIRECTION_PERFORM) check_end_begins(w, of, seen, undo_seen);
      EXPECT_FALSE(m.direction() == v1::DIRECTION_PERFORM && undo_seen && !at_end) << "performed after an undo";
      const auto dropped = w.at(m.step()).dropped();
      // A value in the same decision may meet a join right after the step was handed over.
      EXPECT_FALSE(before.steps(static_cast<int>(m.step())).dropped() && m.direction() == v1::DIRECTION_PERFORM)
          << "performed although no step needs it";
      undo_seen = undo_seen || (m.direction() == v1::DIRECTION_UNDO && !dropped);
      if (m.direction() == v1::DIRECTION_UNDO && !m.in_doubt() && !w.at(m.step()).has_output()) {
        EXPECT_TRUE(w.definition().step_definition(m.step()).undo().also_if_failed()) << "undone though it has failed for certain";
        ++seen.undone_though_failed;
      }
      EXPECT_FALSE(w.record.failing() && m.direction() != v1::DIRECTION_LOOKUP && !at_end) << "started although the task is to fail";
      EXPECT_FALSE(w.record.terminated()) << "started although the task is terminated";
      seen.looked_up += m.direction() == v1::DIRECTION_LOOKUP ? 1 : 0;
    }
    if (w.record.parked() && !was_parked) {
      EXPECT_FALSE(made.alerts.empty()) << "parked and nobody is told";
    }
    if (made.ended) check_end(w);
    seen.failed += made.ended && w.record.state() == v1::TASK_STATE_FAILED ? 1 : 0;
    if (w.record.failing() && !w.definition().has_end()) {
      EXPECT_TRUE(any_attempt_out(w.record) || w.record.parked() || w.record.paused() || !made.waiting.empty() || !made.changed ||
                  std::any_of(w.record.steps().begin(), w.record.steps().end(),
                              [](const auto& one) { return one.direction() == v1::DIRECTION_LOOKUP; }))
          << "to fail, and nothing is waited for";
    }
    for (const auto& noted : made.transitions)
      seen.blocked += std::string_view{noted.from} == "pending" && std::string_view{noted.to} == "failed";
    check_slots(w);
    if (::testing::Test::HasFailure()) return;
  }
  for (const auto& step : w.record.steps())
    seen.ruled += std::any_of(step.retried().begin(), step.retried().end(), [](const auto& one) { return one.failed() > 1; }) ? 1 : 0;
  for (const auto& step : w.record.steps()) {
    const auto at_end = w.definition().step_definition(step.definition()).finally() != v1::FINALLY_NO;
    seen.ended_well += at_end && step.state() == v1::STEP_STATE_COMPLETED ? 1 : 0;
    seen.dropped += step.dropped() ? 1 : 0;
    const auto undone = w.record.state() == v1::TASK_STATE_COMPLETED && step.state() == v1::STEP_STATE_UNDONE;
    seen.dropped_undone += step.dropped() && undone ? 1 : 0;
  }
  seen.completed += w.record.state() == v1::TASK_STATE_COMPLETED ? 1 : 0;
  seen.undone += w.record.state() == v1::TASK_STATE_UNDONE ? 1 : 0;
  seen.parked += w.record.parked() ? 1 : 0;
  seen.undone_after_failed += failed && w.record.state() == v1::TASK_STATE_UNDONE ? 1 : 0;
}

TEST(task, keeps_its_rules_through_random_graphs_and_random_events) {
  tally seen;
  for (std::uint64_t seed = 1; seed <= 1'500; ++seed) {
    run(seed, seen);
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  EXPECT_GT(seen.completed, 80) << "a run in which little completes shows little";
  EXPECT_GT(seen.undone, 80);
  EXPECT_GT(seen.dropped, 40);
  EXPECT_GT(seen.dropped_undone, 1);
  EXPECT_GT(seen.ended_well, 20);
  EXPECT_GT(seen.after_undo, 0);
  EXPECT_GT(seen.parked, 80);
  EXPECT_GT(seen.looked_up, 80);
  EXPECT_GT(seen.failed, 80);
  EXPECT_GT(seen.undone_after_failed, 20);
  EXPECT_GT(seen.blocked, 5);
  EXPECT_GT(seen.ruled, 50);
  EXPECT_GT(seen.undone_though_failed, 20);
}

}  // namespace
}  // namespace fairlead::core::testing
