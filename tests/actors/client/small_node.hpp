#pragma once
// A node that is a gateway alone, for tests of the client: it listens on a real socket and answers as it is told.

#include <atomic>
#include <caf/all.hpp>
#include <caf/io/all.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/request_limits.hpp"
#include "actors/protocol/handles.hpp"
#include "actors/protocol/meta_objects.hpp"

namespace fairlead::testing {

/// What a node remembers over its restarts, and how it behaves.
struct node_memory {
  std::mutex mutex;
  std::set<std::string> tasks;
  std::vector<int> message_sizes;
  std::atomic<int> submissions{0};
  std::atomic<bool> answers{true};
  std::atomic<int> unavailable{0};  // how many requests for the status or of operators are still answered so
  std::atomic<bool> broken{false};  // status requests end in an error of the actor
  std::atomic<int> missing{0};      // in how many submissions the shard of tasks whose id begins with `far` is still missing
  std::vector<v1::StatusEvent> events;
  std::vector<v1::RepliesRequest> replies_asked;
  std::vector<v1::JobAction> jobs_asked;
  std::vector<v1::OperatorAction> tasks_asked;
};

inline gateway_actor::behavior_type small_gateway(gateway_actor::pointer self, std::string name, std::shared_ptr<node_memory> memory) {
  return {
      [self, memory](const v1::SubmitRequest& request) -> caf::result<v1::SubmitReply> {
        ++memory->submissions;
        if (!memory->answers) {
          auto never = self->make_response_promise<v1::SubmitReply>();
          return never;
        }
        v1::SubmitReply reply;
        v1::FinishedNotice notice;
        std::lock_guard guard{memory->mutex};
        memory->message_sizes.push_back(request.items_size());
        const bool missing = memory->missing > 0 && memory->missing-- > 0;
        for (const auto& item : request.items()) {
          auto* result = reply.add_results();
          result->set_id(item.id());
          if (missing && item.id().rfind("far", 0) == 0) {
            result->mutable_error()->set_code(v1::ERROR_CODE_UNAVAILABLE);
            continue;
          }
          result->set_created(memory->tasks.insert(item.id()).second);
          auto* end = notice.add_items();
          end->set_id(item.id());
          end->set_state(v1::TASK_STATE_COMPLETED);
        }
        if (request.notify()) self->send(caf::actor_cast<client_sink>(self->current_sender()), std::move(notice));
        return reply;
      },
      [](const v1::StatesRequest&) { return v1::StatesReply{}; },
      [](const v1::TaskListRequest&) { return v1::TaskListReply{}; },
      // Of the task `done` the output is shown, of `hidden` it is not, and `bare` has none.
      [](const v1::TaskShowRequest& request) {
        v1::TaskShowReply reply;
        reply.mutable_task()->set_id(request.id());
        if (request.id() == "done") reply.mutable_task()->mutable_output()->set_json(R"({"n":1})");
        if (request.id() == "hidden") reply.mutable_task()->mutable_output();
        if (reply.task().has_output() || request.id() == "bare") return reply;
        reply.mutable_error()->set_code(v1::ERROR_CODE_NOT_FOUND);
        reply.mutable_error()->set_sentence("no such task");
        return reply;
      },
      // One event a question, the third ends the task.
      [](const v1::WatchRequest& request) {
        v1::WatchReply reply;
        reply.add_events()->set_sequence(request.after_sequence() + 1);
        reply.set_state(request.after_sequence() == 2 ? v1::TASK_STATE_COMPLETED : v1::TASK_STATE_RUNNING);
        reply.set_has_output(request.after_sequence() == 2);
        return reply;
      },
      [](const v1::DeployRequest&) { return v1::DeployReply{}; },
      [](const v1::WorkflowDeleteRequest&) { return v1::WorkflowDeleteReply{}; },
      [](const v1::WorkflowListRequest&) { return v1::WorkflowListReply{}; },
      [](const v1::WorkflowShowRequest&) { return v1::WorkflowShowReply{}; },
      [name, memory](const v1::StatusRequest&) -> caf::result<v1::StatusReply> {
        if (memory->broken) return caf::make_error(caf::sec::runtime_error, "a bug");
        v1::StatusReply reply;
        reply.set_node(name);
        if (memory->unavailable-- > 0) reply.mutable_error()->set_code(v1::ERROR_CODE_UNAVAILABLE);
        return reply;
      },
      [memory](const v1::OperateRequest& request) {
        std::lock_guard guard{memory->mutex};
        memory->tasks_asked.push_back(request.action());
        v1::OperateReply reply;
        if (memory->unavailable-- > 0) reply.mutable_error()->set_code(v1::ERROR_CODE_UNAVAILABLE);
        return reply;
      },
      [](const v1::AlertListRequest&) { return v1::AlertListReply{}; },
      [](const v1::AlertShowRequest&) { return v1::AlertShowReply{}; },
      [](const v1::AlertAckRequest&) { return v1::AlertAckReply{}; },
      [](const v1::BrakeReleaseRequest&) { return v1::BrakeReleaseReply{}; },
      [memory](const v1::RepliesRequest& request) {
        std::lock_guard guard{memory->mutex};
        memory->replies_asked.push_back(request);
        v1::RepliesReply reply;
        for (const auto& event : memory->events) *reply.add_events() = event;
        return reply;
      },
      [](const v1::DoctorRequest&) { return v1::DoctorReply{}; },
      [self, memory](const v1::AgentOperateRequest& request) -> caf::result<v1::AgentOperateReply> {
        if (!memory->answers) return self->make_response_promise<v1::AgentOperateReply>();
        v1::AgentOperateReply reply;
        reply.set_held(request.instance() == "n1/payment" ? 3 : 0);
        return reply;
      },
      [](const v1::WorkerSessionRequest&) { return v1::WorkerSessionReply{}; },
      [](const v1::JobApplyRequest&) { return v1::JobApplyReply{}; },
      [](const v1::JobListRequest&) { return v1::JobListReply{}; },
      [](const v1::JobShowRequest&) { return v1::JobShowReply{}; },
      [](const v1::JobHistoryRequest&) { return v1::JobHistoryReply{}; },
      [memory](const v1::JobOperateRequest& request) {
        std::lock_guard guard{memory->mutex};
        memory->jobs_asked.push_back(request.action());
        v1::JobOperateReply reply;
        if (memory->unavailable-- > 0) reply.mutable_error()->set_code(v1::ERROR_CODE_UNAVAILABLE);
        return reply;
      },
      [](const v1::Hello&, const caf::strong_actor_ptr&) { return v1::HelloReply{}; },
      [](const v1::ReplicaHello&, const caf::strong_actor_ptr&) -> caf::result<v1::ReplicaWelcome, caf::strong_actor_ptr> {
        return {v1::ReplicaWelcome{}, caf::strong_actor_ptr{}};
      },
      [](const v1::RegisterAgent&, const caf::strong_actor_ptr&) -> caf::result<v1::AgentWelcome, caf::strong_actor_ptr> {
        return {v1::AgentWelcome{}, caf::strong_actor_ptr{}};
      },
      [](const v1::InspectRequest&) { return v1::InspectReply{}; },
      [](const v1::NodeOperateRequest&) { return v1::NodeOperateReply{}; },
      [](const v1::ShardNodesRequest&) { return v1::ShardNodesReply{}; },
      [](const v1::AuditListRequest&) { return v1::AuditListReply{}; },
      [](const v1::FinishedNotice&) {},
      [](const v1::CertificateReport&) {},
      [](const shard_route&) {},
      [](const shard_total&) {},
  };
}

/// A node that lives as long as the object.
class small_node {
 public:
  explicit small_node(std::string name, std::shared_ptr<node_memory> memory = std::make_shared<node_memory>(), std::uint16_t port = 0)
      : memory_(std::move(memory)) {
    gateway_ = system_.spawn(small_gateway, std::move(name), memory_);
    auto published = system_.middleman().publish(gateway_, port, "127.0.0.1", true);
    if (!published) throw std::runtime_error("the test's node cannot listen");
    port_ = *published;
  }
  ~small_node() { caf::anon_send_exit(gateway_, caf::exit_reason::kill); }

  std::uint16_t port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  node_memory& memory() { return *memory_; }

 private:
  struct config : caf::actor_system_config {
    config() {
      init_meta_objects(*this);
      load<caf::io::middleman>();
      init_options(*this);
      set("scheduler.max-threads", caf::config_value::integer{1});
    }
  };
  std::shared_ptr<node_memory> memory_;
  config config_;
  caf::actor_system system_{config_};
  gateway_actor gateway_;
  std::uint16_t port_ = 0;
};

}  // namespace fairlead::testing
