#pragma once
// What the tests of the task machine share: a task, the agents around it, and a clock that stands still. Each applied event is decided twice
// from equal arguments, and the record is held against the rules that always hold.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/task/record.hpp"
#include "actors/core/task/task.hpp"
#include "actors/core/workflow/declarative.hpp"
#include "actors/core/workflow/join.hpp"
#include "tests/actors/core/task/fake_agents.hpp"
#include "tests/actors/core/task/task_text.hpp"

namespace fairlead::core::testing {

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

/// The same with an undo call of the name `undo_NAME`.
inline v1::StepDefinition undoable(v1::StepDefinition of, const std::string& with_json = {}) {
  auto& undo = *of.mutable_undo();
  undo.set_call("undo_" + of.name());
  undo.set_with_json(with_json);
  undo.set_timeout_ms(4'000);
  undo.set_attempts(2);
  *undo.mutable_backoff() = of.backoff();
  return of;
}

inline v1::StepDefinition with_undo_none(v1::StepDefinition of) {
  of.mutable_undo()->set_none(true);
  return of;
}

inline v1::StepDefinition at_end(v1::StepDefinition of, v1::Finally when) {
  of.set_finally(when);
  return with_undo_none(std::move(of));
}

inline v1::WorkflowDefinition graph(const std::vector<v1::StepDefinition>& steps, std::int64_t timeout_ms = 0) {
  v1::WorkflowDefinition out;
  out.set_name("test");
  out.set_timeout_ms(timeout_ms);
  for (const auto& one : steps) *out.add_steps() = one;
  return out;
}

/// A task of it fails once a step has failed.
inline v1::WorkflowDefinition failing(const std::vector<v1::StepDefinition>& steps) {
  auto out = graph(steps);
  out.set_on_failure(v1::ON_FAILURE_FAIL);
  return out;
}

inline v1::StepDefinition in_doubt_fail(v1::StepDefinition of) {
  of.set_in_doubt(v1::IN_DOUBT_FAIL);
  return of;
}

/// Attempts count for the rule that names the fault they ended with, and for the step itself where none does.
inline void check_counts(const v1::StepRecord& step, const v1::StepDefinition& of) {
  EXPECT_LE(step.retried_size(), of.retry_size());
  if (step.retried_size() > 0) {
    const auto& last = step.retried(step.retried_size() - 1);
    EXPECT_TRUE(last.failed() != 0 || last.waited_ms() != 0) << "a count of nothing is stored";
  }
  std::uint32_t ruled = 0;
  for (int i = 0; i < step.retried_size(); ++i) {
    ruled += step.retried(i).failed();
    // A callback may say something else of the latest attempt than was counted.
    if (of.on_failure() != v1::ON_FAILURE_COOL_OFF && of.retry(i).attempts() != 0) {
      EXPECT_LE(step.retried(i).failed(), of.retry(i).attempts() + (of.callback_ms() != 0 ? 1 : 0));
    }
  }
  const auto counted = step.attempt() - step.excused();
  if (of.callback_ms() == 0) {
    EXPECT_LE(ruled, counted);
  }
  if (of.on_failure() != v1::ON_FAILURE_COOL_OFF && of.attempts() != 0) {
    EXPECT_LE(counted - std::min(ruled, counted), of.attempts());
  }
}

/// What is true of every stored record.
inline void check_always_true(const v1::TaskRecord& record, const workflow& definition) {
  const bool active = record.state() == v1::TASK_STATE_RUNNING || record.state() == v1::TASK_STATE_UNDOING;
  const bool live = active && !record.parked() && !record.paused();
  if (live) {
    EXPECT_GT(record.due_unix_ms(), 0) << "a live task without a wake-up:\n" << text_of(record);
  }
  if (record.parked()) {
    EXPECT_FALSE(record.parked_reason().empty());
  }
  EXPECT_TRUE(record.parked() || !record.parked_for_child());
  std::uint64_t expected = 1;
  for (const auto& event : record.recent()) EXPECT_EQ(event.sequence(), expected++) << "history has a gap";
  EXPECT_EQ(record.history_size(), expected - 1);
  for (const auto& step : record.steps()) {
    const auto& of = definition.step_definition(step.definition());
    check_counts(step, of);
    // A signal may be missed again and again, without an attempt.
    for (const auto direction : {v1::DIRECTION_PERFORM, v1::DIRECTION_UNDO, v1::DIRECTION_LOOKUP}) {
      if (step.kind() == v1::STEP_KIND_CALL) {
        EXPECT_LE(failures_of(step, direction), attempt_of(step, direction));
      }
    }
    const auto state = step.state();
    EXPECT_LE(step.heartbeat_by_unix_ms(), step.complete_by_unix_ms()) << "a heartbeat is awaited of nobody, or beyond the lease";
    if (attempt_out(step)) {
      EXPECT_FALSE(step.instance().empty());
      EXPECT_EQ(step.not_before_unix_ms(), 0);
      EXPECT_FALSE(step.given_up());
      EXPECT_EQ(state, step.direction() == v1::DIRECTION_UNDO     ? v1::STEP_STATE_UNDOING
                       : step.direction() == v1::DIRECTION_LOOKUP ? v1::STEP_STATE_IN_DOUBT
                                                                  : v1::STEP_STATE_RUNNING);
    } else if (step.kind() != v1::STEP_KIND_WORKFLOW) {
      EXPECT_NE(state, v1::STEP_STATE_RUNNING) << "an attempt out without a lease";
    } else if (state == v1::STEP_STATE_RUNNING) {
      EXPECT_TRUE(step.has_child());
      EXPECT_TRUE(step.has_items() || !fairlead::has_ended(step.child().state())) << "it waits for a child that has ended";
    }
    if (step.kind() == v1::STEP_KIND_WORKFLOW && step.state() == v1::STEP_STATE_RUNNING) {
      const auto may_miss_items = step.has_items() && record.restored_from_unix_ms() != 0;
      EXPECT_TRUE(!step.doubtful() || may_miss_items) << "the child's doubt is the child's";
    }
    if (state == v1::STEP_STATE_IN_DOUBT) {
      EXPECT_TRUE(step.doubtful());
    }
    if (step.awaits_callback()) {
      EXPECT_EQ(state, v1::STEP_STATE_IN_DOUBT);
      EXPECT_EQ(step.direction(), v1::DIRECTION_PERFORM);
      EXPECT_FALSE(step.given_up());
    }
    if (step.has_early_answer() && active) {
      EXPECT_TRUE(attempt_out(step) || step.held_until_unix_ms() != 0) << "an answer that nothing will take up";
    }
    if (state == v1::STEP_STATE_COMPLETED || state == v1::STEP_STATE_UNDONE || state == v1::STEP_STATE_SKIPPED) {
      EXPECT_FALSE(step.doubtful()) << "doubt passed over";
    }
    if (state == v1::STEP_STATE_RUNNING && step.kind() != v1::STEP_KIND_WORKFLOW) {
      EXPECT_TRUE(step.has_input());
    }
    // What a dropped step needed may have been dropped with it.
    if (state == v1::STEP_STATE_RUNNING && !step.dropped()) {
      if (of.join() > 0) {
        EXPECT_TRUE(count_of_join(definition, record, step.definition()).met()) << step.path() << " runs before its join is met";
      }
      for (const auto need : definition.compiled(step.definition()).needs)
        EXPECT_TRUE((of.join() > 0 && !of.pivot()) || is_over(definition, record.steps(static_cast<int>(need))))
            << step.path() << " runs before what it needs";
    }
    // Undone in reverse order: what descends from a step that is being undone has nothing left.
    if (state == v1::STEP_STATE_UNDOING || state == v1::STEP_STATE_UNDONE) {
      EXPECT_FALSE(of.pivot());
      for (const auto later : definition.compiled(step.definition()).needed_by) {
        const auto& after = record.steps(static_cast<int>(later));
        if (step.dropped() && !after.dropped()) continue;
        EXPECT_FALSE(after.doubtful()) << after.path();
        EXPECT_FALSE(is_undone_though_failed(definition.step_definition(after.definition()), after)) << after.path();
        if (definition.compiled(after.definition()).undo_with) {
          EXPECT_NE(after.state(), v1::STEP_STATE_COMPLETED) << after.path();
        }
      }
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
    source.reply = reply;
    source.launch = launch;
    source.deadline_unix_ms = deadline_unix_ms;
    source.start_at_unix_ms = start_at_unix_ms;
    source.delay_ms = delay_ms;
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
    if (made.refused) {
      EXPECT_FALSE(made.changed);
      EXPECT_TRUE(made.performs.empty() && made.alerts.empty() && made.statuses.empty()) << "refused and done all the same";
    }
    if (made.fatal) {
      record = before;  // the shell throws the record away
      return made;
    }
    if (made.changed)
      EXPECT_EQ(record.version(), before.version() + 1);
    else
      EXPECT_EQ(bytes_of(record), bytes_of(before)) << "an empty decision changed the record";
    if (made.migrated) definition_ = std::get<operated>(what).target;
    for (int i = 0; i < std::min(before.steps_size(), record.steps_size()); ++i)
      EXPECT_GE(record.steps(i).attempt(), before.steps(i).attempt()) << "an attempt fell";
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

  decision fault(std::uint32_t step, std::uint32_t attempt, v1::FaultKind kind, std::string code = "http_503",
                 std::int64_t retry_after_ms = 0) {
    attempt_ended e;
    e.step = step;
    e.attempt = attempt;
    e.tries = 2;
    e.fault.emplace();
    e.fault->set_kind(kind);
    e.fault->set_code(std::move(code));
    e.fault->set_message("told by the service");
    e.fault->set_retry_after_ms(retry_after_ms);
    return apply(e);
  }

  decision recover(std::uint32_t step) {
    const auto& one = at(step);
    return apply(recovery_requested{step, attempt_of(one, one.direction()), failures_of(one, one.direction()), one.direction()});
  }

  decision outcome_of(std::uint32_t step, v1::Direction direction, v1::LookupVerdict verdict = {}, std::string output = {}) {
    attempt_ended e;
    e.step = step;
    e.direction = direction;
    e.attempt = attempt_of(at(step), direction);
    e.tries = 1;
    e.verdict = verdict;
    e.output = std::move(output);
    return apply(e);
  }

  decision undone(std::uint32_t step) { return outcome_of(step, v1::DIRECTION_UNDO); }

  decision fault_of(std::uint32_t step, v1::Direction direction, v1::FaultKind kind, std::string code = "http_503") {
    attempt_ended e;
    e.step = step;
    e.direction = direction;
    e.attempt = attempt_of(at(step), direction);
    e.tries = 1;
    e.fault.emplace();
    e.fault->set_kind(kind);
    e.fault->set_code(std::move(code));
    e.fault->set_message("told by the service");
    return apply(e);
  }

  decision operate(v1::OperatorVerb verb, std::string step = {}, std::optional<std::string> json = {}) {
    operated e;
    e.action.set_verb(verb);
    e.action.set_step(std::move(step));
    if (json) e.action.set_json(*json);
    e.action.set_who("ann");
    e.action.set_reason("it was time");
    return apply(e);
  }

  /// To a version that is stored under the hash `other`.
  decision migrate(v1::WorkflowDefinition to, bool dry_run = false) {
    operated e;
    e.action.set_verb(v1::OPERATOR_VERB_MIGRATE);
    e.action.set_from_hash("hash");
    e.action.set_to_hash("other");
    e.action.set_dry_run(dry_run);
    e.action.set_who("ann");
    auto compiled = workflow::compile(std::move(to), "other");
    EXPECT_TRUE(compiled.ok()) << (compiled.ok() ? "" : compiled.failure().sentence);
    e.target = *compiled;
    return apply(e);
  }

  decision signal(const std::string& name, std::optional<std::string> data = {}) {
    operated e;
    e.action.set_verb(v1::OPERATOR_VERB_SIGNAL);
    e.action.set_signal(name);
    if (data) e.action.set_json(*data);
    e.action.set_who("shop");
    return apply(e);
  }

  /// For the generation of the step's key; `fault`: the work was not done.
  decision callback(std::uint32_t step, std::uint32_t generation, std::optional<std::string> output,
                    std::optional<v1::Fault> fault = std::nullopt) {
    operated e;
    e.action.set_verb(v1::OPERATOR_VERB_CALLBACK);
    e.action.set_who("service");
    if (output) e.action.set_json(*output);
    if (fault) *e.action.mutable_fault() = *fault;
    e.content_hash = e.action.SerializeAsString();
    e.called_back = {step, generation};
    return apply(e);
  }

  /// The latest child of the step, unless another is named.
  child_changed of_child(std::uint32_t step, v1::TaskState state, const std::string& id = {}) const {
    child_changed e;
    e.step = step;
    e.id = id.empty() ? at(step).child().id() : id;
    if (const auto dot = e.id.rfind('.'); at(step).has_items() && dot != std::string::npos)
      e.item = static_cast<std::uint32_t>(std::stoul(e.id.substr(dot + 1)));
    e.state = state;
    return e;
  }

  decision terminate_now() {
    v1::OperatorAction now;
    now.set_verb(v1::OPERATOR_VERB_TERMINATE);
    now.set_at_once(true);
    return apply(operated{now});
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
    ctx.hold_undo = hold_undo;
    return ctx;
  }

  v1::TaskRecord record;
  fake_agents agents;
  fake_payloads payloads;
  bool hold_undo = false;
  std::optional<v1::ReplyAddress> reply;
  std::optional<v1::LaunchOf> launch;
  std::int64_t deadline_unix_ms = 0, start_at_unix_ms = 0, delay_ms = 0;
  const workflow_engine* engine = nullptr;       // the declarative one unless a test sets another
  std::unordered_set<std::uint32_t> evaluating;  // evaluation_key of inputs that the shell still awaits
  std::int64_t now_ms = start_ms;

 private:
  // What the store would do: payloads, and a due entry that is exact only when asked for.
  void keep(const decision& made, bool exact) {
    for (const auto& payload : made.payloads) payloads.slots[payload.slot] = payload.json;
    for (const auto slot : made.dropped_slots) EXPECT_EQ(payloads.slots.erase(slot), 1u) << "slot " << slot << " was not there";
    if (!made.changed) return;
    const auto old = record.due_indexed_unix_ms(), due = record.due_unix_ms();
    if (due == 0 || old == 0 || exact || old > due) record.set_due_indexed_unix_ms(due);
  }

  std::shared_ptr<const workflow> definition_;
  declarative_engine declarative_;
};

}  // namespace fairlead::core::testing
