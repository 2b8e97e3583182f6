#include "app/json/task.hpp"

#include <algorithm>

#include "actors/core/items/items.hpp"
#include "actors/core/task/reason.hpp"
#include "actors/core/task/standing.hpp"
#include "actors/core/task/task.hpp"
#include "app/json/api_request.hpp"
#include "app/json/attempt_times.hpp"
#include "app/json/remedies.hpp"
#include "app/json/words.hpp"
#include "store/content_hash.hpp"

namespace fairlead::app {

namespace {

/// The first members of a task, in a list and alone.
template <class Task>
void write_head(json_writer& out, const Task& task, const std::string& reason) {
  out.begin_object().key("id").string(task.id()).key("workflow").string(task.workflow());
  out.key("state").string(core::state_word(task.state())).key("parked").boolean(task.parked()).key("paused").boolean(task.paused());
  out.key("reason").string(reason);
  write_labels(out, task.labels());
  out.key("priority").number(std::int32_t{task.priority()});
  out.key("submitted_by").text_or_null(task.submitted_by());
  out.key("created_at").moment(task.created_at_unix_ms()).key("start_at").moment(task.start_at_unix_ms());
  out.key("finished_at").moment(task.finished_at_unix_ms());
}

void write_attempts(json_writer& out, const char* name, const v1::Attempts& attempts) {
  out.key(name).begin_object().key("made").number(attempts.made()).key("failed").number(attempts.failed());
  out.key("excused").number(attempts.excused()).end_object();
}

/// By rules of the step.
void write_retried(json_writer& out, const v1::TaskShowReply& reply, const v1::StepRecord& step) {
  const auto* definition = definition_of(reply, step);
  out.key("retried").begin_array();
  for (int i = 0; i < step.retried_size(); ++i) {
    if (step.retried(i).failed() == 0) continue;
    out.begin_object().key("on").begin_array();
    if (definition != nullptr && i < definition->retry_size())
      for (const auto& code : definition->retry(i).on()) out.string(code);
    out.end_array().key("failed").number(step.retried(i).failed()).end_object();
  }
  out.end_array();
}

void write_fault(json_writer& out, const v1::Fault& fault) {
  out.begin_object().key("kind").string(fault_kind_word(fault.kind()));
  out.key("code").string(fault.code()).key("message").string(fault.message()).end_object();
}

void write_progress(json_writer& out, const v1::Progress& told) {
  out.begin_object().key("percent");
  told.has_percent() ? out.number(told.percent()) : out.null();
  out.key("note").string(told.note()).key("checkpoint").raw(told.checkpoint().json());
  out.key("at").moment(told.at_unix_ms()).key("attempt").number(told.attempt());
  out.key("direction").string(direction_word(told.direction())).end_object();
}

/// What a failed task leaves behind.
void write_standing(json_writer& out, const core::standing& what) {
  const auto list = [&out](const char* name, const std::vector<std::string>& paths) {
    out.key(name).begin_array();
    for (const auto& path : paths) out.string(path);
    out.end_array();
  };
  out.key("left").begin_object();
  list("stands", what.stands);
  list("undone", what.undone);
  list("in_doubt", what.in_doubt);
  out.end_object();
}

void write_attempt_times(json_writer& out, const std::vector<attempt_time>& times, std::uint32_t step) {
  out.key("attempts").begin_array();
  for (const auto& one : times) {
    if (one.step != step) continue;
    out.begin_object().key("attempt").number(one.attempt).key("direction").string(direction_word(one.direction));
    out.key("started_at").moment(one.began_unix_ms).key("ended_at").moment(one.ended_unix_ms).key("duration_ms");
    one.end.empty() ? out.null() : out.number(one.took_ms());
    out.key("end").text_or_null(one.end);
    out.end_object();
  }
  out.end_array();
}

/// How many items of a step with `for_each` are where; null of any other.
void write_items(json_writer& out, const v1::StepRecord& step) {
  if (!step.has_items()) return static_cast<void>(out.null());
  const auto counts = core::count_items(step.items());
  out.begin_object().key("count").number(step.items().count()).key("to_begin").number(counts.to_begin);
  out.key("in_progress").number(counts.out()).key("parked").number(counts.parked).key("completed").number(counts.completed);
  out.key("failed").number(counts.failed).key("undone").number(counts.undone).key("not_undone").number(counts.not_undone).end_object();
}

void write_step(json_writer& out, const v1::TaskShowReply& reply, int index, const std::vector<attempt_time>& times,
                const std::string& waits) {
  const auto& task = reply.task();
  const auto& step = task.steps(index);
  out.begin_object().key("path").string(step.path()).key("state").string(core::shown_state(task, step));
  out.key("direction").string(direction_word(step.direction()));
  out.key("attempt").number(step.attempt()).key("failure_count").number(step.failure_count()).key("excused").number(step.excused());
  write_retried(out, reply, step);
  out.key("rounds").number(step.rounds()).key("tries").number(step.tries());
  write_attempts(out, "undo", step.undo());
  write_attempts(out, "lookup", step.lookup());
  out.key("generation").number(step.generation()).key("instance").string(step.instance());
  out.key("complete_by").moment(step.complete_by_unix_ms()).key("not_before").moment(step.not_before_unix_ms());
  out.key("child").text_or_null(step.child().id());
  write_items(out.key("items"), step);
  out.key("doubtful").boolean(step.doubtful()).key("given_up").boolean(step.given_up());
  out.key("passed_over").boolean(step.passed_over()).key("dropped").boolean(step.dropped());
  out.key("waits_for").string(waits);
  out.key("input_edited").boolean(step.input_edited()).key("undo_input").raw(step.undo_input().json());
  write_attempt_times(out, times, static_cast<std::uint32_t>(index));
  out.key("heartbeat_by").moment(step.heartbeat_by_unix_ms()).key("progress");
  step.has_progress() ? write_progress(out, step.progress()) : static_cast<void>(out.null());
  out.key("input").raw(step.input().json()).key("output").raw(step.output().json()).key("fault");
  step.has_fault() ? write_fault(out, step.fault()) : static_cast<void>(out.null());
  out.end_object();
}

void write_event(json_writer& out, const v1::HistoryEvent& event, const std::string& step) {
  out.begin_object().key("sequence").number(std::uint64_t{event.sequence()}).key("at").moment(event.at_unix_ms());
  out.key("event").string(event_word(event.kind())).key("step").text_or_null(step);
  out.key("direction").string(direction_word(event.direction())).key("attempt").number(event.attempt());
  out.key("who").string(event.who()).key("detail").string(event.detail()).end_object();
}

void write_steps(json_writer& out, const v1::TaskShowReply& reply, const known_agents& agents) {
  const auto times = attempt_times(reply.task());
  out.key("steps").begin_array();
  for (int i = 0; i < reply.task().steps_size(); ++i) write_step(out, reply, i, times, waits_for(reply, i, agents));
  out.end_array();
}

void write_history(json_writer& out, const v1::TaskRecord& task) {
  out.key("history").begin_array();
  for (const auto& event : task.recent()) {
    const auto index = static_cast<int>(event.step());
    write_event(out, event, index > 0 && index <= task.steps_size() ? task.steps(index - 1).path() : std::string{});
  }
  out.end_array();
}

void write_reply_address(json_writer& out, const v1::TaskRecord& task) {
  out.key("reply");
  if (!task.has_reply()) {
    out.null();
    return;
  }
  const auto& reply = task.reply();
  out.begin_object().key("client").string(reply.client()).key("webhook").string(reply.webhook());
  out.key("steps").boolean(reply.steps()).end_object();
}

/// Signals that no step has taken yet. The size is that of the whole text, whatever of it is shown.
void write_signals(json_writer& out, const v1::TaskRecord& task) {
  out.key("signals").begin_array();
  for (const auto& signal : task.signals()) {
    out.begin_object().key("name").string(signal.name()).key("size").number(size_of(signal.data()));
    out.key("data").raw(signal.data().json()).end_object();
  }
  out.end_array();
}

}  // namespace

std::uint64_t size_of(const v1::Payload& payload) { return payload.size() != 0 ? payload.size() : payload.json().size(); }

std::string submit_json(const v1::SubmitResult& taken, const v1::TaskEnd* end, const std::string& output) {
  json_writer out;
  out.begin_object().key("id").string(taken.id()).key("created").boolean(taken.created());
  out.key("start_at").moment(taken.start_at_unix_ms());
  if (end != nullptr)
    out.key("state").string(core::state_word(end->state())).key("parked").boolean(end->parked()).key("reason").string(end->reason());
  if (end != nullptr && end->has_output() == !output.empty()) out.key("output").raw(output);
  return out.end_object().text();
}

std::string state_json(const v1::TaskEnd& task) {
  json_writer out;
  out.begin_object().key("id").string(task.id()).key("state");
  task.state() == v1::TASK_STATE_UNSPECIFIED ? out.null() : out.string(core::state_word(task.state()));
  return out.key("parked").boolean(task.parked()).key("reason").string(task.reason()).end_object().text();
}

std::string task_summary_json(const v1::TaskSummary& task) {
  json_writer out;
  write_head(out, task, task.reason());
  out.key("steps_done").number(task.steps_done()).key("steps_total").number(task.steps_total());
  out.key("archived").boolean(task.archived()).end_object();
  return out.text();
}

std::string event_json(const v1::HistoryEvent& event, const std::string& step) {
  json_writer out;
  write_event(out, event, step);
  return out.text();
}

std::string task_show_json(const v1::TaskShowReply& reply, const known_agents& agents) {
  const auto& task = reply.task();
  json_writer out;
  write_head(out, task, core::why_of(task));
  out.key("content_hash").string(store::to_hex(task.workflow_hash()));
  out.key("submitted_from").text_or_null(task.origin().address()).key("submitted_token").text_or_null(task.origin().token());
  out.key("parent").text_or_null(task.parent().id());
  out.key("undo_held").boolean(task.undo_held()).key("undo_reason").string(task.undo_reason()).key("timed_out").boolean(task.timed_out());
  out.key("failing").boolean(task.failing()).key("failed_reason").string(task.failed_reason());
  if (task.state() == v1::TASK_STATE_FAILED) write_standing(out, core::standing_of(task));
  out.key("alert");
  task.alert() == 0 ? out.null() : out.number(std::uint64_t{task.alert()});
  write_reply_address(out, task);
  std::vector<help> helps;
  for (const auto& one : remedies_of(task, reply.definition())) helps.push_back(help_of(one));
  out.key("what_helps");
  write_helps(out, helps);
  out.key("input").raw(task.input().json()).key("output").raw(task.output().json());
  write_signals(out, task);
  write_steps(out, reply, agents);
  write_history(out, task);
  out.key("archived").boolean(reply.archived()).end_object();
  return out.text();
}

std::string task_steps_json(const v1::TaskShowReply& reply, const known_agents& agents) {
  json_writer out;
  out.begin_object().key("id").string(reply.task().id());
  write_steps(out, reply, agents);
  return out.end_object().text();
}

std::string task_history_json(const v1::TaskShowReply& reply) {
  json_writer out;
  out.begin_object().key("id").string(reply.task().id());
  write_history(out, reply.task());
  return out.end_object().text();
}

std::string path_of(const v1::WatchReply& reply, const v1::HistoryEvent& event) {
  const auto index = static_cast<int>(event.step());
  return index > 0 && index <= reply.step_paths_size() ? reply.step_paths(index - 1) : std::string{};
}

std::string end_json(const v1::WatchReply& reply) {
  json_writer out;
  out.begin_object()
      .key("state")
      .string(core::state_word(reply.state()))
      .key("parked")
      .boolean(reply.parked())
      .key("reason")
      .string(reply.reason());
  return out.end_object().text();
}

std::string progress_json(const v1::StepProgress& one) {
  json_writer out;
  out.begin_object().key("event").string("step_progress").key("step").string(one.step());
  out.key("direction").string(direction_word(one.progress().direction())).key("attempt").number(one.progress().attempt());
  out.key("at").moment(one.progress().at_unix_ms()).key("percent");
  one.progress().has_percent() ? out.number(one.progress().percent()) : out.null();
  return out.key("note").string(one.progress().note()).end_object().text();
}

}  // namespace fairlead::app
