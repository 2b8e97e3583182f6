#pragma once
// The C++ client. C++17, no CAF type. Thread-safe: any thread may call, calls block until answered or timed out.
//
// Inside, a client actor sends typed messages to the gateways of the given nodes: to one at a time, to the next when that one is
// lost. A request that may be repeated (all of them: submissions carry their ids) is repeated until `request_timeout`, so a node
// that is killed and started again costs time and nothing else.

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
#include "messages/time.hpp"

namespace fairlead {

struct client_options {
  std::vector<std::string> nodes = {"127.0.0.1:7100"};  // host:port of gateways, tried in turn
  duration request_timeout = std::chrono::seconds{15};  // for one call, all its repetitions included
  duration connect_timeout{0};                          // how long `connect` goes round the nodes until one answers; zero: once
};

class client {
 public:
  /// Connects to the first node that answers. Errors: invalid_argument (an address is none), unavailable (no node answers; names all).
  static result<client> connect(client_options options);

  client(client&&) noexcept;
  client& operator=(client&&) noexcept;
  ~client();

  /// Submits all items (each without an id is given a UUIDv7 first, so that repetitions never double). The reply has one result an item,
  /// in order, all durable. More than 1,000 items or 1 MiB of input travel in several messages, each with a `request_timeout` of its own;
  /// when one of them fails, its items and those after it carry the error. Items whose shard cannot be reached are sent again within the
  /// same time, and carry `unavailable` when it is over; the others are taken whatever becomes of them. An input over 256 KiB is refused here (item error).
  result<v1::SubmitReply> submit(v1::SubmitRequest what);

  /// Waits until the task has ended or is parked. `limit` zero: for ever. Errors: timed_out after `limit`; unavailable when no node answers
  /// for `request_timeout`; not_found.
  result<v1::TaskEnd> wait(const std::string& id, duration limit);

  /// Calls `on_reply` for each batch of new events until it returns false or the task has ended or parked. Goes on after the last sequence
  /// number seen when the connection was lost. `limit` zero: for ever. Errors as of `wait`. `with_progress`: also when a long step has told
  /// how far it is.
  status watch(const std::string& id, std::uint64_t after_sequence, const std::function<bool(const v1::WatchReply&)>& on_reply,
               duration limit = duration{0}, bool with_progress = false);

  /// Called from the client's own thread for each FinishedNotice of tasks submitted with `notify`. Set before submitting. The handler must
  /// return soon and must not call this client: no answer can come in while it runs.
  void on_finished(std::function<void(const v1::FinishedNotice&)> handler);

  /// How often a node was found: one after `connect`; more means that a connection was lost, and notices with it.
  std::uint64_t connections() const;

  result<v1::StatesReply> states(const v1::StatesRequest& what);
  result<v1::TaskListReply> list(const v1::TaskListRequest& what);
  result<v1::TaskShowReply> show(const v1::TaskShowRequest& what);
  result<v1::DeployReply> deploy(const v1::DeployRequest& what);
  result<v1::WorkflowListReply> workflows(const v1::WorkflowListRequest& what);
  result<v1::WorkflowShowReply> workflow(const v1::WorkflowShowRequest& what);
  result<v1::StatusReply> status_of_node(const v1::StatusRequest& what);

  /// The status events of the tasks that were submitted with this client's name as reply address, oldest first; waits up to `wait_ms` (at most
  /// 30 s) for the first. An event comes again until a request acknowledges its position or a later one. In a cluster of several shards each
  /// counts for itself: acknowledge the position of an event of the last page, and all of that page up to it are taken; or give `positions`.
  result<v1::RepliesReply> replies(const v1::RepliesRequest& what);

  /// What an operator does to tasks. When the connection is lost before the answer, the request is sent again, and what had been done by
  /// then may come back as refused with wrong_state: the task's history says who did it.
  result<v1::OperateReply> operate(const v1::OperateRequest& what);
  /// Looks whether every live task has a wake-up. With very many live tasks that takes longer than most `request_timeout`s.
  result<v1::DoctorReply> doctor(const v1::DoctorRequest& what);

  /// What an operator does to an agent's instance or to a service's breaker. Doing it twice is no error.
  result<v1::AgentOperateReply> agent_operate(const v1::AgentOperateRequest& what);

  result<v1::AlertListReply> alerts(const v1::AlertListRequest& what);
  result<v1::AlertShowReply> alert(const v1::AlertShowRequest& what);
  /// One result a number, in order. At most 1,000. Acknowledging twice keeps the first.
  result<v1::AlertAckReply> acknowledge(const v1::AlertAckRequest& what);
  /// Lets the tasks be undone that the brake on mass undo holds. When the connection is lost before the answer, the second one may
  /// say wrong_state.
  result<v1::BrakeReleaseReply> release_brake(const v1::BrakeReleaseRequest& what);

  /// Makes jobs what their owners say, all or those that are sound: one result a job, in order. At most 1,000. Doing it twice is no error.
  result<v1::JobApplyReply> apply_jobs(const v1::JobApplyRequest& what);
  result<v1::JobListReply> jobs(const v1::JobListRequest& what);
  result<v1::JobShowReply> job(const v1::JobShowRequest& what);
  result<v1::JobHistoryReply> job_history(const v1::JobHistoryRequest& what);
  /// What an operator does to jobs. When the connection is lost before the answer, the request is sent again; a `run` is one launch all the
  /// same, named by this machine's clock unless the request says otherwise.
  result<v1::JobOperateReply> operate_jobs(const v1::JobOperateRequest& what);

  /// The supervision tree of a node.
  result<v1::InspectReply> inspect(const v1::InspectRequest& what);
  /// What an operator does to a node. Doing it twice is no error.
  result<v1::NodeOperateReply> operate_node(const v1::NodeOperateRequest& what);

 private:
  struct state;
  explicit client(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace fairlead
