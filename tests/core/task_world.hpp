#pragma once
// What the tests of the task machine share: a task, the agents around it, a clock that stands still, and text for everything that a
// decision says. Each applied event is decided twice from equal arguments, and the record is held against the rules that always hold.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/declarative.hpp"
#include "actors/core/task.hpp"

namespace fairlead::core::testing {

inline constexpr std::int64_t start_ms = 1'700'000'000'000;

inline std::string bytes_of(const v1::TaskRecord& record) { return record.SerializeAsString(); }

/// `t+200`, or `-` for no time.
inline std::string time_text(std::int64_t unix_ms) { return unix_ms == 0 ? "-" : "t+" + std::to_string(unix_ms - start_ms); }

/// Agents with a number of slots each; the first instance by name with a free one is taken.
class fake_agents final : public agent_directory {
 public:
  struct instance {
    std::string agent;
    std::uint64_t incarnation = 1;
    int capacity = 100;
    int held = 0;
  };
  std::map<std::string, instance, std::less<>> instances;

  std::optional<agent_instance> claim(std::string_view agent) override {
    for (auto& [name, one] : instances) {
      if (one.agent != agent || one.held >= one.capacity) continue;
      ++one.held;
      return agent_instance{name, one.incarnation};
    }
    return std::nullopt;
  }
  std::optional<std::uint64_t> incarnation_of(std::string_view name) const override {
    const auto found = instances.find(name);
    if (found == instances.end()) return std::nullopt;
    return found->second.incarnation;
  }
  void hold(std::string_view name) override { ++instances.find(name)->second.held; }
  void release(std::string_view name, std::uint64_t incarnation) override {
    const auto found = instances.find(name);
    if (found == instances.end() || found->second.incarnation != incarnation) return;
    EXPECT_GT(found->second.held, 0) << "a slot of " << name << " was given back twice";
    --found->second.held;
  }

  /// A new process under the name.
  void replace(const std::string& name) {
    auto& one = instances.at(name);
    ++one.incarnation;
    one.held = 0;
  }
  std::string text() const {
    std::string out;
    for (const auto& [name, one] : instances) out += name + "=" + std::to_string(one.held) + " ";
    return out;
  }
};

class fake_payloads final : public payload_source {
 public:
  std::map<std::uint32_t, std::string> slots;
  std::optional<error> broken;

  result<std::string_view> load(const v1::TaskRecord&, std::uint32_t slot) const override {
    if (broken) return *broken;
    const auto found = slots.find(slot);
    if (found == slots.end()) return error{v1::ERROR_CODE_CORRUPT, "slot " + std::to_string(slot) + " is missing", ""};
    return std::string_view{found->second};
  }
};

/// A step of a test's workflow: the defaults are those of a patient step.
inline v1::StepDefinition step(const std::string& name, const std::vector<std::string>& needs = {}, const std::string& with_json = {}) {
  v1::StepDefinition out;
  out.set_name(name);
  for (const auto& need : needs) out.add_needs(need);
  out.set_agent("svc");
  out.set_call("do_" + name);
  out.set_with_json(with_json);
  out.set_timeout_ms(5'000);
  out.set_attempts(3);
  out.mutable_backoff()->set_first_ms(200);
  out.mutable_backoff()->set_factor(2);
  out.mutable_backoff()->set_max_ms(10'000);
  return out;
}

inline v1::WorkflowDefinition graph(const std::vector<v1::StepDefinition>& steps, std::int64_t timeout_ms = 0) {
  v1::WorkflowDefinition out;
  out.set_name("test");
  out.set_timeout_ms(timeout_ms);
  for (const auto& one : steps) *out.add_steps() = one;
  return out;
}

inline std::string text_of(const v1::Payload& payload) {
  if (payload.slot() != 0) return "slot " + std::to_string(payload.slot()) + " of " + std::to_string(payload.size()) + " bytes";
  return payload.json();
}

inline std::string text_of(const v1::StepRecord& step) {
  std::string out = step.path() + " " + state_word(step.state());
  if (step.attempt() > 0) out += " attempt=" + std::to_string(step.attempt()) + " failures=" + std::to_string(step.failure_count());
  if (step.complete_by_unix_ms() != 0) out += " complete_by=" + time_text(step.complete_by_unix_ms());
  if (step.not_before_unix_ms() != 0) out += " not_before=" + time_text(step.not_before_unix_ms());
  if (!step.instance().empty()) out += " by=" + step.instance() + "#" + std::to_string(step.incarnation());
  if (step.has_input()) out += " input=" + text_of(step.input());
  if (step.has_output()) out += " output=" + text_of(step.output());
  if (step.has_fault()) out += " fault=" + step.fault().code();
  if (step.tries() > 0) out += " tries=" + std::to_string(step.tries());
  return out;
}

/// The row as people would want to compare it.
inline std::string text_of(const v1::TaskRecord& record) {
  std::string out = "row v" + std::to_string(record.version()) + " " + state_word(record.state());
  if (record.parked()) out += " PARKED: " + record.parked_reason();
  out += "\n  due=" + time_text(record.due_unix_ms()) + " events=" + std::to_string(record.history_size()) + "\n";
  for (const auto& step : record.steps()) out += "  " + text_of(step) + "\n";
  return out;
}

inline std::string text_of(const decision& made) {
  std::string out;
  if (made.accepted) out += "accepted\n";
  if (made.ended) out += "ended\n";
  if (made.parked) out += "parked\n";
  if (made.fatal) out += "fatal: " + made.fatal->sentence + "\n";
  for (const auto& noted : made.transitions) {
    out += (noted.step == 0 ? std::string{"task"} : "step " + std::to_string(noted.step - 1)) + ": " + noted.from + " -> " + noted.to;
    if (noted.attempt > 0) out += " (attempt " + std::to_string(noted.attempt) + ")";
    if (!noted.detail.empty()) out += " " + noted.detail;
    out += "\n";
  }
  for (const auto& payload : made.payloads)
    out += "store slot " + std::to_string(payload.slot) + ", " + std::to_string(payload.json.size()) + " bytes\n";
  for (const auto slot : made.dropped_slots) out += "drop slot " + std::to_string(slot) + "\n";
  for (const auto& out_message : made.performs) {
    const auto& m = out_message.message;
    out += "-> " + out_message.instance + ": perform " + m.step_path() + " attempt=" + std::to_string(m.attempt()) + " " + m.call() + "(" +
           (m.input().size() > 200 ? std::to_string(m.input().size()) + " bytes" : m.input()) +
           ") complete_by=" + time_text(m.complete_by_unix_ms()) + " budget=" + std::to_string(m.budget_ms()) +
           " key=" + m.idempotency_key() + "\n";
  }
  for (const auto& asked : made.evaluations) {
    out += "-> worker: step " + std::to_string(asked.step());
    for (const auto& one : asked.expressions()) out += " {" + one + "}";
    out += " over " + asked.document() + "\n";
  }
  for (const auto& hint : made.hints)
    out += "-> supervisor: step " + std::to_string(hint.recover().step() - 1) + " attempt=" + std::to_string(hint.recover().attempt()) +
           " failures=" + std::to_string(hint.recover().failure_count()) + " at " + time_text(hint.due_unix_ms()) + "\n";
  for (const auto& agent : made.waiting_for) out += "waiting for " + agent + "\n";
  return out;
}

/// What is true of every stored record.
inline void check_always_true(const v1::TaskRecord& record, const workflow& definition) {
  const bool live = record.state() == v1::TASK_STATE_RUNNING && !record.parked() && !record.paused();
  if (live) {
    EXPECT_GT(record.due_unix_ms(), 0) << "a live task without a wake-up:\n" << text_of(record);
  }
  if (record.parked()) {
    EXPECT_FALSE(record.parked_reason().empty());
  }
  std::uint64_t expected = 1;
  for (const auto& event : record.recent()) EXPECT_EQ(event.sequence(), expected++) << "history has a gap";
  EXPECT_EQ(record.history_size(), expected - 1);
  for (const auto& step : record.steps()) {
    const auto& of = definition.step_definition(step.definition());
    EXPECT_LE(step.attempt(), of.attempts());
    EXPECT_LE(step.failure_count(), step.attempt());
    if (step.state() == v1::STEP_STATE_RUNNING) {
      EXPECT_GT(step.complete_by_unix_ms(), 0);
      EXPECT_FALSE(step.instance().empty());
      EXPECT_TRUE(step.has_input());
      for (const auto need : definition.compiled(step.definition()).needs)
        EXPECT_EQ(record.steps(static_cast<int>(need)).state(), v1::STEP_STATE_COMPLETED) << step.path() << " runs before what it needs";
    } else {
      EXPECT_EQ(step.complete_by_unix_ms(), 0) << "a lease without an attempt out";
    }
  }
}

class world {
 public:
  explicit world(v1::WorkflowDefinition definition) {
    auto compiled = workflow::compile(std::move(definition), "hash");
    EXPECT_TRUE(compiled.ok()) << (compiled.ok() ? "" : compiled.failure().sentence);
    definition_ = *compiled;
    agents.instances["n1/svc"].agent = "svc";
  }

  decision submit(std::string input = R"({"n":1})", std::string id = "t1") {
    new_task source;
    source.number = 7;
    source.id = std::move(id);
    source.name_space = "default";
    source.content_hash = "content";
    source.input = std::move(input);
    decision made;
    record = create_task(std::move(source), context_for(agents), made);
    keep(made, false);
    return made;
  }

  /// Submitted and running, with whatever may start handed over.
  world& started(std::string input = R"({"n":1})") {
    submit(std::move(input));
    apply(task_admitted{});
    return *this;
  }

  decision apply(const event& what) {
    const auto before = record;
    const auto due_entry = record.due_indexed_unix_ms();
    auto same_record = record;
    auto same_agents = agents;
    auto made = decide(record, what, context_for(agents));
    const auto again = decide(same_record, what, context_for(same_agents));
    EXPECT_EQ(bytes_of(record), bytes_of(same_record)) << "not pure: two records from one";
    EXPECT_EQ(text_of(made), text_of(again)) << "not pure: two decisions from one";
    EXPECT_EQ(agents.text(), same_agents.text());
    if (made.fatal) {
      record = before;  // the shell throws the record away
      return made;
    }
    if (made.changed)
      EXPECT_EQ(record.version(), before.version() + 1);
    else
      EXPECT_EQ(bytes_of(record), bytes_of(before)) << "an empty decision changed the record";
    for (int i = 0; i < before.steps_size(); ++i) EXPECT_GE(record.steps(i).attempt(), before.steps(i).attempt()) << "an attempt fell";
    check_always_true(record, *definition_);
    keep(made, std::holds_alternative<task_due>(what));
    if (made.changed && due_entry != 0 && record.due_unix_ms() != 0) {
      EXPECT_LE(record.due_indexed_unix_ms(), record.due_unix_ms());
    }
    return made;
  }

  decision outcome(std::uint32_t step, std::uint32_t attempt, std::string output = "{}") {
    attempt_ended e;
    e.step = step;
    e.attempt = attempt;
    e.tries = 1;
    e.output = std::move(output);
    return apply(e);
  }

  decision fault(std::uint32_t step, std::uint32_t attempt, v1::FaultKind kind, std::string code = "http_503") {
    attempt_ended e;
    e.step = step;
    e.attempt = attempt;
    e.tries = 2;
    e.fault.emplace();
    e.fault->set_kind(kind);
    e.fault->set_code(std::move(code));
    e.fault->set_message("told by the service");
    return apply(e);
  }

  decision recover(std::uint32_t step) {
    const auto& one = at(step);
    return apply(recovery_requested{step, one.attempt(), one.failure_count()});
  }

  void advance_ms(std::int64_t by) { now_ms += by; }
  const v1::StepRecord& at(std::uint32_t step) const { return record.steps(static_cast<int>(step)); }
  const workflow& definition() const { return *definition_; }

  context context_for(fake_agents& with) const {
    context ctx;
    ctx.now = from_unix_ms(now_ms);
    ctx.epoch = 3;
    ctx.definition = definition_.get();
    ctx.engine = engine != nullptr ? engine : &declarative_;
    ctx.agents = &with;
    ctx.payloads = &payloads;
    ctx.evaluating = &evaluating;
    return ctx;
  }

  v1::TaskRecord record;
  fake_agents agents;
  fake_payloads payloads;
  const workflow_engine* engine = nullptr;       // the declarative one unless a test sets another
  std::unordered_set<std::uint32_t> evaluating;  // steps whose input the shell still awaits
  std::int64_t now_ms = start_ms;

 private:
  // What the store would do: payloads, and a due entry that is exact only when asked for.
  void keep(const decision& made, bool exact) {
    for (const auto& payload : made.payloads) payloads.slots[payload.slot] = payload.json;
    for (const auto slot : made.dropped_slots) EXPECT_EQ(payloads.slots.erase(slot), 1u) << "slot " << slot << " was not there";
    if (!made.changed) return;
    const auto old = record.due_indexed_unix_ms();
    const auto due = record.due_unix_ms();
    if (due == 0 || old == 0 || exact || old > due) record.set_due_indexed_unix_ms(due);
  }

  std::shared_ptr<const workflow> definition_;
  declarative_engine declarative_;
};

}  // namespace fairlead::core::testing
