#include "app/json/node/workflows.hpp"

#include <cstdio>

#include "app/json/words.hpp"
#include "store/content_hash.hpp"

namespace fairlead::app {

namespace {

void write_backoff(json_writer& out, const v1::Backoff& backoff) {
  out.begin_object().key("first_ms").number(std::int64_t{backoff.first_ms()});
  out.key("factor").raw(factor_text(backoff.factor())).key("max_ms").number(std::int64_t{backoff.max_ms()}).end_object();
}

/// `attempts` 0: as many as `retry_for` allows; `retry_for_ms` null: the time has no limit.
template <class Definition>
void write_patience(json_writer& out, const Definition& of) {
  out.key("attempts").number(of.attempts()).key("retry_for_ms");
  of.retry_for_ms() == 0 ? out.null() : out.number(std::int64_t{of.retry_for_ms()});
}

/// null: the step has no undo entry.
void write_undo(json_writer& out, const v1::StepDefinition& step) {
  out.key("undo");
  if (!step.has_undo()) {
    out.null();
    return;
  }
  const auto& undo = step.undo();
  out.begin_object().key("none").boolean(undo.none());
  if (!undo.none()) {
    out.key("call").string(undo.call()).key("with").raw(undo.with_json());
    out.key("timeout_ms").number(std::int64_t{undo.timeout_ms()});
    write_patience(out, undo);
    write_backoff(out.key("backoff"), undo.backoff());
    out.key("also_if_failed").boolean(undo.also_if_failed());
  }
  out.end_object();
}

void write_rules(json_writer& out, const v1::StepDefinition& step) {
  out.key("retry").begin_array();
  for (const auto& rule : step.retry()) {
    out.begin_object().key("on").begin_array();
    for (const auto& code : rule.on()) out.string(code);
    write_patience(out.end_array(), rule);
    out.key("backoff");
    rule.has_backoff() ? write_backoff(out, rule.backoff()) : static_cast<void>(out.null());
    out.end_object();
  }
  out.end_array();
}

void write_repeat(json_writer& out, const v1::StepDefinition& step) {
  out.key("repeat");
  if (!step.has_repeat()) return static_cast<void>(out.null());
  out.begin_object().key("until").raw(step.repeat().until_json()).key("every_ms").number(std::int64_t{step.repeat().every_ms()});
  out.key("max").number(step.repeat().most()).end_object();
}

void write_items(json_writer& out, const v1::StepDefinition& step) {
  out.key("for_each");
  if (!step.has_for_each()) return static_cast<void>(out.null());
  out.begin_object().key("items").raw(step.for_each().list_json()).key("at_once").number(step.for_each().at_once());
  out.key("failures").string(failures_word(step.for_each().collect())).end_object();
}

void write_step(json_writer& out, const v1::StepDefinition& step) {
  out.begin_object().key("name").string(step.name()).key("needs").begin_array();
  for (const auto& need : step.needs()) out.string(need);
  const bool calls = step.kind() == v1::STEP_KIND_CALL;
  const bool awaits_signal = step.kind() == v1::STEP_KIND_SIGNAL;
  out.end_array().key("join");
  step.join() == 0 ? out.null() : out.number(step.join());
  out.key("kind").string(step_kind_word(step.kind()));
  out.key("agent").text_or_null(step.agent()).key("call").text_or_null(step.call()).key("when");
  step.when_json().empty() ? out.null() : out.raw(step.when_json());
  // The same field of the definition holds the text of a wait.
  const bool waits = step.kind() == v1::STEP_KIND_WAIT;
  out.key("with");
  waits ? out.null() : out.raw(step.with_json());
  out.key("wait");
  waits ? out.raw(step.with_json()) : out.null();
  out.key("workflow").text_or_null(step.workflow());
  out.key("signal").text_or_null(step.signal()).key("on_timeout");
  awaits_signal ? out.string(step.goes_on_untimely() ? "continue" : "fail") : out.null();
  out.key("timeout_ms").number(std::int64_t{step.timeout_ms()});
  write_patience(out, step);
  out.key("backoff");
  if (calls)
    write_backoff(out, step.backoff());
  else
    out.null();
  write_rules(out, step);
  out.key("on_failure");
  step.on_failure() == v1::ON_FAILURE_UNSPECIFIED ? out.null() : out.string(on_failure_word(step.on_failure()));
  out.key("cool_off_ms").number(std::int64_t{step.cool_off_ms()});
  out.key("in_doubt");
  calls ? out.string(in_doubt_word(step.in_doubt())) : out.null();
  out.key("callback");
  if (step.callback_ms() == 0)
    out.null();
  else
    out.begin_object().key("timeout_ms").number(std::int64_t{step.callback_ms()}).end_object();
  write_repeat(out, step);
  write_items(out, step);
  out.key("heartbeat_ms").number(std::int64_t{step.heartbeat_ms()});
  write_labels(out, step.labels());
  out.key("input_type").text_or_null(step.input_type());
  out.key("output_type").text_or_null(step.output_type());
  write_undo(out, step);
  out.key("finally");
  step.finally() == v1::FINALLY_NO ? out.null() : out.string(finally_word(step.finally()));
  out.key("pivot").boolean(step.pivot()).end_object();
}

/// null: not every shard has counted its tasks.
void write_versions(json_writer& out, const v1::WorkflowSummary& of) {
  out.key("live");
  if (of.all().empty()) return static_cast<void>(out.null());
  out.begin_array();
  for (const auto& version : of.all()) {
    out.begin_object().key("content_hash").string(store::to_hex(version.content_hash()));
    out.key("current").boolean(version.content_hash() == of.content_hash()).key("deployed_at").moment(version.deployed_at_unix_ms());
    out.key("live_tasks").number(version.live_tasks()).key("parked_tasks").number(version.parked_tasks()).end_object();
  }
  out.end_array();
}

}  // namespace

std::string factor_text(double factor) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", factor);
  return text;
}

void write_deployed(json_writer& out, const std::string& name, const v1::DeployReply& reply) {
  out.begin_object()
      .key("workflow")
      .string(name)
      .key("content_hash")
      .string(store::to_hex(reply.content_hash()))
      .key("created")
      .boolean(reply.created());
  out.key("warnings").begin_array();
  for (const auto& warning : reply.warnings()) out.string(warning);
  out.end_array().end_object();
}

std::string workflow_items_json(const v1::WorkflowListReply& reply) {
  json_writer out;
  out.begin_array();
  for (const auto& one : reply.items()) {
    out.begin_object().key("name").string(one.name()).key("content_hash").string(store::to_hex(one.content_hash()));
    out.key("deployed_at").moment(one.deployed_at_unix_ms()).key("steps").number(one.steps()).key("versions").number(one.versions());
    write_versions(out, one);
    out.end_object();
  }
  return out.end_array().text();
}

std::string workflow_list_json(const v1::WorkflowListReply& reply) {
  json_writer out;
  return out.begin_object().key("workflows").raw(workflow_items_json(reply)).end_object().text();
}

std::string workflow_show_json(const v1::WorkflowShowReply& reply) {
  const auto& workflow = reply.workflow();
  json_writer out;
  out.begin_object().key("name").string(workflow.definition().name()).key("content_hash").string(store::to_hex(workflow.content_hash()));
  out.key("deployed_at").moment(workflow.deployed_at_unix_ms()).key("timeout_ms").number(std::int64_t{workflow.definition().timeout_ms()});
  out.key("on_failure").string(on_failure_word(workflow.definition().on_failure()));
  out.key("end").string(workflow.definition().ends_failed() ? "failed" : "completed");
  out.key("cool_off_ms").number(std::int64_t{workflow.definition().cool_off_ms()}).key("keep_days");
  workflow.definition().keep_days() == 0 ? out.null() : out.number(workflow.definition().keep_days());
  out.key("input").raw(workflow.definition().input_schema_json());
  out.key("output").raw(workflow.definition().output_json()).key("steps").begin_array();
  for (const auto& step : workflow.definition().steps()) write_step(out, step);
  return out.end_array().key("source").string(workflow.source()).end_object().text();
}

std::string workflow_deleted_json(const std::string& name) {
  json_writer out;
  return out.begin_object().key("deleted").string(name).end_object().text();
}

}  // namespace fairlead::app
