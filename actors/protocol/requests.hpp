#pragma once
// The requests of clients to a node, one row each. The rows define the interfaces of gateway and Scheduler, the route of each request, and
// whether a client may send it a second time, and the right that it needs. No CAF.

#include <type_traits>
#include <variant>

#include "actors/protocol/access.hpp"
#include "messages/api.pb.h"
#include "messages/job.pb.h"
#include "messages/node.pb.h"
#include "messages/replica.pb.h"

namespace fairlead {

/// The subject of a request, which decides the shards to ask.
enum class about {
  one_task,     // by `id`
  one_name,     // tasks' jobs or agents, by `name`
  many,         // tasks or jobs: cut by shard (cut_by_shard) and put together again (put_together)
  any_shard,    // data that all shards have
  every_shard,  // all shards are asked, and the answers are merged (merge)
  special,      // the gateway has its own function for the request (answer)
};
/// The actor or store that answers for a shard.
enum class answered_by { store, scheduler, replies, replica, gateway };
/// Whether a client sends the request to a second node if the first is slow. No if it would act twice or is costly for a node.
enum class repeated { yes, no };

template <class Request, class Reply, about About, answered_by AnsweredBy, repeated Repeated, right Needs>
struct request_row {
  using request = Request;
  using reply = Reply;
  static constexpr auto is_about = About;
  static constexpr auto by = AnsweredBy;
  static constexpr auto again = Repeated;
  static constexpr auto needs = Needs;
};

template <class... Rows>
struct request_table {};

using client_requests = request_table<
    // Submits tasks. Answered once all of them are durable.
    request_row<v1::SubmitRequest, v1::SubmitReply, about::special, answered_by::scheduler, repeated::yes, right::submit>,
    // States of many tasks by id.
    request_row<v1::StatesRequest, v1::StatesReply, about::many, answered_by::store, repeated::yes, right::see_own_tasks>,
    // One page of tasks.
    request_row<v1::TaskListRequest, v1::TaskListReply, about::special, answered_by::store, repeated::yes, right::see_own_tasks>,
    // One task with steps, history and payloads.
    request_row<v1::TaskShowRequest, v1::TaskShowReply, about::special, answered_by::store, repeated::yes, right::see_own_tasks>,
    // Long poll for the events of a task after a sequence number.
    request_row<v1::WatchRequest, v1::WatchReply, about::one_task, answered_by::scheduler, repeated::yes, right::see_own_tasks>,
    // An operator's action on tasks, a signal, or a callback.
    request_row<v1::OperateRequest, v1::OperateReply, about::many, answered_by::scheduler, repeated::no, right::act>,

    // Makes a workflow definition the current one of its name.
    request_row<v1::DeployRequest, v1::DeployReply, about::special, answered_by::scheduler, repeated::yes, right::deploy>,
    // Takes a workflow's name away.
    request_row<v1::WorkflowDeleteRequest, v1::WorkflowDeleteReply, about::special, answered_by::scheduler, repeated::no, right::deploy>,
    // The deployed workflows, and how many tasks live by each version of them.
    request_row<v1::WorkflowListRequest, v1::WorkflowListReply, about::every_shard, answered_by::store, repeated::yes, right::look>,
    // One workflow with its definition.
    request_row<v1::WorkflowShowRequest, v1::WorkflowShowReply, about::any_shard, answered_by::store, repeated::yes, right::look>,

    // Creates or changes jobs as their owner's specifications say.
    request_row<v1::JobApplyRequest, v1::JobApplyReply, about::many, answered_by::scheduler, repeated::no, right::deploy>,
    // One page of jobs.
    request_row<v1::JobListRequest, v1::JobListReply, about::every_shard, answered_by::store, repeated::yes, right::look>,
    // One job with its next launches.
    request_row<v1::JobShowRequest, v1::JobShowReply, about::special, answered_by::store, repeated::yes, right::look>,
    // The launches of a job.
    request_row<v1::JobHistoryRequest, v1::JobHistoryReply, about::one_name, answered_by::store, repeated::yes, right::look>,
    // An operator's action on jobs.
    request_row<v1::JobOperateRequest, v1::JobOperateReply, about::special, answered_by::scheduler, repeated::no, right::act>,

    // One page of alerts.
    request_row<v1::AlertListRequest, v1::AlertListReply, about::special, answered_by::store, repeated::yes, right::look>,
    // One alert.
    request_row<v1::AlertShowRequest, v1::AlertShowReply, about::special, answered_by::store, repeated::yes, right::look>,
    // Acknowledges alerts.
    request_row<v1::AlertAckRequest, v1::AlertAckReply, about::special, answered_by::scheduler, repeated::yes, right::act>,
    // Releases the brake on mass undo.
    request_row<v1::BrakeReleaseRequest, v1::BrakeReleaseReply, about::every_shard, answered_by::scheduler, repeated::no, right::act>,

    // Long poll of a client for the status events of its tasks; confirms events that the client has.
    request_row<v1::RepliesRequest, v1::RepliesReply, about::special, answered_by::replies, repeated::yes, right::submit>,
    // An operator's action on an agent instance or on the breaker of a service.
    request_row<v1::AgentOperateRequest, v1::AgentOperateReply, about::every_shard, answered_by::scheduler, repeated::no, right::act>,
    // A worker over HTTP begins a session, or goes on with one.
    request_row<v1::WorkerSessionRequest, v1::WorkerSessionReply, about::one_name, answered_by::scheduler, repeated::yes, right::work>,

    // Counts, agents and traffic of the shards, and the node.
    request_row<v1::StatusRequest, v1::StatusReply, about::special, answered_by::scheduler, repeated::yes, right::look>,
    // Checks that every live task has a wake-up. With forget_effects the Scheduler empties the list of effects without a task.
    request_row<v1::DoctorRequest, v1::DoctorReply, about::special, answered_by::scheduler, repeated::no, right::administer>,
    // The supervision tree of a node.
    request_row<v1::InspectRequest, v1::InspectReply, about::special, answered_by::gateway, repeated::yes, right::look>,
    // An operator's action on a node.
    request_row<v1::NodeOperateRequest, v1::NodeOperateReply, about::special, answered_by::gateway, repeated::yes, right::administer>,
    // One page of what nodes have noted in their audits.
    request_row<v1::AuditListRequest, v1::AuditListReply, about::special, answered_by::gateway, repeated::yes, right::administer>,
    // Another node is to hold a shard, or one is to leave it.
    request_row<v1::ShardNodesRequest, v1::ShardNodesReply, about::special, answered_by::replica, repeated::yes, right::administer>>;

namespace detail {

template <class Request, class Table>
struct row_of;
template <class Request, class First, class... Rest>
struct row_of<Request, request_table<First, Rest...>>
    : std::conditional_t<std::is_same_v<Request, typename First::request>, std::type_identity<First>,
                         row_of<Request, request_table<Rest...>>> {};

template <answered_by By, class Chosen, class Table>
struct rows_by;
template <answered_by By, class... Chosen>
struct rows_by<By, request_table<Chosen...>, request_table<>> : std::type_identity<request_table<Chosen...>> {};
template <answered_by By, class... Chosen, class First, class... Rest>
struct rows_by<By, request_table<Chosen...>, request_table<First, Rest...>>
    : rows_by<By, std::conditional_t<First::by == By, request_table<Chosen..., First>, request_table<Chosen...>>, request_table<Rest...>> {
};

template <class Table>
struct replies_in;
template <class... Rows>
struct replies_in<request_table<Rows...>> : std::type_identity<std::variant<typename Rows::reply...>> {};

}  // namespace detail

template <class Request>
using row_of = typename detail::row_of<Request, client_requests>::type;
template <class Request>
using reply_of = typename row_of<Request>::reply;

/// Some requests need less or more than their row says.
template <class Request>
right right_for(const Request&) {
  return row_of<Request>::needs;
}
/// A signal is a program's message to its task, and a callback that of a service. (Over the API a callback needs no right but its text.)
inline right right_for(const v1::OperateRequest& what) {
  const auto verb = what.action().verb();
  return verb == v1::OPERATOR_VERB_SIGNAL || verb == v1::OPERATOR_VERB_CALLBACK ? right::submit : right::act;
}
inline right right_for(const v1::DeployRequest& what) { return what.check_only() ? right::look : right::deploy; }
inline right right_for(const v1::JobOperateRequest& what) {
  return what.action().verb() == v1::JOB_VERB_DELETE ? right::deploy : right::act;
}

/// The requests that a Scheduler answers, and its replies as one variant.
using scheduler_requests = typename detail::rows_by<answered_by::scheduler, request_table<>, client_requests>::type;
using request_reply = typename detail::replies_in<scheduler_requests>::type;

}  // namespace fairlead
