#include "app/cli/node/workflow_show.hpp"

#include <cstdio>

#include "actors/core/task/record.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/words.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

std::string hex(const std::string& bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (char c : bytes) {
    out += digits[static_cast<unsigned char>(c) >> 4];
    out += digits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

std::string joined(const google::protobuf::RepeatedPtrField<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

std::string undo_text(const v1::StepDefinition& step) {
  if (!step.has_undo()) return "";
  return step.undo().none() ? "none" : step.undo().call();
}

std::string factor_text(double factor) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", factor);
  return text;
}

/// `200ms x2 to 10s`.
std::string backoff_text(const v1::Backoff& backoff) {
  return format_duration(backoff.first_ms()) + " x" + factor_text(backoff.factor()) + " to " + format_duration(backoff.max_ms());
}

/// `cool_off 10m`; the overload for a step gives an empty text if the step uses its workflow's
/// setting.
std::string on_failure_text(v1::OnFailure what, std::int64_t cool_off_ms) {
  std::string out = on_failure_word(what);
  if (what == v1::ON_FAILURE_COOL_OFF) out += " " + format_duration(cool_off_ms);
  return out;
}

std::string on_failure_text(const v1::StepDefinition& step, const v1::WorkflowDefinition& workflow) {
  if (step.on_failure() == v1::ON_FAILURE_UNSPECIFIED) return "";
  return on_failure_text(step.on_failure(), step.cool_off_ms() != 0 ? step.cool_off_ms() : workflow.cool_off_ms());
}

void write_backoff(json_writer& out, const v1::Backoff& backoff) {
  out.key("backoff").begin_object().key("first_ms").number(std::int64_t{backoff.first_ms()});
  out.key("factor").raw(factor_text(backoff.factor())).key("max_ms").number(std::int64_t{backoff.max_ms()}).end_object();
}

/// `attempts` 0: as many as `retry_for` allows; `retry_for_ms` null: the time has no limit.
template <class Definition>
void write_patience(json_writer& out, const Definition& of) {
  out.key("attempts").number(of.attempts()).key("retry_for_ms");
  of.retry_for_ms() == 0 ? out.null() : out.number(std::int64_t{of.retry_for_ms()});
}

/// `3`, `1h`, or `3 in 1h`.
template <class Definition>
std::string patience_text(const Definition& of) {
  auto attempts = of.attempts() == 0 ? std::string{} : std::to_string(of.attempts());
  if (of.retry_for_ms() == 0) return attempts;
  return (attempts.empty() ? "" : attempts + " in ") + format_duration(of.retry_for_ms());
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
    write_backoff(out, undo.backoff());
  }
  out.end_object();
}

void write_step(json_writer& out, const v1::StepDefinition& step) {
  out.begin_object().key("name").string(step.name()).key("needs").begin_array();
  for (const auto& need : step.needs()) out.string(need);
  out.end_array().key("agent").string(step.agent()).key("call").string(step.call()).key("with").raw(step.with_json());
  out.key("timeout_ms").number(std::int64_t{step.timeout_ms()});
  write_patience(out, step);
  write_backoff(out, step.backoff());
  out.key("on_failure");
  step.on_failure() == v1::ON_FAILURE_UNSPECIFIED ? out.null() : out.string(on_failure_word(step.on_failure()));
  out.key("cool_off_ms").number(std::int64_t{step.cool_off_ms()});
  out.key("in_doubt").string(in_doubt_word(step.in_doubt()));
  out.key("heartbeat_ms").number(std::int64_t{step.heartbeat_ms()}).key("labels").begin_object();
  for (const auto& label : step.labels()) out.key(label.key()).string(label.value());
  out.end_object();
  out.key("input_type");
  step.input_type().empty() ? out.null() : out.string(step.input_type());
  out.key("output_type");
  step.output_type().empty() ? out.null() : out.string(step.output_type());
  write_undo(out, step);
  out.key("pivot").boolean(step.pivot()).end_object();
}

}  // namespace

void write_deployed(json_writer& out, const std::string& name, const v1::DeployReply& reply) {
  out.begin_object()
      .key("workflow")
      .string(name)
      .key("content_hash")
      .string(hex(reply.content_hash()))
      .key("created")
      .boolean(reply.created());
  out.key("warnings").begin_array();
  for (const auto& warning : reply.warnings()) out.string(warning);
  out.end_array().end_object();
}

std::string deployed_text(const std::string& name, const v1::DeployReply& reply) {
  auto out = "Workflow " + name + (reply.created() ? " is deployed" : " is not changed: this version was deployed before") + " (content " +
             hex(reply.content_hash()) + ").\n";
  for (const auto& warning : reply.warnings()) out += "  warning: " + printable(warning) + "\n";
  return out;
}

std::string workflow_list_json(const v1::WorkflowListReply& reply) {
  json_writer out;
  out.begin_object().key("workflows").begin_array();
  for (const auto& one : reply.items()) {
    out.begin_object().key("name").string(one.name()).key("content_hash").string(hex(one.content_hash()));
    out.key("deployed_at")
        .moment(one.deployed_at_unix_ms())
        .key("steps")
        .number(one.steps())
        .key("versions")
        .number(one.versions())
        .end_object();
  }
  return out.end_array().end_object().text();
}

std::string workflow_list_text(const v1::WorkflowListReply& reply) {
  if (reply.items().empty()) return "No workflow is deployed; 'fairlead workflow deploy FILE' deploys one.\n";
  text_table table{
      {{"WORKFLOW"}, {"STEPS", align::right}, {"VERSIONS", align::right}, {"DEPLOYED"}, {"CONTENT", align::left, narrow::drop}}};
  for (const auto& one : reply.items())
    table.add({one.name(), std::to_string(one.steps()), std::to_string(one.versions()), time_cell(one.deployed_at_unix_ms()),
               hex(one.content_hash())});
  return table.text();
}

std::string workflow_show_json(const v1::WorkflowShowReply& reply) {
  const auto& workflow = reply.workflow();
  json_writer out;
  out.begin_object().key("name").string(workflow.definition().name()).key("content_hash").string(hex(workflow.content_hash()));
  out.key("deployed_at").moment(workflow.deployed_at_unix_ms()).key("timeout_ms").number(std::int64_t{workflow.definition().timeout_ms()});
  out.key("on_failure").string(on_failure_word(workflow.definition().on_failure()));
  out.key("cool_off_ms").number(std::int64_t{workflow.definition().cool_off_ms()}).key("keep_days");
  workflow.definition().keep_days() == 0 ? out.null() : out.number(workflow.definition().keep_days());
  out.key("steps").begin_array();
  for (const auto& step : workflow.definition().steps()) write_step(out, step);
  return out.end_array().key("source").string(workflow.source()).end_object().text();
}

std::string workflow_show_text(const v1::WorkflowShowReply& reply) {
  const auto& workflow = reply.workflow();
  const auto& definition = workflow.definition();
  std::string out = "workflow  " + printable(definition.name()) + "\n";
  out += "content   " + hex(workflow.content_hash()) + "\n";
  out += "deployed  " + time_text(workflow.deployed_at_unix_ms()) + "\n";
  if (definition.timeout_ms() != 0) out += "timeout   " + format_duration(definition.timeout_ms()) + "\n";
  out += "failure   " + on_failure_text(definition.on_failure(), definition.cool_off_ms()) + "\n";
  if (definition.keep_days() != 0) out += "kept      " + std::to_string(definition.keep_days()) + " days after the end\n";
  for (const auto& step : definition.steps()) {
    if (step.input_type().empty() && step.output_type().empty()) continue;
    out += "types     " + printable(step.name()) + ": " + (step.input_type().empty() ? "any JSON" : printable(step.input_type())) + " -> " +
           (step.output_type().empty() ? "any JSON" : printable(step.output_type())) + "\n";
  }
  text_table table{{{"STEP"},
                    {"NEEDS"},
                    {"AGENT"},
                    {"CALL"},
                    {"TIMEOUT", align::right},
                    {"HEARTBEAT", align::right, narrow::drop},
                    {"LABELS", align::left, narrow::drop},
                    {"RETRIED", align::right},
                    {"BACKOFF", align::left, narrow::drop},
                    {"ON FAILURE", align::left, narrow::drop},
                    {"IN DOUBT", align::left, narrow::drop},
                    {"UNDO"},
                    {"UNDO RETRIED", align::right, narrow::drop},
                    {"PIVOT"}}};
  for (const auto& step : definition.steps()) {
    const bool undoes = step.has_undo() && !step.undo().none();
    table.add({step.name(), joined(step.needs()), step.agent(), step.call(), format_duration(step.timeout_ms()),
               step.heartbeat_ms() == 0 ? "" : format_duration(step.heartbeat_ms()), labels_text(step.labels()), patience_text(step),
               backoff_text(step.backoff()), on_failure_text(step, definition),
               core::may_be_repeated(step.in_doubt()) ? "" : in_doubt_word(step.in_doubt()), undo_text(step),
               undoes ? patience_text(step.undo()) : "", step.pivot() ? "yes" : ""});
  }
  return out + "\n" + table.text();
}

}  // namespace fairlead::app
