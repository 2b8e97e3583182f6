#pragma once
// A Scheduler with workflows whose steps are tasks of their own.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/supervisor/supervisor.hpp"
#include "store/rows/alert_rows.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {

class family_fixture : public scheduler_fixture {
 protected:
  family_fixture() {
    add_agent(agent("n1/svc"));
    deploy(undone(workflow_of({undoable("pack")}, "shipment")));
    deploy(undone(workflow_of({undoable("pay"), child("ship", "shipment", {"pay"}), undoable("tell", {"ship"})}, "order")));
  }

  static v1::StepDefinition undoable(const std::string& name, const std::vector<std::string>& needs = {}) {
    auto out = ::fairlead::testing::step(name, needs);
    out.set_attempts(1);
    out.mutable_undo()->set_call("do");
    out.mutable_undo()->set_timeout_ms(5'000);
    out.mutable_undo()->set_attempts(1);
    *out.mutable_undo()->mutable_backoff() = out.backoff();
    return out;
  }

  static v1::StepDefinition kept(const std::string& name, const std::vector<std::string>& needs = {}) {
    auto out = ::fairlead::testing::step(name, needs);
    out.mutable_undo()->set_none(true);
    return out;
  }

  static v1::StepDefinition child(const std::string& name, const std::string& workflow, const std::vector<std::string>& needs = {},
                                  const std::string& with_json = {}) {
    v1::StepDefinition out;
    out.set_name(name);
    for (const auto& need : needs) out.add_needs(need);
    out.set_kind(v1::STEP_KIND_WORKFLOW);
    out.set_workflow(workflow);
    out.set_with_json(with_json);
    return out;
  }

  static v1::WorkflowDefinition undone(v1::WorkflowDefinition of) {
    of.set_on_failure(v1::ON_FAILURE_UNDO);
    return of;
  }

  const v1::Perform& last() const { return out.performs.back().what; }

  /// The attempt handed over last for this step of this task.
  v1::Perform perform_of(const std::string& id, const std::string& step) const {
    for (auto one = out.performs.rbegin(); one != out.performs.rend(); ++one)
      if (one->what.task_id() == id && one->what.step_path() == step) return one->what;
    ADD_FAILURE() << id << " " << step << " was never handed over";
    return {};
  }
  void done(const std::string& id, const std::string& step, const std::string& output = "{}") {
    answer(success(perform_of(id, step), output));
  }
  void failed(const std::string& id, const std::string& step) { answer(failure(perform_of(id, step), v1::FAULT_KIND_PERMANENT)); }

  /// As the Supervisor says it when the task's entry in the due index is due.
  void due(const std::string& id) {
    v1::RecoverBatch what;
    what.add_items()->set_task_number(stored_task(id)->number());
    node->shell.recover(what);
    node->settle();
  }

  /// How many attempts in this direction were handed over.
  std::size_t handed(const std::string& id, const std::string& step, v1::Direction direction = v1::DIRECTION_PERFORM) const {
    return static_cast<std::size_t>(std::count_if(out.performs.begin(), out.performs.end(), [&](const recorder::sent_perform& one) {
      return one.what.task_id() == id && one.what.step_path() == step && one.what.direction() == direction;
    }));
  }

  v1::OperateResult operate(v1::OperatorVerb verb, const std::string& id, const std::string& step = {}, bool at_once = false,
                            const std::string& json = {}) {
    v1::OperateRequest request;
    auto& action = *request.mutable_action();
    action.set_verb(verb);
    action.set_step(step);
    action.set_at_once(at_once);
    if (verb == v1::OPERATOR_VERB_SETTLE_COMPLETED) action.set_json("{}");
    if (!json.empty()) action.set_json(json);
    action.set_who("ann");
    action.set_reason("she had to");
    request.add_ids(id);
    node->shell.answer(request, next_ticket);
    node->settle();
    return out.operations.at(next_ticket++).results(0);
  }
  void expect_done(const v1::OperateResult& what) { EXPECT_EQ(what.error().code(), v1::ERROR_CODE_OK) << what.error().sentence(); }
  void expect_refused(const v1::OperateResult& what, const std::string& words) {
    EXPECT_NE(what.error().code(), v1::ERROR_CODE_OK);
    EXPECT_NE(what.error().sentence().find(words), std::string::npos) << what.error().sentence() << " / " << what.error().remedy();
  }

  /// The step's state and, if it has one, the code of its fault: `FAILED child_undone`.
  std::string step_of(const std::string& id, const std::string& name) const {
    const auto task = stored_task(id);
    if (!task) return "no task";
    for (const auto& one : task->steps())
      if (one.path() == name) return v1::StepState_Name(one.state()).substr(11) + (one.has_fault() ? " " + one.fault().code() : "");
    return "no step";
  }
  std::string message_of(const std::string& id, const std::string& name) const {
    const auto task = stored_task(id);
    if (!task) return "no task";
    for (const auto& one : task->steps())
      if (one.path() == name) return one.fault().message();
    return "no step";
  }
  std::string state_of(const std::string& id) const {
    const auto task = stored_task(id);
    if (!task) return "no task";
    return v1::TaskState_Name(task->state()).substr(11) + (task->parked() ? " PARKED" : "") + (task->paused() ? " PAUSED" : "");
  }
  std::optional<v1::TaskRecord> stored_task(const std::string& id) const {
    const auto view = store.read();
    const auto known = store::find_task(*view, id);
    if (!known.ok() || !*known) return std::nullopt;
    auto task = store::load_task(*view, (*known)->number());
    return task.ok() ? *task : std::nullopt;
  }

  std::vector<v1::AlertRecord> unresolved(v1::AlertKind kind) {
    std::vector<v1::AlertRecord> found;
    EXPECT_TRUE(store::for_each_unresolved(*store.read(), [&](const v1::AlertRecord& one) {
                  if (one.kind() == kind) found.push_back(one);
                  return true;
                }).ok());
    return found;
  }

  /// `order` up to the child, whose `pack` is in progress.
  void shipping(const std::string& id = "t1") {
    ASSERT_TRUE(submit(submission(id)).created());
    done(id, "pay");
    ASSERT_EQ(state_of(id + "/ship~1"), "RUNNING");
  }
  void completed(const std::string& id = "t1") {
    shipping(id);
    done(id + "/ship~1", "pack");
    done(id, "tell");
    ASSERT_EQ(state_of(id), "COMPLETED");
  }
};

}  // namespace fairlead::testing
