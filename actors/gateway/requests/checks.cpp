#include "actors/gateway/requests/checks.hpp"

#include <string>
#include <utility>

#include "actors/core/request_limits.hpp"
#include "actors/core/reserved.hpp"
#include "actors/core/text/json.hpp"
#include "actors/core/workflow/check.hpp"
#include "actors/core/workflow/workflow.hpp"
#include "actors/queries/alert_queries.hpp"
#include "actors/replies/outbox.hpp"
#include "actors/scheduler/scheduler.hpp"
#include "messages/ids.hpp"
#include "messages/tickets.hpp"
#include "store/content_hash.hpp"

namespace fairlead {

namespace {

constexpr std::size_t max_cursor_bytes = 1'048'576;  // one part for each shard
constexpr std::size_t max_registration_bytes = 1'048'576;
constexpr std::size_t max_session_bytes = 1'024;
constexpr std::size_t max_audit_filter_bytes = 1'024;  // no entry has more in a field

std::optional<error> check_operator(const std::string& who, const std::string& reason) {
  if (who.size() > who_limit) return invalid("the operator's name has more than " + std::to_string(who_limit) + " bytes", "shorten it");
  if (reason.size() > reason_limit) return invalid("the reason has more than " + std::to_string(reason_limit) + " bytes", "shorten it");
  return std::nullopt;
}

std::optional<error> check_one_id(const std::string& id) {
  if (id.size() <= max_known_id_bytes) return std::nullopt;
  return invalid("the request names a task with an id of " + std::to_string(id.size()) + " bytes, and ids have at most " +
                     std::to_string(max_known_id_bytes),
                 "fairlead task list shows all tasks");
}

/// Of a request of this node itself, and of one that another gateway has checked, reserved names are no matter.
template <class Request>
bool may_use_reserved(const Request& what) {
  return what.by_node() || what.has_shard();
}

std::optional<error> check_reserved(const v1::Submission& item) {
  if (item.id().starts_with(core::reserved_ids))
    return invalid(
        "the id " + item.id() + " begins with " + std::string{core::reserved_ids} + ", as the ids of the node's own operations do",
        "choose another id");
  if (item.workflow() == core::operations_workflow) return core::operations_are_reserved();
  return std::nullopt;
}

std::optional<error> check_reserved(const v1::WorkflowDefinition& what) {
  if (what.name() == core::operations_workflow)
    return invalid(std::string{"the workflow "} + core::operations_workflow + " is the node's own", "give the workflow another name");
  for (const auto& step : what.steps())
    if (step.agent() == core::operations_agent)
      return invalid("step " + step.name() + " of workflow " + what.name() + " has the agent " + core::operations_agent +
                         ", which works for the node's own operations alone",
                     "use another agent; POST /v1/tasks:act of the API acts on many tasks");
  return std::nullopt;
}

/// What the task's workflow and state have to do with it, its shard says.
std::optional<error> check_signal(const v1::OperatorAction& what) {
  if (what.verb() != v1::OPERATOR_VERB_SIGNAL) {
    if (what.signal().empty()) return std::nullopt;
    return invalid("the request names a signal, and its action is another one", "leave the signal out");
  }
  if (!core::valid_name(what.signal()))
    return invalid("the request does not give a valid name of a signal", "use 1 to 64 of a-z 0-9 _ -, the first of them a letter");
  if (what.json().size() > max_signal_bytes)
    return invalid("the data of signal " + what.signal() + " have " + std::to_string(what.json().size()) + " bytes, the limit is " +
                       std::to_string(max_signal_bytes),
                   "put large data elsewhere and pass a reference to it");
  if (!what.has_json()) return std::nullopt;
  const auto checked = core::check_json(what.json());
  if (checked.ok()) return std::nullopt;
  return invalid("the data of signal " + what.signal() + " are not JSON: " + checked.failure().sentence, "correct the JSON");
}

/// Whether the text is genuine, and whether it counts, its shard says.
std::optional<error> check_callback(const v1::OperateRequest& what) {
  const auto& action = what.action();
  if (action.verb() != v1::OPERATOR_VERB_CALLBACK) {
    if (action.callback().empty() && !action.has_fault()) return std::nullopt;
    return invalid("the request has a callback, and its action is another one", "leave the callback out");
  }
  const auto named = read_callback(action.callback());
  if (!named || what.ids_size() != 1 || what.ids(0) != named->task_id)
    return error{v1::ERROR_CODE_NOT_FOUND, "nothing here waits for this callback", "use the whole URL as it was given out"};
  if (action.has_fault() && action.has_json()) return invalid("the callback has both an output and a fault", "give one of them");
  if (action.has_fault() && action.fault().kind() != v1::FAULT_KIND_TRANSIENT && action.fault().kind() != v1::FAULT_KIND_PERMANENT)
    return invalid("the fault of the callback is neither transient nor permanent", "send no callback as long as the end is not known");
  if (action.json().size() > max_output_bytes)
    return invalid(
        "the output of the step has " + std::to_string(action.json().size()) + " bytes, the limit is " + std::to_string(max_output_bytes),
        "put large data elsewhere and pass a reference to it");
  return std::nullopt;
}

/// Which tasks go by which version, their shards say.
std::optional<error> check_migration(const v1::OperatorAction& what) {
  const auto names_versions = !what.from_hash().empty() || !what.to_hash().empty() || what.dry_run();
  if (what.verb() != v1::OPERATOR_VERB_MIGRATE) {
    if (!names_versions) return std::nullopt;
    return invalid("the request names versions of a workflow, and its action is another one than migrate", "leave the versions out");
  }
  if (what.from_hash().size() == store::content_hash_bytes && what.to_hash().size() == store::content_hash_bytes) return std::nullopt;
  return invalid("the request does not name the versions by which the tasks go and are to go on",
                 "give the whole content of both: fairlead workflow list --json shows it");
}

/// Without a step it gives the output of the task.
std::optional<error> check_settlement(const v1::OperatorAction& what) {
  if (what.verb() != v1::OPERATOR_VERB_SETTLE_COMPLETED || !what.step().empty()) return std::nullopt;
  if (!what.has_json())
    return invalid("the request settles no step, and gives no output of the task", "name the step, or give the output of the task");
  if (what.json().size() > max_output_bytes)
    return invalid(
        "the output of the task has " + std::to_string(what.json().size()) + " bytes, the limit is " + std::to_string(max_output_bytes),
        "put large data elsewhere and pass a reference to it");
  return std::nullopt;
}

std::optional<error> check_node_name(const std::string& name) {
  if (name.size() <= max_name_bytes) return std::nullopt;
  return invalid("the node's name has more than 256 bytes", "fairlead status shows the nodes");
}

}  // namespace

std::optional<error> check_request(const v1::SubmitRequest& what) {
  if (what.items_size() > max_request_items)
    return invalid("the request holds " + std::to_string(what.items_size()) + " tasks, at most " + std::to_string(max_request_items) +
                       " are allowed in a request",
                   "send several requests");
  return std::nullopt;
}

refused_items take_refused(v1::SubmitRequest& what, const std::function<std::optional<error>(v1::Submission&)>& why_not) {
  refused_items out;
  google::protobuf::RepeatedPtrField<v1::Submission> others;
  for (int i = 0; i < what.items_size(); ++i) {
    if (const auto why = why_not(*what.mutable_items(i))) {
      if (out.empty())
        for (int before = 0; before < i; ++before) *others.Add() = std::move(*what.mutable_items(before));
      v1::SubmitResult refused;
      refused.set_id(what.items(i).id());
      *refused.mutable_error() = why->to_proto();
      out.emplace_back(i, std::move(refused));
    } else if (!out.empty()) {
      *others.Add() = std::move(*what.mutable_items(i));
    }
  }
  if (!out.empty()) what.mutable_items()->Swap(&others);
  return out;
}

refused_items take_reserved(v1::SubmitRequest& what) {
  if (may_use_reserved(what)) return {};
  return take_refused(what, [](const v1::Submission& item) { return check_reserved(item); });
}

v1::SubmitReply with_refused(v1::SubmitReply reply, refused_items refused) {
  if (reply.error().code() != v1::ERROR_CODE_OK) return reply;
  google::protobuf::RepeatedPtrField<v1::SubmitResult> others;
  others.Swap(reply.mutable_results());
  auto next = others.begin();
  for (auto& [at, one] : refused) {
    while (reply.results_size() < at && next != others.end()) *reply.add_results() = std::move(*next++);
    *reply.add_results() = std::move(one);
  }
  while (next != others.end()) *reply.add_results() = std::move(*next++);
  return reply;
}

std::optional<error> check_request(const v1::StatesRequest& what) {
  if (what.ids_size() > max_request_items) return too_many_items("ids");
  for (const auto& id : what.ids())
    if (auto why = check_one_id(id)) return why;
  return std::nullopt;
}

std::optional<error> check_request(const v1::TaskListRequest& what) {
  if (what.labels_size() > max_filter_labels || what.states_size() > max_filter_states) return too_many_filters();
  if (what.workflow().size() > max_name_bytes)
    return invalid("the workflow's name has more than 256 bytes", "fairlead workflow list shows the workflows");
  for (const auto* text : {&what.job(), &what.id_prefix(), &what.fault_code(), &what.agent()})
    if (text->size() > max_id_bytes || text->find('\0') != std::string::npos)
      return invalid("a condition of the list has more than 256 bytes, or a zero byte", "give a name, a code, or the beginning of an id");
  if (!what.parent().empty() && !possible_task_id(what.parent()))
    return invalid("the parent that the list is about is not a task id",
                   "give the id of a task; fairlead task list --top-level shows tasks without a parent");
  if (what.top_level() && !what.parent().empty())
    return invalid("no task both has no parent and is a child of " + what.parent(), "leave out one of the two conditions");
  if (what.cursor().size() > max_cursor_bytes) return invalid("the cursor of the list is not valid", "start the list from the beginning");
  const auto ended = what.archived() || what.ended_since_unix_ms() != 0 || what.ended_until_unix_ms() != 0;
  const auto lives = [](int state) { return !has_ended(static_cast<v1::TaskState>(state)); };
  if (what.ended_since_unix_ms() < 0) return invalid("the time since which tasks have ended is before 1970", "give a later time");
  if (what.ended_until_unix_ms() != 0 && what.ended_until_unix_ms() <= what.ended_since_unix_ms())
    return invalid("the time until which tasks have ended is not after the time since which they have", "give a later time until which");
  if (ended && (what.parked_only() || !what.fault_code().empty() || std::any_of(what.states().begin(), what.states().end(), lives)))
    return invalid("a list of ended tasks cannot have tasks that live", "leave out the states of live tasks, and parked");
  return std::nullopt;
}

std::optional<error> check_request(const v1::TaskShowRequest& what) { return check_one_id(what.id()); }
std::optional<error> check_request(const v1::WatchRequest& what) { return check_one_id(what.id()); }

std::optional<error> check_request(const v1::DeployRequest& what) {
  if (what.source().size() > core::max_definition_bytes) return invalid("the workflow's source is larger than 1 MiB", "shorten it");
  return may_use_reserved(what) ? std::nullopt : check_reserved(what.definition());
}

std::optional<error> check_request(const v1::WorkflowDeleteRequest& what) {
  if (what.name().empty() || what.name().size() > store::max_workflow_name_bytes)
    return invalid("the workflow's name is missing or too long", "fairlead workflow list shows all workflows");
  if (what.name() == core::operations_workflow)
    return invalid("the workflow " + what.name() + " is the node's own, and cannot be deleted", "leave it: it needs no room");
  if (what.who().empty()) return nobody_asks();
  return check_operator(what.who(), {});
}

std::optional<error> check_request(const v1::WorkflowListRequest&) { return std::nullopt; }
std::optional<error> check_request(const v1::WorkflowShowRequest&) { return std::nullopt; }
std::optional<error> check_request(const v1::StatusRequest&) { return std::nullopt; }

std::optional<error> check_request(const v1::OperateRequest& what) {
  if (what.ids_size() == 0) return invalid("the request has no task", "give at least one");
  if (what.ids_size() > max_request_items) return too_many_items("tasks");
  for (const auto& id : what.ids()) {
    if (id.empty()) return invalid("the request names a task with an empty id", "leave the empty id out");
    if (auto why = check_one_id(id)) return why;
  }
  // A verb of a later release arrives as its number.
  if (what.action().verb() == v1::OPERATOR_VERB_UNSPECIFIED || !v1::OperatorVerb_IsValid(what.action().verb()))
    return invalid("the request has no action for its tasks", "use a client of the node's release");
  if (auto why = check_settlement(what.action())) return why;
  if (auto why = check_callback(what)) return why;
  if (auto why = check_migration(what.action())) return why;
  return check_signal(what.action());
}

std::optional<error> check_request(const v1::AlertListRequest& what) {
  if (what.states_size() > max_filter_states) return too_many_filters();
  return check_one_id(what.task_id());
}

std::optional<error> check_request(const v1::AlertShowRequest&) { return std::nullopt; }

std::optional<error> check_request(const v1::AlertAckRequest& what) {
  const auto checked = check_acknowledgement(what);
  return checked.ok() ? std::nullopt : std::optional<error>{checked.failure()};
}

std::optional<error> check_request(const v1::BrakeReleaseRequest& what) { return check_operator(what.who(), what.reason()); }

std::optional<error> check_request(const v1::RepliesRequest& what) {
  if (!valid_client_name(what.client()))
    return invalid(what.client().empty() ? "The client's name is empty" : "The client's name is not valid",
                   "Use 1 to 128 letters, digits and . _ : @ / -");
  if (what.positions_size() > max_request_items) return too_many_items("shards");
  return std::nullopt;
}

std::optional<error> check_request(const v1::DoctorRequest& what) {
  if (what.forget_effects() && what.repair())
    return invalid("the request asks both to repair tasks and to forget effects", "use only one of the two");
  if (what.forget_effects() && what.who().empty()) return nobody_asks();
  return check_operator(what.who(), {});
}

std::optional<error> check_request(const v1::AgentOperateRequest& what) {
  switch (what.verb()) {
    case v1::AGENT_VERB_DRAIN:
    case v1::AGENT_VERB_RESUME:
      if (what.instance().empty())
        return invalid("the request has no instance", "give the name of an instance; fairlead agent list shows all of them");
      if (what.instance().size() > max_name_bytes)
        return invalid("the instance's name has more than " + std::to_string(max_name_bytes) + " bytes",
                       "fairlead agent list shows the instances");
      break;
    case v1::AGENT_VERB_BREAKER_OPEN:
    case v1::AGENT_VERB_BREAKER_CLOSE:
      if (!core::valid_agent_name(what.agent()))
        return invalid("the request has no agent", "give the name of the agent whose breaker to open or close");
      break;
    default: return invalid("the request has no action for the agent", "use a client of the node's release");
  }
  return check_operator(what.who(), what.reason());
}

std::optional<error> check_request(const v1::RegisterAgent& what) {
  if (what.ByteSizeLong() <= max_registration_bytes) return std::nullopt;
  return invalid("the registration of an instance has " + std::to_string(what.ByteSizeLong()) + " bytes, but at most 1 MiB is allowed",
                 "give the agent fewer calls");
}

std::optional<error> check_request(const v1::WorkerSessionRequest& what) {
  if (!core::valid_agent_name(what.name())) return invalid("The agent's name is not valid.", "Give the name that steps use.");
  if (what.name() == core::operations_agent)
    return invalid("The agent " + what.name() + " is the node's own.", "Give the worker's agent another name.");
  if (!valid_task_id(what.instance()))
    return invalid("The name of the worker instance is not valid.", "Use 1 to 256 of the characters A-Z a-z 0-9 . _ : @ / -");
  if (what.session().size() > max_session_bytes)
    return invalid("The session has more than 1 KiB.", "Give the session as the registration returned it.");
  if (what.key().size() > max_action_key_bytes) return invalid("The key of the registration is too long.", "Use a shorter one.");
  if (what.digest().size() > store::content_hash_bytes)
    return invalid("The digest of the registration has more than 16 bytes.", "Send it over the API, which makes it.");
  if (what.who().empty()) return invalid("The request does not say who asks.", "Send it over the API, which knows who asks.");
  return check_operator(what.who(), {});
}

std::optional<error> check_request(const v1::InspectRequest& what) { return check_node_name(what.node()); }

std::optional<error> check_request(const v1::NodeOperateRequest& what) {
  if (auto why = check_node_name(what.node())) return why;
  if (what.verb() == v1::NODE_VERB_UNSPECIFIED || !v1::NodeVerb_IsValid(what.verb()))
    return invalid("the request has no action for the node", "use a client of the node's release");
  if (what.verb() == v1::NODE_VERB_FORGET && !core::valid_agent_name(what.forgotten()))
    return invalid("the request does not name the node to forget", "fairlead status shows the nodes");
  if (what.verb() == v1::NODE_VERB_FORGET && what.who().empty()) return nobody_asks();
  if (what.log_level().size() > max_name_bytes) return invalid("the log level is not valid", "use debug, info, warning or error");
  return check_operator(what.who(), what.reason());
}

std::optional<error> check_request(const v1::AuditListRequest& what) {
  if (what.cursor().size() > max_cursor_bytes) return invalid("the cursor of the list is not valid", "start the list from the beginning");
  for (const auto* const one : {&what.who(), &what.verb(), &what.path(), &what.code()})
    if (one->size() > max_audit_filter_bytes)
      return invalid("a filter of the audit has more than " + std::to_string(max_audit_filter_bytes) + " bytes", "shorten it");
  if (what.since_unix_ms() < 0 || what.until_unix_ms() < 0)
    return invalid("the entries of the audit are asked for by a moment before 1970", "give a later moment");
  return check_node_name(what.node());
}

std::optional<error> check_request(const v1::ShardNodesRequest& what) {
  if (what.verb() == v1::ShardNodesRequest::SHOW) return std::nullopt;
  if (!v1::ShardNodesRequest::Verb_IsValid(what.verb()))
    return invalid("the request names no change of the nodes", "use a client of the node's release");
  const bool is_of_all = what.verb() == v1::ShardNodesRequest::UPGRADE || what.verb() == v1::ShardNodesRequest::COMPARE;
  if (!is_of_all && !core::valid_agent_name(what.node().name()))
    return invalid("the request names no node", "fairlead cluster status lists the nodes that hold a shard");
  if (what.node().address().size() > max_name_bytes || what.cluster().size() > max_name_bytes)
    return invalid("the address or the cluster of the node is too long", "use a client of the node's release");
  if (what.who().empty()) return nobody_asks();
  return check_operator(what.who(), what.reason());
}

}  // namespace fairlead
