#include "actors/core/task/standing.hpp"

#include "actors/core/workflow/check_kinds.hpp"
#include "messages/task_states.hpp"

namespace fairlead::core {

standing standing_of(const v1::TaskRecord& record) {
  standing out;
  for (const auto& step : record.steps()) {
    const auto undo_in_doubt = step.state() == v1::STEP_STATE_UNDOING && step.undo_doubtful();
    // A step that is undone though it has failed has no output.
    const auto of_child = step.has_child() && step.child().state() != v1::TASK_STATE_UNDONE;
    const auto to_be_undone = step.state() == v1::STEP_STATE_UNDOING && (step.has_output() || of_child);
    if (step.doubtful() || undo_in_doubt)
      out.in_doubt.push_back(step.path());
    else if (step.state() == v1::STEP_STATE_COMPLETED || step.rounds() > 0 || to_be_undone || child_stands(step))
      out.stands.push_back(step.path());
    else if (step.state() == v1::STEP_STATE_UNDONE)
      out.undone.push_back(step.path());
  }
  return out;
}

namespace {

/// `WORD: a, b`, behind a `; ` where there is something before it.
void add_paths(std::string& out, const char* word, const std::vector<std::string>& paths) {
  if (paths.empty()) return;
  out += (out.empty() ? "" : "; ") + std::string{word} + ": ";
  for (const auto& path : paths) out += (&path == &paths.front() ? "" : ", ") + path;
}

}  // namespace

std::string standing_words(const standing& what) {
  std::string out;
  add_paths(out, "stands", what.stands);
  add_paths(out, "undone", what.undone);
  add_paths(out, "in doubt", what.in_doubt);
  return out.empty() ? "nothing was done" : out;
}

namespace {

std::string words_of_passed_over(const v1::TaskRecord& record, const workflow& definition, bool of_end) {
  std::vector<std::string> failed, in_doubt;
  for (const auto& step : record.steps())
    if (step.passed_over() && !step.dropped() && (definition.step_definition(step.definition()).finally() != v1::FINALLY_NO) == of_end)
      (step.doubtful() ? in_doubt : failed).push_back(step.path());
  std::string out;
  add_paths(out, of_end ? "failed at the end" : "failed", failed);
  add_paths(out, of_end ? "in doubt at the end" : "in doubt", in_doubt);
  return out;
}

}  // namespace

std::string passed_over_words(const v1::TaskRecord& record, const workflow& definition) {
  return words_of_passed_over(record, definition, false);
}

std::string end_words(const v1::TaskRecord& record, const workflow& definition) {
  return definition.has_end() ? words_of_passed_over(record, definition, true) : std::string{};
}

const v1::StepRecord* pivot_begun(const v1::TaskRecord& record, const workflow& definition, const planted_faults* planted) {
  if (planted != nullptr && planted->undo_pivot) return nullptr;
  for (const auto& step : record.steps()) {
    if (!definition.step_definition(step.definition()).pivot()) continue;
    const auto done = step.state() == v1::STEP_STATE_RUNNING || step.state() == v1::STEP_STATE_COMPLETED || child_stands(step);
    if (step.doubtful() || done) return &step;
  }
  return nullptr;
}

std::optional<error> cannot_undo(const v1::TaskRecord& record, const workflow& definition, const planted_faults* planted) {
  const auto over = fairlead::has_ended(record.state());
  if (const auto* pivot = pivot_begun(record, definition, planted))
    return error{
        v1::ERROR_CODE_WRONG_STATE,
        "the pivot " + pivot->path() + " of task " + record.id() + " has completed or may have: the task cannot be undone any more",
        over ? std::string{}
             : "fairlead task show " + record.id() + " shows what it waits for; fairlead task terminate " + record.id() +
                   " ends it and leaves what was done"};
  for (const auto& step : record.steps()) {
    const auto& says = definition.step_definition(step.definition());
    const auto happened = step.doubtful() || step.rounds() > 0 || step.state() == v1::STEP_STATE_COMPLETED ||
                          step.state() == v1::STEP_STATE_RUNNING || child_stands(step);
    // What a child has done it undoes itself, or says that it cannot.
    if (says.finally() == v1::FINALLY_NO && happened && !says_how_it_is_undone(says))
      return error{v1::ERROR_CODE_WRONG_STATE, "workflow " + record.workflow() + " does not say how to undo step " + step.path(),
                   (over ? std::string{} : "fairlead task terminate " + record.id() + " ends the task and leaves what was done; ") +
                       "for future tasks deploy the workflow with undo: { call: … } or undo: none"};
  }
  return std::nullopt;
}

}  // namespace fairlead::core
