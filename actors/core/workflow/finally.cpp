#include "actors/core/workflow/finally.hpp"

#include <algorithm>

#include "messages/task_states.hpp"

namespace fairlead::core {

namespace {

const v1::StepDefinition* find_step(const v1::WorkflowDefinition& definition, const std::string& name) {
  const auto& all = definition.steps();
  const auto found = std::find_if(all.begin(), all.end(), [&](const v1::StepDefinition& one) { return one.name() == name; });
  return found == all.end() ? nullptr : &*found;
}

class finally_checker {
 public:
  finally_checker(const v1::WorkflowDefinition& definition, const v1::StepDefinition& step) : definition_(definition), step_(step) {}

  std::vector<definition_problem> run() {
    check_needs();
    if (!v1::Finally_IsValid(step_.finally())) add("finally", "this release does not know this value", "");
    if (!is_of_end(step_)) return std::move(found_);
    const std::string never = "a step of the end";
    if (step_.pivot()) add("pivot", never + " cannot be a pivot: the task is undone after it", "remove pivot, or remove finally");
    if (step_.has_undo() && !step_.undo().none()) add("undo", never + " is never undone", "set undo: none, or remove finally");
    if (step_.on_failure() != v1::ON_FAILURE_UNSPECIFIED)
      add("on_failure", never + " that fails raises an alert, and the task ends as it would without it", "remove on_failure");
    if (step_.join() != 0) add("join", never + " waits for all that it needs", "remove join");
    if (step_.cool_off_ms() != 0) add("cool_off", never + " does not cool off", "remove cool_off; retry_for says how long it is retried");
    return std::move(found_);
  }

 private:
  void check_needs() {
    for (const auto& need : step_.needs()) {
      const auto* other = find_step(definition_, need);
      if (other == nullptr || need == step_.name()) continue;  // the check of needs has said so
      if (!is_of_end(step_)) {
        if (is_of_end(*other))
          add("needs", need + " is performed at the end of the task, after this step", "remove " + need + " from needs");
      } else if (!is_of_end(*other)) {
        add("needs", "a step of the end comes after " + need + " anyway", "remove " + need + " from needs");
      } else if (step_.finally() == v1::FINALLY_ALWAYS && other->finally() == v1::FINALLY_AFTER_FAILURE) {
        add("needs", need + " is performed only after a failure, and then after this step", "remove " + need + " from needs");
      }
    }
  }

  void add(std::string field, std::string sentence, std::string remedy) {
    found_.push_back({step_.name(), std::move(field), std::move(sentence), std::move(remedy)});
  }

  const v1::WorkflowDefinition& definition_;
  const v1::StepDefinition& step_;
  std::vector<definition_problem> found_;
};

}  // namespace

bool comes_at_end(const v1::StepDefinition& step, const v1::StepDefinition& other) {
  if (!is_of_end(step)) return false;
  return !is_of_end(other) || (step.finally() == v1::FINALLY_AFTER_FAILURE && other.finally() == v1::FINALLY_ALWAYS);
}

std::vector<definition_problem> check_finally(const v1::WorkflowDefinition& definition, const v1::StepDefinition& step) {
  return finally_checker{definition, step}.run();
}

void next_of_end(const workflow& definition, const v1::TaskRecord& record, v1::Finally which, next_steps& out) {
  out.ready.clear();
  out.over = true;
  if (!definition.has_end()) return;
  for (int i = 0; i < record.steps_size(); ++i) {
    const auto& step = record.steps(i);
    if (definition.step_definition(step.definition()).finally() != which || satisfies_needs(step)) continue;
    out.over = false;
    if (step.state() != v1::STEP_STATE_PENDING) continue;
    const auto& needs = definition.compiled(step.definition()).needs;
    const auto met =
        std::all_of(needs.begin(), needs.end(), [&](std::uint32_t need) { return satisfies_needs(record.steps(static_cast<int>(need))); });
    if (met) out.ready.push_back(static_cast<std::uint32_t>(i));
  }
}

}  // namespace fairlead::core
