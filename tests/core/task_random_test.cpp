// Random graphs under random events, most of them out of place. `apply` checks what is true of every record; this file adds what is true
// of a whole run.

#include <random>
#include <set>

#include "tests/core/task_world.hpp"

namespace fairlead::core::testing {
namespace {

using engine_of_chance = std::mt19937_64;

std::uint32_t below(engine_of_chance& chance, std::uint32_t limit) { return static_cast<std::uint32_t>(chance() % limit); }

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
    one.set_attempts(1 + below(chance, 5));
    if (below(chance, 10) == 0) one.set_in_doubt(v1::IN_DOUBT_PARK);
    steps.push_back(one);
  }
  return graph(steps, below(chance, 8) == 0 ? 200'000 : 0);
}

event random_event(engine_of_chance& chance, const world& w) {
  const auto step = below(chance, static_cast<std::uint32_t>(w.record.steps_size()) + 1);
  const auto there = step < static_cast<std::uint32_t>(w.record.steps_size());
  const auto attempt = (there ? w.at(step).attempt() : 0) + (below(chance, 8) == 0 ? 1 : 0);
  switch (below(chance, 12)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4: {
      attempt_ended e;
      e.step = step;
      e.attempt = attempt;
      e.direction = below(chance, 20) == 0 ? v1::DIRECTION_UNDO : v1::DIRECTION_PERFORM;
      const auto how = below(chance, 12);
      if (how < 7) {
        e.output = R"({"v":)" + std::to_string(chance() % 1000) + "}";
      } else {
        e.fault.emplace();
        e.fault->set_kind(how == 7 ? v1::FAULT_KIND_PERMANENT : how < 10 ? v1::FAULT_KIND_TRANSIENT : v1::FAULT_KIND_IN_DOUBT);
        e.fault->set_code("fault");
      }
      return e;
    }
    case 5:
    case 6: return recovery_requested{step, attempt, there ? w.at(step).failure_count() + (below(chance, 8) == 0 ? 1 : 0) : 0};
    case 7: return task_due{};
    case 8: return slot_freed{};
    case 9:
      return input_evaluated{
          step, {"5"}, below(chance, 30) == 0 ? std::optional<error>{error{v1::ERROR_CODE_EXPRESSION, "no", ""}} : std::nullopt};
    case 10: return task_admitted{};
    default: return agent_replaced{"n1/svc", w.agents.instances.at("n1/svc").incarnation};
  }
}

// Slots held are attempts out, at whatever instance is still the one they were handed to.
void check_slots(const world& w) {
  std::map<std::string, int> out;
  for (const auto& step : w.record.steps())
    if (step.state() == v1::STEP_STATE_RUNNING && w.agents.instances.at(step.instance()).incarnation == step.incarnation())
      ++out[step.instance()];
  for (const auto& [name, one] : w.agents.instances) EXPECT_EQ(one.held, out[name]) << name;
}

void run(std::uint64_t seed, int& completed, int& parked) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  engine_of_chance chance{seed};
  world w{random_graph(chance)};
  w.agents.instances["n1/svc"].capacity = static_cast<int>(1 + below(chance, 3));
  w.agents.instances["n2/other"] = {"other", 1, static_cast<int>(1 + below(chance, 3)), 0};
  w.submit();
  std::set<std::pair<std::uint32_t, std::uint32_t>> handed_over;  // (step, attempt)
  for (int i = 0; i < 400 && w.record.state() != v1::TASK_STATE_COMPLETED; ++i) {
    if (below(chance, 4) == 0) w.advance_ms(below(chance, 3'000));
    auto what = random_event(chance, w);
    if (below(chance, 60) == 0) {
      w.agents.replace("n1/svc");
      what = agent_replaced{"n1/svc", w.agents.instances.at("n1/svc").incarnation};
    }
    const auto made = w.apply(what);
    for (const auto& one : made.performs) {
      const auto& m = one.message;
      EXPECT_TRUE(handed_over.emplace(m.step(), m.attempt()).second)
          << "step " << m.step() << " attempt " << m.attempt() << " was handed over twice";
      EXPECT_EQ(w.at(m.step()).state(), v1::STEP_STATE_RUNNING);
      EXPECT_EQ(w.at(m.step()).attempt(), m.attempt());
      EXPECT_EQ(w.at(m.step()).instance(), one.instance);
    }
    if (made.ended) {
      EXPECT_EQ(w.record.state(), v1::TASK_STATE_COMPLETED);
      for (const auto& step : w.record.steps()) EXPECT_EQ(step.state(), v1::STEP_STATE_COMPLETED);
    }
    check_slots(w);
    if (::testing::Test::HasFailure()) return;
  }
  completed += w.record.state() == v1::TASK_STATE_COMPLETED ? 1 : 0;
  parked += w.record.parked() ? 1 : 0;
}

TEST(task, keeps_its_rules_through_random_graphs_and_random_events) {
  int completed = 0;
  int parked = 0;
  for (std::uint64_t seed = 1; seed <= 800; ++seed) {
    run(seed, completed, parked);
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  EXPECT_GT(completed, 80) << "a run in which little completes shows little";
  EXPECT_GT(parked, 80);
}

}  // namespace
}  // namespace fairlead::core::testing
