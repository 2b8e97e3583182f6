#include "app/cli_task_json.hpp"
#include "actors/core/task.hpp"

#include "app/cli_words.hpp"

namespace fairlead::app {

namespace {

void write_labels(json_writer& out, const google::protobuf::RepeatedPtrField<v1::Label>& labels) {
  out.key("labels").begin_object();
  for (const auto& label : labels) out.key(label.key()).string(label.value());
  out.end_object();
}

void write_step(json_writer& out, const v1::StepRecord& step) {
  out.begin_object().key("path").string(step.path()).key("state").string(core::state_word(step.state()));
  out.key("attempt").number(step.attempt()).key("failure_count").number(step.failure_count()).key("tries").number(step.tries());
  out.key("generation").number(step.generation()).key("instance").string(step.instance());
  out.key("complete_by").moment(step.complete_by_unix_ms()).key("not_before").moment(step.not_before_unix_ms());
  out.key("input").raw(step.input().json()).key("output").raw(step.output().json()).key("fault");
  if (step.has_fault())
    out.begin_object()
        .key("kind")
        .string(fault_kind_word(step.fault().kind()))
        .key("code")
        .string(step.fault().code())
        .key("message")
        .string(step.fault().message())
        .end_object();
  else
    out.null();
  out.end_object();
}

void write_event(json_writer& out, const v1::HistoryEvent& event, const std::string& step) {
  out.begin_object().key("sequence").number(std::uint64_t{event.sequence()}).key("at").moment(event.at_unix_ms());
  out.key("event").string(event_word(event.kind())).key("step");
  step.empty() ? out.null() : out.string(step);
  out.key("attempt").number(event.attempt()).key("detail").string(event.detail()).end_object();
}

}  // namespace

std::string task_summary_json(const v1::TaskSummary& task) {
  json_writer out;
  out.begin_object()
      .key("id")
      .string(task.id())
      .key("workflow")
      .string(task.workflow())
      .key("state")
      .string(core::state_word(task.state()));
  out.key("parked").boolean(task.parked()).key("reason").string(task.reason());
  out.key("steps_done").number(task.steps_done()).key("steps_total").number(task.steps_total());
  out.key("created_at").moment(task.created_at_unix_ms()).key("finished_at").moment(task.finished_at_unix_ms());
  write_labels(out, task.labels());
  out.key("priority").number(std::int32_t{task.priority()}).end_object();
  return out.text();
}

std::string event_json(const v1::HistoryEvent& event, const std::string& step) {
  json_writer out;
  write_event(out, event, step);
  return out.text();
}

std::string task_show_json(const v1::TaskShowReply& reply) {
  const auto& task = reply.task();
  json_writer out;
  out.begin_object()
      .key("id")
      .string(task.id())
      .key("workflow")
      .string(task.workflow())
      .key("state")
      .string(core::state_word(task.state()));
  out.key("parked").boolean(task.parked()).key("paused").boolean(task.paused()).key("reason").string(task.parked_reason());
  write_labels(out, task.labels());
  out.key("priority").number(std::int32_t{task.priority()}).key("input").raw(task.input().json());
  out.key("created_at").moment(task.created_at_unix_ms()).key("finished_at").moment(task.finished_at_unix_ms());
  out.key("steps").begin_array();
  for (const auto& step : task.steps()) write_step(out, step);
  out.end_array().key("history").begin_array();
  for (const auto& event : task.recent()) {
    const auto index = static_cast<int>(event.step());
    write_event(out, event, index > 0 && index <= task.steps_size() ? task.steps(index - 1).path() : std::string{});
  }
  out.end_array().key("archived").boolean(reply.archived()).end_object();
  return out.text();
}

}  // namespace fairlead::app
