#include "actors/gateway/gateway.hpp"

#include <memory>
#include <utility>

#include "actors/gateway/shell.hpp"
#include "actors/supervision/guardian.hpp"

namespace fairlead {

gateway_actor::behavior_type run_gateway(supervised_pointer<gateway_actor> self, gateway_setup setup) {
  end_on_bug(self, "gateway");
  const auto shell = std::make_shared<gateway_shell>(self, std::move(setup));
  return {
      [shell](v1::SubmitRequest& what) { return shell->submit(what); },
      [shell](v1::StatesRequest& what) { return shell->states(what); },
      [shell](v1::TaskListRequest& what) { return shell->list(what); },
      [shell](v1::TaskShowRequest& what) { return shell->show(what); },
      [shell](v1::WatchRequest& what) { return shell->watch(what); },
      [shell](v1::DeployRequest& what) { return shell->deploy(what); },
      [shell](v1::WorkflowListRequest& what) { return shell->workflows(what); },
      [shell](v1::WorkflowShowRequest& what) { return shell->workflow(what); },
      [shell](v1::StatusRequest& what) { return shell->status_now(what); },
      [shell](v1::OperateRequest& what) { return shell->operate(what); },
      [shell](v1::AlertListRequest& what) { return shell->alerts(what); },
      [shell](v1::AlertShowRequest& what) { return shell->alert(what); },
      [shell](v1::AlertAckRequest& what) { return shell->acknowledge(what); },
      [shell](v1::BrakeReleaseRequest& what) { return shell->release_brake(what); },
      [shell](v1::RepliesRequest& what) { return shell->replies(what); },
      [shell](v1::DoctorRequest& what) { return shell->doctor(what); },
      [shell](v1::AgentOperateRequest& what) { return shell->operate_agents(what); },
      [shell](v1::JobApplyRequest& what) { return shell->apply_jobs(what); },
      [shell](v1::JobListRequest& what) { return shell->jobs(what); },
      [shell](v1::JobShowRequest& what) { return shell->job(what); },
      [shell](v1::JobHistoryRequest& what) { return shell->job_history(what); },
      [shell](v1::JobOperateRequest& what) { return shell->operate_jobs(what); },
      [shell](v1::Hello& what, const caf::strong_actor_ptr& who) { return shell->hello(what, who); },
      [shell](v1::RegisterAgent& what, const caf::strong_actor_ptr& who) { return shell->register_agent(what, who); },
      [shell](v1::InspectRequest& what) { return shell->inspect(what); },
      [shell](v1::NodeOperateRequest& what) { return shell->operate_node(what); },
      [shell](const v1::FinishedNotice& notice) { shell->relay(notice); },
      [shell](const shard_route& route) { shell->learn(route); },
      [shell](const shard_total& total) { shell->learn(total); },
  };
}

}  // namespace fairlead
