#include "actors/gateway.hpp"

#include <atomic>
#include <utility>

#include "actors/alert_queries.hpp"
#include "actors/core/workflow.hpp"
#include "actors/core/workflow_check.hpp"
#include "actors/doctor.hpp"
#include "actors/operator_limits.hpp"
#include "actors/reply_outbox.hpp"
#include "actors/scheduler.hpp"
#include "actors/stop_on_bug.hpp"
#include "actors/task_queries.hpp"
#include "messages/ids.hpp"
#include "store/keys.hpp"

namespace fairlead {

namespace {

constexpr int max_deployments = 4;  // checked at a time
constexpr int max_doctors = 2;      // at a time
constexpr std::size_t max_instance_bytes = 256;
constexpr auto status_limit = std::chrono::seconds{5};

using deploy_check_actor = caf::typed_actor<caf::replies_to<v1::DeployRequest>::with<v1::DeployReply>>;

/// The expressions of a definition that only the worker can compile; empty also when the definition is not fit to be looked at, which
/// the Scheduler then says.
std::vector<std::string> worker_expressions(const v1::WorkflowDefinition& definition) {
  std::vector<std::string> out;
  const auto add = [&out](const std::string& with_json) {
    const auto compiled = core::input_template::compile(with_json);
    if (compiled.ok()) out.insert(out.end(), compiled->worker_expressions().begin(), compiled->worker_expressions().end());
  };
  if (definition.ByteSizeLong() > core::max_definition_bytes) return out;
  for (const auto& step : definition.steps()) {
    add(step.with_json());
    if (step.has_undo()) add(step.undo().with_json());
  }
  return out;
}

/// Lives for one deployment: asking the worker may take seconds and must not hold up the gateway.
deploy_check_actor::behavior_type run_deploy_check(deploy_check_actor::pointer self, gateway_setup setup, std::shared_ptr<void> place) {
  return {
      [self, setup = std::move(setup), place = std::move(place)](v1::DeployRequest& what) -> caf::result<v1::DeployReply> {
        self->quit();
        const auto expressions = worker_expressions(what.definition());
        if (!expressions.empty()) {
          const auto checked = setup.check_expressions(expressions);
          if (!checked.ok()) {
            v1::DeployReply reply;
            *reply.mutable_error() = checked.failure().to_proto();
            return reply;
          }
        }
        return self->delegate(setup.scheduler, std::move(what));
      },
  };
}

/// What is wrong with the request as a whole; whether it fits a task only the Scheduler can say.
status check_operation(const v1::OperateRequest& what) {
  if (what.ids_size() == 0) return error{v1::ERROR_CODE_INVALID_ARGUMENT, "the request names no task", "name at least one"};
  if (what.ids_size() > max_operate_items)
    return error{v1::ERROR_CODE_INVALID_ARGUMENT,
                 "the request names " + std::to_string(what.ids_size()) + " tasks, at most " + std::to_string(max_operate_items) +
                     " are taken at a time",
                 "send several requests"};
  for (const auto& id : what.ids())
    if (id.empty()) return error{v1::ERROR_CODE_INVALID_ARGUMENT, "the request names a task with an empty id", "leave it out"};
  // A verb of a later release comes in as its number.
  if (what.action().verb() == v1::OPERATOR_VERB_UNSPECIFIED || !v1::OperatorVerb_IsValid(what.action().verb()))
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "the request does not say what to do with its tasks",
                 "use a client of the node's release"};
  return nothing{};
}

/// The same of a request about an agent; whether there is such an instance or service only the Scheduler can say.
status check_agent_operation(const v1::AgentOperateRequest& what) {
  const auto refuse = [](std::string sentence, std::string remedy) {
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, std::move(sentence), std::move(remedy)};
  };
  switch (what.verb()) {
    case v1::AGENT_VERB_DRAIN:
    case v1::AGENT_VERB_RESUME:
      if (what.instance().empty()) return refuse("the request names no instance", "name one; fairlead agent list shows them");
      if (what.instance().size() > max_instance_bytes)
        return refuse("the instance's name has more than " + std::to_string(max_instance_bytes) + " bytes",
                      "fairlead agent list shows the instances");
      break;
    case v1::AGENT_VERB_BREAKER_OPEN:
    case v1::AGENT_VERB_BREAKER_CLOSE:
      if (!core::valid_agent_name(what.agent())) return refuse("the request names no agent", "name the one whose breaker is meant");
      break;
    default: return refuse("the request does not say what to do with the agent", "use a client of the node's release");
  }
  if (what.who().size() > who_limit)
    return refuse("the operator's name has more than " + std::to_string(who_limit) + " bytes", "shorten it");
  if (what.reason().size() > reason_limit)
    return refuse("the reason has more than " + std::to_string(reason_limit) + " bytes", "shorten it");
  return nothing{};
}

using doctor_actor = caf::typed_actor<caf::replies_to<v1::DoctorRequest>::with<v1::DoctorReply>>;

/// Lives for one examination: it reads every task that there is.
doctor_actor::behavior_type run_doctor(doctor_actor::pointer self, gateway_setup setup, std::shared_ptr<void> place) {
  return {
      [self, setup = std::move(setup), place = std::move(place)](const v1::DoctorRequest& what) {
        self->quit();
        auto found = examine(*setup.reads, what);
        if (!found.repairs.items().empty()) self->send(setup.scheduler, std::move(found.repairs));
        return std::move(found.reply);
      },
  };
}

}  // namespace

gateway_actor::behavior_type run_gateway(gateway_actor::pointer self, gateway_setup given) {
  stop_on_bug(self, "gateway", given.on_fatal);
  const auto setup = std::make_shared<gateway_setup>(std::move(given));
  const auto deployments = std::make_shared<std::atomic<int>>(0);
  const auto doctors = std::make_shared<std::atomic<int>>(0);
  return {
      [self, setup](v1::SubmitRequest& what) -> caf::result<v1::SubmitReply> {
        // A client without the library may leave ids out; the library never does, because only who chose an id can repeat it.
        if (what.items_size() > max_submit_items) {
          v1::SubmitReply reply;
          *reply.mutable_error() = error{v1::ERROR_CODE_INVALID_ARGUMENT,
                                         "the request holds " + std::to_string(what.items_size()) + " tasks, at most " +
                                             std::to_string(max_submit_items) + " are taken at a time",
                                         "send several requests"}
                                       .to_proto();
          return reply;
        }
        for (auto& item : *what.mutable_items())
          if (item.id().empty()) item.set_id(make_uuid_v7(to_unix_ms(setup->time->now())));
        return self->delegate(setup->scheduler, std::move(what));
      },
      [setup](const v1::StatesRequest& what) { return states_of(what, *setup->reads->read()); },
      [setup](const v1::TaskListRequest& what) { return list_tasks(what, *setup->reads->read(), setup->time->now()); },
      [setup](const v1::TaskShowRequest& what) { return show_task(what, *setup->reads->read(), *setup->archives); },
      [self, setup](const v1::WatchRequest& what) -> caf::result<v1::WatchReply> { return self->delegate(setup->scheduler, what); },
      [self, setup, deployments](v1::DeployRequest& what) -> caf::result<v1::DeployReply> {
        // Each has a thread of its own.
        if (deployments->load() >= max_deployments) {
          v1::DeployReply reply;
          *reply.mutable_error() = error{v1::ERROR_CODE_OVERLOADED, std::to_string(max_deployments) + " deployments are being checked",
                                         "deploy again in a moment"}
                                       .to_proto();
          return reply;
        }
        deployments->fetch_add(1);
        const std::shared_ptr<void> place{nullptr, [deployments](void*) { deployments->fetch_sub(1); }};
        return self->delegate(self->spawn<caf::detached>(run_deploy_check, *setup, place), std::move(what));
      },
      [setup](const v1::WorkflowListRequest&) { return list_workflows(*setup->reads->read()); },
      [setup](const v1::WorkflowShowRequest& what) { return show_workflow(what, *setup->reads->read()); },
      [self, setup](const v1::StatusRequest& what) -> caf::result<v1::StatusReply> {
        auto promise = self->make_response_promise<v1::StatusReply>();
        auto complete = [setup, promise](v1::StatusReply reply) mutable {
          reply.set_node(setup->node);
          reply.set_version(setup->version);
          const auto view = setup->reads->read();
          // The first entry of the due index is the earliest wake-up.
          const auto scanned = view->scan(store::table::due, {}, {}, [&reply](std::string_view key, std::string_view) {
            if (const auto entry = store::keys::decode_due(key)) reply.set_oldest_due_unix_ms(entry->due_unix_ms);
            return false;
          });
          if (!scanned.ok()) *reply.mutable_error() = scanned.failure().to_proto();
          add_failing_receivers(*view, reply);
          setup->describe_node(reply);
          promise.deliver(std::move(reply));
        };
        self->request(setup->scheduler, status_limit, what)
            .then([complete](const v1::StatusReply& reply) mutable { complete(reply); },
                  [complete](const caf::error&) mutable {
                    v1::StatusReply reply;
                    *reply.mutable_error() =
                        error{v1::ERROR_CODE_UNAVAILABLE, "the Scheduler does not answer", "see the node's log"}.to_proto();
                    complete(reply);
                  });
        return promise;
      },
      [self, setup](v1::OperateRequest& what) -> caf::result<v1::OperateReply> {
        if (const auto sound = check_operation(what); !sound.ok()) {
          v1::OperateReply reply;
          *reply.mutable_error() = sound.failure().to_proto();
          return reply;
        }
        return self->delegate(setup->scheduler, std::move(what));
      },
      [setup](const v1::AlertListRequest& what) { return list_alerts(what, *setup->reads->read()); },
      [setup](const v1::AlertShowRequest& what) { return show_alert(what, *setup->reads->read()); },
      [self, setup](v1::AlertAckRequest& what) -> caf::result<v1::AlertAckReply> {
        if (const auto checked = check_acknowledgement(what); !checked.ok()) {
          v1::AlertAckReply reply;
          *reply.mutable_error() = checked.failure().to_proto();
          return reply;
        }
        return self->delegate(setup->scheduler, std::move(what));
      },
      [self, setup](v1::BrakeReleaseRequest& what) -> caf::result<v1::BrakeReleaseReply> {
        return self->delegate(setup->scheduler, std::move(what));
      },
      [self, setup](const v1::RepliesRequest& what) -> caf::result<v1::RepliesReply> { return self->delegate(setup->replies, what); },
      [self, setup, doctors](const v1::DoctorRequest& what) -> caf::result<v1::DoctorReply> {
        if (doctors->load() >= max_doctors) {
          v1::DoctorReply reply;
          *reply.mutable_error() = error{v1::ERROR_CODE_OVERLOADED,
                                         std::to_string(max_doctors) + " doctors are looking at the tasks already", "ask again in a moment"}
                                       .to_proto();
          return reply;
        }
        doctors->fetch_add(1);
        const std::shared_ptr<void> place{nullptr, [doctors](void*) { doctors->fetch_sub(1); }};
        return self->delegate(self->spawn<caf::detached>(run_doctor, *setup, place), what);
      },
      [self, setup](v1::AgentOperateRequest& what) -> caf::result<v1::AgentOperateReply> {
        if (const auto sound = check_agent_operation(what); !sound.ok()) {
          v1::AgentOperateReply reply;
          *reply.mutable_error() = sound.failure().to_proto();
          return reply;
        }
        return self->delegate(setup->scheduler, std::move(what));
      },
  };
}

}  // namespace fairlead
