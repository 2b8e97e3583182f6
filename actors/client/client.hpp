#pragma once
// The C++ client. C++17, no CAF type. Thread-safe: any thread may call, calls block until answered or timed out.
//
// Inside, a client actor sends typed messages to the gateways of the given nodes: to one gateway at a time, and to the next when the
// connection is lost. It repeats a lost request until `request_timeout` (submissions carry their ids), so the crash and restart of a node
// costs only time.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "messages/api.pb.h"
#include "messages/error.hpp"
#include "messages/job.pb.h"
#include "messages/node.pb.h"
#include "messages/replica.pb.h"
#include "messages/time.hpp"

namespace fairlead {

struct client_options {
  std::vector<std::string> nodes = {"127.0.0.1:7100"};  // tried in turn: host:port, or of an API https://host:port, unix:PATH
  duration request_timeout = std::chrono::seconds{15};  // for one call, including all repetitions
  duration connect_timeout{0};                          // how long `connect` tries the nodes in turn until one answers; zero: one round
  std::string token = {};                               // of the API; empty: none
  std::string ca_file = {};                             // PEM; whose certificates an API may have; empty: those that the system trusts
};

class client {
 public:
  /// Connects to the first node that answers. Errors: invalid_argument (a malformed address, or http:// to another machine), unavailable (no node
  /// answers; names all). Over an API, requests are answered with unauthenticated and forbidden as well.
  static result<client> connect(client_options options);

  client(client&&) noexcept;
  client& operator=(client&&) noexcept;
  ~client();

  /// Submits all items. An item without an id is given a UUIDv7 first, so that repetitions never double it. The reply has one result an
  /// item, in order, all durable. More than 1,000 items or 1 MiB of input travel in several messages, each with its own `request_timeout`;
  /// if a message fails, its items and all later items carry the error. Items whose shard cannot be reached are sent again within the same
  /// time, then carry `unavailable`; the other items are taken regardless. An input over 256 KiB is refused here (item error).
  result<v1::SubmitReply> submit(v1::SubmitRequest what);

  /// Waits until the task has ended or is parked. `limit` zero: for ever. Errors: timed_out after `limit`; unavailable when no node answers
  /// for `request_timeout`; not_found.
  result<v1::TaskEnd> wait(const std::string& id, duration limit);

  /// The output of a completed task, as JSON text. `wait` says whether there is one (`has_output`). Errors: not_found; wrong_state if the
  /// task has none; forbidden if whoever asks over an API may not see payloads.
  result<std::string> output(const std::string& id);

  /// Calls `on_reply` for each batch of new events until it returns false or the task has ended or parked. After a lost connection it goes
  /// on after the last sequence number seen; if the task has no event of that number any more, as after a restore, it begins anew. `limit`
  /// zero: for ever. Errors as of `wait`. `with_progress`: also called when a long step reports progress.
  status watch(const std::string& id, std::uint64_t after_sequence, const std::function<bool(const v1::WatchReply&)>& on_reply,
               duration limit = duration{0}, bool with_progress = false);

  /// Called from the client's own thread for each FinishedNotice of tasks submitted with `notify`. Set before submitting. The handler must
  /// return soon and must not call this client: no answer can arrive while the handler runs. Over an API no notice comes.
  void on_finished(std::function<void(const v1::FinishedNotice&)> handler);

  /// How often a node was found: 1 after `connect`. A larger number means that a connection was lost, and notices with it.
  std::uint64_t connections() const;

  result<v1::StatesReply> states(const v1::StatesRequest& what);
  result<v1::TaskListReply> list(const v1::TaskListRequest& what);
  result<v1::TaskShowReply> show(const v1::TaskShowRequest& what);
  result<v1::DeployReply> deploy(const v1::DeployRequest& what);
  result<v1::WorkflowDeleteReply> delete_workflow(const v1::WorkflowDeleteRequest& what);
  result<v1::WorkflowListReply> workflows(const v1::WorkflowListRequest& what);
  result<v1::WorkflowShowReply> workflow(const v1::WorkflowShowRequest& what);
  result<v1::StatusReply> status_of_node(const v1::StatusRequest& what);

  /// The status events of the tasks that were submitted with this client's name as reply address, oldest first. Waits up to `wait_ms` (at
  /// most 30 s) for the first. An event comes again until a request acknowledges its position or a later one. Each shard counts its own
  /// positions: acknowledge the position of an event of the last page, which takes all events of that page up to it, or give `positions`.
  result<v1::RepliesReply> replies(const v1::RepliesRequest& what);

  /// Carries out an operator's action on tasks. If the connection is lost before the answer, the request is sent again, and what is done
  /// already is not done twice: an action without a token gets one.
  result<v1::OperateReply> operate(const v1::OperateRequest& what);
  /// Checks whether every live task has a wake-up. With very many live tasks this takes longer than most `request_timeout`s.
  result<v1::DoctorReply> doctor(const v1::DoctorRequest& what);

  /// Carries out an operator's action on an agent's instance or a service's breaker. Idempotent.
  result<v1::AgentOperateReply> agent_operate(const v1::AgentOperateRequest& what);

  result<v1::AlertListReply> alerts(const v1::AlertListRequest& what);
  result<v1::AlertShowReply> alert(const v1::AlertShowRequest& what);
  /// One result for each number, in order. At most 1,000. A second acknowledgement changes nothing.
  result<v1::AlertAckReply> acknowledge(const v1::AlertAckRequest& what);
  /// Releases the tasks held by the brake on mass undo, so that they are undone. If the connection is lost before the answer, the repeated
  /// request may be refused with wrong_state.
  result<v1::BrakeReleaseReply> release_brake(const v1::BrakeReleaseRequest& what);

  /// Creates and changes jobs as their specifications say: one result a job, in order. A refused job does not stop the others. At most
  /// 1,000. Idempotent.
  result<v1::JobApplyReply> apply_jobs(const v1::JobApplyRequest& what);
  result<v1::JobListReply> jobs(const v1::JobListRequest& what);
  result<v1::JobShowReply> job(const v1::JobShowRequest& what);
  result<v1::JobHistoryReply> job_history(const v1::JobHistoryRequest& what);
  /// Carries out an operator's action on jobs. If the connection is lost before the answer, the request is sent again; a `run` remains one
  /// launch. Its nominal time is by this machine's clock unless the request names one.
  result<v1::JobOperateReply> operate_jobs(const v1::JobOperateRequest& what);

  /// The supervision tree of a node.
  result<v1::InspectReply> inspect(const v1::InspectRequest& what);
  /// Carries out an operator's action on a node. Idempotent.
  result<v1::NodeOperateReply> operate_node(const v1::NodeOperateRequest& what);
  result<v1::ShardNodesReply> change_nodes(const v1::ShardNodesRequest& what);
  /// What was done over the API of the nodes.
  result<v1::AuditListReply> audit(const v1::AuditListRequest& what);

 private:
  struct state;
  explicit client(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace fairlead
