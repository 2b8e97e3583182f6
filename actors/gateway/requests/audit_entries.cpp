#include "actors/gateway/requests/audit_entries.hpp"

#include <string>

#include "actors/agents/text_template.hpp"
#include "actors/core/request_limits.hpp"
#include "actors/core/task/task.hpp"
#include "actors/core/text/text.hpp"
#include "messages/task_states.hpp"
#include "messages/tickets.hpp"

namespace fairlead {

namespace {

using noted = std::vector<noted_request>;

constexpr std::size_t most_path_bytes = 512;

/// `/v1/tasks/order-1/actions`
std::string path_about(const char* before, const std::string& name, const std::string& behind = {}) {
  std::string out = before;
  agents::append_percent_encoded(out, name);
  return core::clean_text(out + behind, most_path_bytes);
}

/// `object`: what it is about.
noted_request entry_of(const std::string& who, const char* method, std::string path, const std::string& object, std::string verb = {},
                       const std::string& reason = {}) {
  noted_request out;
  out.entry.set_object(core::clean_text(object, most_path_bytes));
  out.entry.set_who(core::clean_text(who, who_limit));
  out.entry.set_method(method);
  out.entry.set_path(std::move(path));
  out.entry.set_verb(std::move(verb));
  out.entry.set_reason(core::clean_text(reason, reason_limit));
  return out;
}

/// A callback has none, but a step.
std::string reason_of(const v1::OperatorAction& action) {
  if (action.verb() != v1::OPERATOR_VERB_CALLBACK) return action.reason();
  const auto named = read_callback(action.callback());
  return named ? called_back_step(*named) : "";
}

}  // namespace

std::string called_back_step(const callback_name& which) { return "step " + std::to_string(which.step + 1) + " of the workflow"; }

std::string state_after(const v1::OperateResult& done) {
  if (done.error().code() != v1::ERROR_CODE_OK || state_row_of(done.state()) == nullptr) return {};
  return std::string{core::state_word(done.state())} + (done.parked() ? ", parked" : done.paused() ? ", paused" : "");
}

noted to_note(const v1::OperateRequest& what) {
  noted out;
  const auto& action = what.action();
  if (what.has_shard() || action.dry_run()) return out;
  const auto verb = core::verb_word(v1::OperatorVerb_Name(action.verb()));
  // The name of a signal, but not its data.
  const auto behind = action.verb() == v1::OPERATOR_VERB_SIGNAL ? "/signals/" + action.signal() : "/actions";
  for (const auto& id : what.ids()) {
    auto path = path_about("/v1/tasks/", id, behind);
    // Whoever reads the text of a callback could call back, too.
    if (action.verb() == v1::OPERATOR_VERB_CALLBACK)
      path = action.has_fault() ? "/v1/callbacks/{callback}/fail" : "/v1/callbacks/{callback}";
    out.push_back(entry_of(action.who(), "POST", std::move(path), id, verb, reason_of(action)));
  }
  return out;
}

noted to_note(const v1::DeployRequest& what) {
  if (what.has_shard() || what.check_only()) return {};
  return {entry_of({}, "POST", "/v1/workflows", what.definition().name())};
}

noted to_note(const v1::WorkflowDeleteRequest& what) {
  if (what.has_shard() || what.check_only()) return {};
  return {entry_of(what.who(), "DELETE", path_about("/v1/workflows/", what.name()), what.name())};
}

noted to_note(const v1::JobApplyRequest& what) {
  noted out;
  if (what.has_shard() || what.check_only()) return out;
  for (const auto& job : what.jobs()) out.push_back(entry_of(what.who(), "PUT", path_about("/v1/jobs/", job.name()), job.name()));
  return out;
}

noted to_note(const v1::JobOperateRequest& what) {
  noted out;
  if (what.has_shard()) return out;
  const auto& action = what.action();
  const auto verb = core::verb_word(v1::JobVerb_Name(action.verb()));
  if (what.names().empty()) out.push_back(entry_of(action.who(), "POST", "/v1/jobs", {}, verb, action.reason()));
  for (const auto& name : what.names())
    out.push_back(action.verb() == v1::JOB_VERB_DELETE
                      ? entry_of(action.who(), "DELETE", path_about("/v1/jobs/", name), name, {}, action.reason())
                      : entry_of(action.who(), "POST", path_about("/v1/jobs/", name, "/actions"), name, verb, action.reason()));
  return out;
}

noted to_note(const v1::AlertAckRequest& what) {
  noted out;
  if (what.has_shard()) return out;
  const auto about = [&](const std::string& number) {
    out.push_back(entry_of(what.who(), "POST", "/v1/alerts:ack", number, "ack", what.note()));
  };
  for (const auto number : what.numbers()) about(std::to_string(number));
  if (out.empty()) about({});
  return out;
}

noted to_note(const v1::BrakeReleaseRequest& what) {
  if (what.has_shard()) return {};
  return {entry_of(what.who(), "POST", "/v1/brake:release", {}, "release", what.reason())};
}

noted to_note(const v1::AgentOperateRequest& what) {
  if (what.has_shard()) return {};
  const auto& about = what.instance().empty() ? what.agent() : what.instance();
  return {entry_of(what.who(), "POST", path_about("/v1/agents/", about, "/actions"), about,
                   core::verb_word(v1::AgentVerb_Name(what.verb())), what.reason())};
}

noted to_note(const v1::DoctorRequest& what) {
  if (what.has_shard() || (!what.repair() && !what.forget_effects())) return {};
  return {entry_of(what.who(), "POST", "/v1/doctor", {}, what.repair() ? "repair" : "forget_effects")};
}

noted to_note(const v1::NodeOperateRequest& what, const std::string& here) {
  if (what.passed_on() || what.hops() != 0) return {};
  // An empty level only asks for the one that there is.
  if (what.verb() == v1::NODE_VERB_LOG_LEVEL && what.log_level().empty()) return {};
  const auto& about = what.verb() == v1::NODE_VERB_FORGET ? what.forgotten() : what.node().empty() ? here : what.node();
  return {entry_of(what.who(), "POST", path_about("/v1/nodes/", about, "/actions"), about, core::verb_word(v1::NodeVerb_Name(what.verb())),
                   what.reason())};
}

noted to_note(const v1::ShardNodesRequest& what) {
  if (what.passed_on() || what.only_ask() || what.verb() == v1::ShardNodesRequest::SHOW) return {};
  return {entry_of(what.who(), "POST", "/v1/shards/" + std::to_string(what.shard()) + "/nodes", {},
                   core::verb_word(v1::ShardNodesRequest::Verb_Name(what.verb())), what.reason())};
}

noted to_note(const v1::RepliesRequest& what) {
  if (what.acknowledged() == 0 && what.positions().empty()) return {};
  return {entry_of({}, "POST", path_about("/v1/clients/", what.client(), "/replies:take"), what.client(), "take")};
}

}  // namespace fairlead
