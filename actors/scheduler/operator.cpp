// What operators ask of the Scheduler.

#include <utility>
#include <vector>

#include "actors/core/request_limits.hpp"
#include "actors/core/task/task.hpp"
#include "actors/core/text/text.hpp"
#include "actors/scheduler/scheduler.hpp"
#include "store/keys.hpp"

namespace fairlead {

void scheduler::operate(const v1::OperateRequest& what, std::uint64_t ticket) {
  v1::OperateReply reply;
  auto action = what.action();
  action.set_who(core::clean_text(action.who(), who_limit));
  action.set_reason(core::clean_text(action.reason(), reason_limit));
  if (draining_) {
    *reply.mutable_error() = node_is_stopping().to_proto();
  } else if (what.ids_size() > max_request_items) {
    *reply.mutable_error() = too_many_items("tasks").to_proto();
  } else if (action.who().empty()) {
    *reply.mutable_error() = nobody_asks().to_proto();
  } else if (action.has_json() && action.json().size() > limits_.output_bytes) {
    *reply.mutable_error() =
        error{v1::ERROR_CODE_INVALID_ARGUMENT,
              "the JSON has " + std::to_string(action.json().size()) + " bytes, the limit is " + std::to_string(limits_.output_bytes),
              "put large data elsewhere and pass a reference to it"}
            .to_proto();
  } else {
    for (const auto& id : what.ids()) {
      *reply.add_results() = operate_on(id, action);
      if (fatal_) return;
      flush_if_large();
    }
  }
  batches_.after().operate_replies.emplace_back(ticket, std::move(reply));
  serve_waiting();
}

v1::OperateResult scheduler::operate_on(const std::string& id, const v1::OperatorAction& action) {
  v1::OperateResult out;
  out.set_id(id);
  const auto refused = [&out](const error& why) {
    *out.mutable_error() = why.to_proto();
    return out;
  };
  const auto known = lookup(id);
  if (!known) {
    fail(known.failure());
    return refused(known.failure());
  }
  if (!*known)
    return refused({v1::ERROR_CODE_NOT_FOUND, "there is no task " + core::clean_text(id, 256), "fairlead task list shows which there are"});
  const auto number = (*known)->number;
  auto* task = archive_.leaving(number) ? nullptr : load(number);
  if (task == nullptr) {
    if (fatal_) return refused(*fatal_);
    if (find(number) != nullptr)
      return refused({v1::ERROR_CODE_UNAVAILABLE, "task " + id + " is being parked because of an internal error", "try again in a moment"});
    return refused({v1::ERROR_CODE_WRONG_STATE, "task " + id + " has ended and is in the archive, where it is only kept to be read", ""});
  }
  const auto was_over = store::is_finished(task->record.state());
  const auto done = apply(*task, core::operated{action});
  if (const auto* now = find(number); now == nullptr || !now->poison.empty())
    return refused({v1::ERROR_CODE_INTERNAL,
                    "task " + id + ": " + (now != nullptr ? now->poison : "an internal error came up while deciding about it"),
                    "see the node's log"});
  if (was_over && !done.refused) archive_.reopened(number, batches_.sequence());
  out.set_state(task->record.state());
  out.set_parked(task->record.parked());
  out.set_paused(task->record.paused());
  out.set_reason(task->record.parked_reason());
  if (done.refused) *out.mutable_error() = done.refused->to_proto();
  forget_if_idle(number);
  return out;
}

void scheduler::acknowledge_alerts(const v1::AlertAckRequest& what, std::uint64_t ticket) {
  v1::AlertAckReply reply;
  if (what.numbers_size() > max_request_items) {
    *reply.mutable_error() = too_many_items("alerts").to_proto();
  } else if (draining_) {
    *reply.mutable_error() = node_is_stopping().to_proto();
  } else {
    for (const auto number : what.numbers()) {
      auto& one = *reply.add_results();
      auto done = alerts_.acknowledge(number, core::clean_text(what.who(), who_limit), core::clean_text(what.note(), reason_limit),
                                      batches_.page(), committed());
      if (done)
        *one.mutable_alert() = std::move(*done);
      else
        *one.mutable_error() = done.failure().to_proto();
    }
  }
  batches_.after().ack_replies.emplace_back(ticket, std::move(reply));
}

void scheduler::release_brake(const v1::BrakeReleaseRequest& what, std::uint64_t ticket) {
  v1::BrakeReleaseReply reply;
  if (draining_) {
    *reply.mutable_error() = node_is_stopping().to_proto();
  } else if (batches_.counts().undo_brake_since_unix_ms() == 0) {
    *reply.mutable_error() = error{v1::ERROR_CODE_WRONG_STATE, "the brake on mass undo is not on", ""}.to_proto();
  } else {
    reply.set_held(batches_.counts().undo_held());
    batches_.counts().set_undo_brake_since_unix_ms(0);
    brake_.reset();
    // Who released it and why stands with the alert.
    alerts_.acknowledge(batches_.counts().undo_brake_alert(), core::clean_text(what.who(), who_limit),
                        core::clean_text(what.reason(), reason_limit), batches_.page(), committed());
    const auto resolved = alerts_.resolve(batches_.counts().undo_brake_alert(), batches_.page(), committed());
    if (!resolved.ok()) {
      fail(resolved.failure());
      return;
    }
    batches_.counts().set_undo_brake_alert(0);
    world_.log->on_note(note_level::info, "scheduler",
                        "the brake on mass undo was released by " + core::clean_text(what.who(), who_limit) + ": " +
                            core::clean_text(what.reason(), reason_limit));
  }
  batches_.after().release_replies.emplace_back(ticket, std::move(reply));
}

void scheduler::forget_effects(const v1::DoctorRequest& what, std::uint64_t ticket) {
  v1::DoctorReply reply;
  if (draining_) {
    *reply.mutable_error() = node_is_stopping().to_proto();
  } else {
    reply = strays_.forget_all(batches_.counts(), batches_.rows());
    world_.log->on_note(
        note_level::info, "scheduler",
        std::to_string(reply.effects_size()) + " effects without a task were forgotten by " + core::clean_text(what.who(), who_limit));
  }
  batches_.after().doctor_replies.emplace_back(ticket, std::move(reply));
}

}  // namespace fairlead
