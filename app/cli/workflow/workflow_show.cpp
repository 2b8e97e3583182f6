#include "app/cli/workflow/workflow_show.hpp"

#include "actors/core/task/record.hpp"
#include "actors/core/text/json.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/words.hpp"
#include "app/json/node/workflows.hpp"
#include "messages/time.hpp"
#include "store/content_hash.hpp"

namespace fairlead::app {

namespace {

std::string joined(const google::protobuf::RepeatedPtrField<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

std::string undo_text(const v1::StepDefinition& step) {
  if (step.kind() == v1::STEP_KIND_WORKFLOW) return step.undo().none() ? "none" : "its task";
  if (!step.has_undo() || step.kind() != v1::STEP_KIND_CALL) return "";
  if (step.undo().none()) return "none";
  return step.undo().call() + (step.undo().also_if_failed() ? ", also if failed" : "");
}

/// What a step without an agent does, in the place of a call: `value`, `wait 10m`, `signal approve`, `workflow shipment`.
std::string call_text(const v1::StepDefinition& step) {
  switch (step.kind()) {
    case v1::STEP_KIND_VALUE: return "value";
    case v1::STEP_KIND_WAIT: return "wait " + core::decode_json_string(step.with_json());
    case v1::STEP_KIND_SIGNAL: return "signal " + step.signal();
    case v1::STEP_KIND_WORKFLOW: return "workflow " + step.workflow();
    default: return step.call();
  }
}

/// `200ms x2 to 10s`; empty for a step that is never retried, and for a rule that says nothing of it.
template <class Definition>
std::string backoff_text(const Definition& of) {
  if (!of.has_backoff()) return "";
  const auto& backoff = of.backoff();
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
  if (step.goes_on_untimely()) return "on_timeout continue";
  if (step.on_failure() == v1::ON_FAILURE_UNSPECIFIED) return "";
  return on_failure_text(step.on_failure(), step.cool_off_ms() != 0 ? step.cool_off_ms() : workflow.cool_off_ms());
}

/// `3`, `1h`, or `3 in 1h`.
template <class Definition>
std::string patience_text(const Definition& of) {
  auto attempts = of.attempts() == 0 ? std::string{} : std::to_string(of.attempts());
  if (of.retry_for_ms() == 0) return attempts;
  return (attempts.empty() ? "" : attempts + " in ") + format_duration(of.retry_for_ms());
}

/// `http_502, http_5*: 3, backoff 5s x1 to 5s`
std::string rule_text(const v1::RetryRule& rule) {
  const auto backoff = backoff_text(rule);
  return printable(joined(rule.on())) + ": " + patience_text(rule) + (backoff.empty() ? "" : ", backoff " + backoff);
}

/// `until ${ .steps.poll.done }, every 10m, at most 400 rounds`
std::string repeat_text(const v1::RepeatDefinition& repeat) {
  auto out = "until " + printable(core::decode_json_string(repeat.until_json()));
  if (repeat.every_ms() != 0) out += ", every " + format_duration(repeat.every_ms());
  return out + ", at most " + std::to_string(repeat.most()) + (repeat.most() == 1 ? " round" : " rounds");
}

/// `${ .input.parcels }, 20 at once, failures collect`
std::string items_text(const v1::ForEachDefinition& each) {
  const auto json = core::trim_json(each.list_json());
  return printable(json.starts_with('"') ? core::decode_json_string(json) : std::string{json}) + ", " + std::to_string(each.at_once()) +
         " at once" + (each.collect() ? ", failures collect" : "");
}

}  // namespace

std::string deployed_text(const std::string& name, const v1::DeployReply& reply) {
  auto out = "Workflow " + name + (reply.created() ? " is deployed" : " is not changed: this version was deployed before") + " (content " +
             store::to_hex(reply.content_hash()) + ").\n";
  for (const auto& warning : reply.warnings()) out += "  warning: " + printable(warning) + "\n";
  return out;
}

std::string workflow_list_text(const v1::WorkflowListReply& reply) {
  if (reply.items().empty()) return "No workflow is deployed; 'fairlead workflow deploy FILE' deploys one.\n";
  text_table table{{{"WORKFLOW"},
                    {"STEPS", align::right},
                    {"VERSIONS", align::right},
                    {"LIVE", align::right},
                    {"PARKED", align::right},
                    {"DEPLOYED"},
                    {"CONTENT"}}};
  // So much names a version, and has room.
  const auto content = [](const std::string& hash) { return store::to_hex(hash).substr(0, 12); };
  for (const auto& one : reply.items()) {
    if (one.all().empty())
      table.add({one.name(), std::to_string(one.steps()), std::to_string(one.versions()), "-", "-", time_cell(one.deployed_at_unix_ms()),
                 content(one.content_hash())});
    for (const auto& version : one.all()) {
      const bool current = version.content_hash() == one.content_hash();
      table.add({one.name(), current ? std::to_string(one.steps()) : "", current ? std::to_string(one.versions()) : "",
                 std::to_string(version.live_tasks()), std::to_string(version.parked_tasks()), time_cell(version.deployed_at_unix_ms()),
                 content(version.content_hash()) + (current ? "" : " (earlier)")});
    }
  }
  return table.text();
}

std::string workflow_show_text(const v1::WorkflowShowReply& reply) {
  const auto& workflow = reply.workflow();
  const auto& definition = workflow.definition();
  std::string out = "workflow  " + printable(definition.name()) + "\n";
  out += "content   " + store::to_hex(workflow.content_hash()) + "\n";
  out += "deployed  " + time_text(workflow.deployed_at_unix_ms()) + "\n";
  if (definition.timeout_ms() != 0) out += "timeout   " + format_duration(definition.timeout_ms()) + "\n";
  out += "failure   " + on_failure_text(definition.on_failure(), definition.cool_off_ms()) + "\n";
  if (definition.ends_failed()) out += "end       failed, where a step was passed over\n";
  if (definition.keep_days() != 0) out += "kept      " + std::to_string(definition.keep_days()) + " days after the end\n";
  if (!definition.input_schema_json().empty()) out += "input     " + printable(definition.input_schema_json()) + "\n";
  if (!definition.output_json().empty()) out += "output    " + printable(definition.output_json()) + "\n";
  for (const auto& step : definition.steps()) {
    if (step.input_type().empty() && step.output_type().empty()) continue;
    out += "types     " + printable(step.name()) + ": " + (step.input_type().empty() ? "any JSON" : printable(step.input_type())) + " -> " +
           (step.output_type().empty() ? "any JSON" : printable(step.output_type())) + "\n";
  }
  for (const auto& step : definition.steps())
    if (step.join() > 0)
      out += "join      " + printable(step.name()) + ": " + std::to_string(step.join()) + " of " + printable(joined(step.needs())) + "\n";
  for (const auto& step : definition.steps())
    if (!step.when_json().empty())
      out += "when      " + printable(step.name()) + ": " + printable(core::decode_json_string(step.when_json())) + "\n";
  for (const auto& step : definition.steps())
    for (const auto& rule : step.retry()) out += "retry     " + printable(step.name()) + " on " + rule_text(rule) + "\n";
  for (const auto& step : definition.steps())
    if (step.callback_ms() != 0)
      out += "callback  " + printable(step.name()) + ": at most " + format_duration(step.callback_ms()) + " after it was accepted\n";
  for (const auto& step : definition.steps())
    if (step.finally() != v1::FINALLY_NO)
      out += "finally   " + printable(step.name()) + ": " +
             (step.finally() == v1::FINALLY_AFTER_FAILURE ? "only after a failure" : "however the task ends") + "\n";
  for (const auto& step : definition.steps())
    if (step.has_repeat()) out += "repeat    " + printable(step.name()) + ": " + repeat_text(step.repeat()) + "\n";
  for (const auto& step : definition.steps())
    if (step.has_for_each()) out += "for each  " + printable(step.name()) + ": " + items_text(step.for_each()) + "\n";
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
    table.add({step.name(), joined(step.needs()), step.agent(), call_text(step),
               step.timeout_ms() == 0 ? "" : format_duration(step.timeout_ms()),
               step.heartbeat_ms() == 0 ? "" : format_duration(step.heartbeat_ms()), labels_text(step.labels()), patience_text(step),
               backoff_text(step), on_failure_text(step, definition),
               core::may_be_repeated(step.in_doubt()) ? "" : in_doubt_word(step.in_doubt()), undo_text(step),
               undoes ? patience_text(step.undo()) : "", step.pivot() ? "yes" : ""});
  }
  return out + "\n" + table.text();
}

}  // namespace fairlead::app
