// What the Scheduler does with its registry: lets time go by for it, makes durable what it decides, and passes on what operators ask of it.

#include <string>

#include "actors/core/request_limits.hpp"
#include "actors/core/text/text.hpp"
#include "actors/scheduler/scheduler.hpp"
#include "store/rows/service_rows.hpp"

namespace fairlead {

void scheduler::write_services() {
  for (auto& change : slots_.take_changes()) {
    auto& record = change.record;
    for (const auto number : change.resolved) {
      if (faults_.keep_breaker_alert) continue;
      const auto resolved = alerts_.resolve(number, batches_.page(), committed());
      if (!resolved.ok()) {
        fail(resolved.failure());
        return;
      }
    }
    if (change.breaker_alert) {
      world_.log->on_note(note_level::warning, "scheduler", change.breaker_alert->sentence());
      record.set_breaker_alert(alerts_.raise(std::move(*change.breaker_alert), batches_.page()));
    }
    if (change.absent_alert) {
      world_.log->on_note(note_level::warning, "scheduler", change.absent_alert->sentence());
      record.set_absent_alert(alerts_.raise(std::move(*change.absent_alert), batches_.page()));
    }
    slots_.alerts_raised(record.agent(), record.breaker_alert(), record.absent_alert());
    store::put_service(batches_.rows(), record);
  }
}

void scheduler::offer() {
  if (fatal_) return;
  slots_.wake();
  serve_waiting();
  write_services();
}

void scheduler::operate_agents(const v1::AgentOperateRequest& what, std::uint64_t ticket) {
  v1::AgentOperateReply reply;
  auto action = what;
  action.set_who(core::clean_text(action.who(), who_limit));
  action.set_reason(core::clean_text(action.reason(), reason_limit));
  if (draining_) {
    *reply.mutable_error() = node_is_stopping().to_proto();
  } else if (action.who().empty()) {
    *reply.mutable_error() = nobody_asks().to_proto();
  } else {
    reply = slots_.operate(action);
    if (reply.error().code() == v1::ERROR_CODE_OK)
      world_.log->on_note(note_level::info, "scheduler",
                          action.who() + ": " + v1::AgentVerb_Name(action.verb()) + " " +
                              core::clean_text(action.agent() + action.instance(), 200) +
                              (action.reason().empty() ? "" : ": " + action.reason()));
  }
  batches_.after().agent_replies.emplace_back(ticket, std::move(reply));
  serve_waiting();
}

}  // namespace fairlead
