#include "app/cli_workflow_show.hpp"

#include "app/cli_table.hpp"
#include "app/cli_words.hpp"
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
  auto out = "Workflow " + name + (reply.created() ? " is deployed" : " was deployed before, just as it is") + " (content " +
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
  if (reply.items().empty()) return "No workflow is deployed: 'fairlead workflow deploy FILE' does it.\n";
  text_table table{{{"WORKFLOW"}, {"STEPS", align::right}, {"VERSIONS", align::right}, {"DEPLOYED"}, {"CONTENT"}}};
  for (const auto& one : reply.items())
    table.add({one.name(), std::to_string(one.steps()), std::to_string(one.versions()), time_text(one.deployed_at_unix_ms()),
               hex(one.content_hash())});
  return table.text();
}

std::string workflow_show_json(const v1::WorkflowShowReply& reply) {
  const auto& workflow = reply.workflow();
  json_writer out;
  out.begin_object().key("name").string(workflow.definition().name()).key("content_hash").string(hex(workflow.content_hash()));
  out.key("deployed_at").moment(workflow.deployed_at_unix_ms()).key("timeout_ms").number(std::int64_t{workflow.definition().timeout_ms()});
  out.key("steps").begin_array();
  for (const auto& step : workflow.definition().steps()) {
    out.begin_object().key("name").string(step.name()).key("needs").begin_array();
    for (const auto& need : step.needs()) out.string(need);
    out.end_array().key("agent").string(step.agent()).key("call").string(step.call()).key("with").raw(step.with_json());
    out.key("timeout_ms").number(std::int64_t{step.timeout_ms()}).key("attempts").number(step.attempts()).key("undo");
    undo_text(step).empty() ? out.null() : out.string(undo_text(step));
    out.key("pivot").boolean(step.pivot()).end_object();
  }
  return out.end_array().key("source").string(workflow.source()).end_object().text();
}

std::string workflow_show_text(const v1::WorkflowShowReply& reply) {
  const auto& workflow = reply.workflow();
  const auto& definition = workflow.definition();
  std::string out = "workflow  " + printable(definition.name()) + "\n";
  out += "content   " + hex(workflow.content_hash()) + "\n";
  out += "deployed  " + time_text(workflow.deployed_at_unix_ms()) + "\n";
  if (definition.timeout_ms() != 0) out += "timeout   " + format_duration(definition.timeout_ms()) + "\n";
  text_table table{{{"STEP"}, {"NEEDS"}, {"AGENT"}, {"CALL"}, {"TIMEOUT", align::right}, {"ATTEMPTS", align::right}, {"UNDO"}, {"PIVOT"}}};
  for (const auto& step : definition.steps())
    table.add({step.name(), joined(step.needs()), step.agent(), step.call(), format_duration(step.timeout_ms()),
               std::to_string(step.attempts()), undo_text(step), step.pivot() ? "yes" : ""});
  return out + "\n" + table.text();
}

}  // namespace fairlead::app
