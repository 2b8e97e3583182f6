#include "app/bulk/operation.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "actors/core/text/text.hpp"
#include "app/bulk/action.hpp"
#include "app/json/node/task_action.hpp"

namespace fairlead::app::bulk {

namespace {

const char* state_of(const v1::TaskRecord& task, bool stopped) {
  switch (task.state()) {
    case v1::TASK_STATE_PENDING: return "waiting";
    case v1::TASK_STATE_COMPLETED: return stopped ? "stopped" : "done";
    case v1::TASK_STATE_UNDOING: return "stopping";
    case v1::TASK_STATE_UNDONE: return "stopped";
    case v1::TASK_STATE_FAILED: return "failed";
    default: return task.parked() ? "parked" : task.paused() ? "paused" : "running";
  }
}

}  // namespace

const operation_verb* find_operation_verb(const std::string& word) {
  const auto* const found =
      std::find_if(std::begin(operation_verbs), std::end(operation_verbs), [&](const auto& one) { return word == one.word; });
  return found == std::end(operation_verbs) ? nullptr : found;
}

std::string task_of_operation(const std::string& id) { return id.starts_with(id_prefix) ? id : std::string{id_prefix} + id; }
std::string operation_of_task(const std::string& task_id) {
  return task_id.starts_with(id_prefix) ? task_id.substr(id_prefix.size()) : task_id;
}

operation_view view_of(const v1::TaskRecord& task) {
  operation_view out;
  out.id = operation_of_task(task.id());
  out.task = task.id();
  if (const auto what = action_of_input(task.input().json())) {
    out.verb = core::verb_word(v1::OperatorVerb_Name(what->what.verb()));
    out.step = what->what.step();
    out.filter = what->filter;
    out.by = what->what.who();
    out.reason = what->what.reason();
    out.is_of_ids = !what->ids.empty();
    out.rate = what->rate;
    out.count = what->count;
  }
  if (!task.steps().empty()) {
    const auto& step = task.steps(0);
    out.at = tally::of(step.has_output() ? step.output().json() : step.progress().checkpoint().json());
    if (!step.has_output() && step.progress().note() != working_note) out.note = step.progress().note();
  }
  out.state = state_of(task, out.at.stopped);
  if (task.parked()) out.reason_of_state = task.parked_reason();
  if (out.state != "done" && out.count > out.at.answered()) out.left = out.count - out.at.answered();
  out.created_unix_ms = task.created_at_unix_ms();
  out.ended_unix_ms = task.finished_at_unix_ms();
  return out;
}

std::string operation_json(const operation_view& one) {
  json_writer out;
  out.begin_object().key("id").string(one.id).key("task").string(one.task).key("state").string(one.state);
  out.key("reason_of_state").text_or_null(one.reason_of_state);
  out.key("verb").text_or_null(one.verb).key("step").text_or_null(one.step).key("filter").raw(one.filter);
  out.key("ids").boolean(one.is_of_ids).key("by").text_or_null(one.by).key("reason").text_or_null(one.reason);
  out.key("rate").number(one.rate).key("count").number(one.count);
  one.at.write(out, true);
  out.key("left").number(one.left).key("note").text_or_null(one.note);
  out.key("created_at").moment(one.created_unix_ms).key("ended_at").moment(one.ended_unix_ms);
  return out.end_object().text();
}

v1::TaskRecord begun_record(const v1::Submission& taken, std::int64_t created_unix_ms) {
  v1::TaskRecord out;
  out.set_id(taken.id());
  out.set_workflow(taken.workflow());
  out.set_state(v1::TASK_STATE_PENDING);
  out.mutable_input()->set_json(taken.input());
  out.set_created_at_unix_ms(created_unix_ms);
  return out;
}

void take_state(v1::TaskRecord& task, const v1::OperateResult& done) {
  // Without a record any more it has no state.
  if (done.state() == v1::TASK_STATE_UNSPECIFIED) return;
  task.set_state(done.state());
  task.set_parked(done.parked());
  task.set_paused(done.paused());
  task.set_parked_reason(done.parked() ? done.reason() : "");
}

void hide_payloads(v1::TaskRecord& task) {
  auto what = action_of_input(task.input().json());
  task.clear_input();
  if (what) {
    // The action is not readable without any.
    if (what->what.has_json()) what->what.set_json("null");
    task.mutable_input()->set_json(input_of(*what));
  }
  for (auto& step : *task.mutable_steps()) {
    step.clear_input();
    step.clear_log();
  }
}

}  // namespace fairlead::app::bulk
