#pragma once
// An order of three steps, as a node would show it, for tests to put into any state.

#include <string>

#include "messages/api.pb.h"

namespace fairlead::app {

inline constexpr std::int64_t some_moment = 1'774'746'000'250;  // 2026-03-29 01:00:00Z

/// reserve -> charge -> ship; the first two have an undo, ship says `undo: none` and is a pivot.
inline v1::TaskShowReply order_task(const std::string& id = "o-1") {
  v1::TaskShowReply out;
  auto& definition = *out.mutable_definition();
  auto& task = *out.mutable_task();
  task.set_id(id);
  task.set_workflow("order");
  task.set_state(v1::TASK_STATE_RUNNING);
  const char* needed = nullptr;
  for (const auto* name : {"reserve", "charge", "ship"}) {
    auto* step = definition.add_steps();
    step->set_name(name);
    if (needed != nullptr) step->add_needs(needed);
    needed = name;
    step->set_agent(std::string{name} + "_agent");
    step->set_attempts(3);
    step->mutable_undo()->set_call(std::string{"un"} + name);
    auto* record = task.add_steps();
    record->set_path(name);
    record->set_state(v1::STEP_STATE_PENDING);
    record->set_definition(static_cast<std::uint32_t>(definition.steps_size() - 1));
  }
  definition.mutable_steps(2)->mutable_undo()->set_none(true);
  definition.mutable_steps(2)->mutable_undo()->clear_call();
  definition.mutable_steps(2)->set_pivot(true);
  return out;
}

inline v1::StepRecord& step_of(v1::TaskShowReply& reply, int index) { return *reply.mutable_task()->mutable_steps(index); }

/// reserve is completed, charge was tried and has failed for good; the task is parked over it.
inline v1::TaskShowReply parked_order() {
  auto out = order_task();
  step_of(out, 0).set_state(v1::STEP_STATE_COMPLETED);
  auto& charge = step_of(out, 1);
  charge.set_state(v1::STEP_STATE_FAILED);
  charge.set_attempt(1);
  charge.set_given_up(true);
  charge.mutable_fault()->set_kind(v1::FAULT_KIND_PERMANENT);
  charge.mutable_fault()->set_code("http_422");
  charge.mutable_fault()->set_message("the card was declined");
  out.mutable_task()->set_parked(true);
  out.mutable_task()->set_parked_reason("step charge failed (http_422) and another attempt cannot help: the card was declined");
  return out;
}

/// reserve is completed, and charge is no call: it waits for the signal `approved`.
inline v1::TaskShowReply waiting_order() {
  auto out = order_task();
  step_of(out, 0).set_state(v1::STEP_STATE_COMPLETED);
  auto& charge = *out.mutable_definition()->mutable_steps(1);
  charge.clear_agent();
  charge.clear_attempts();
  charge.mutable_undo()->clear_call();
  charge.mutable_undo()->set_none(true);
  charge.set_kind(v1::STEP_KIND_SIGNAL);
  charge.set_signal("approved");
  charge.set_timeout_ms(172'800'000);
  step_of(out, 1).set_not_before_unix_ms(some_moment);
  return out;
}

/// reserve is completed, and charge was accepted: it waits for its callback.
inline v1::TaskShowReply accepted_order() {
  auto out = order_task();
  step_of(out, 0).set_state(v1::STEP_STATE_COMPLETED);
  out.mutable_definition()->mutable_steps(1)->set_callback_ms(604'800'000);
  auto& charge = step_of(out, 1);
  charge.set_state(v1::STEP_STATE_IN_DOUBT);
  charge.set_attempt(1);
  charge.set_doubtful(true);
  charge.set_awaits_callback(true);
  charge.set_not_before_unix_ms(some_moment);
  charge.mutable_fault()->set_kind(v1::FAULT_KIND_IN_DOUBT);
  charge.mutable_fault()->set_code("callback_awaited");
  charge.mutable_fault()->set_message("the agent has accepted the step, and its callback has not come");
  return out;
}

/// reserve is completed, and charge is repeated: two rounds have ended, and it waits for the third.
inline v1::TaskShowReply repeated_order() {
  auto out = order_task();
  step_of(out, 0).set_state(v1::STEP_STATE_COMPLETED);
  auto& charge = *out.mutable_definition()->mutable_steps(1);
  charge.mutable_undo()->clear_call();
  charge.mutable_undo()->set_none(true);
  charge.mutable_repeat()->set_until_json(R"("${ .steps.charge.done }")");
  charge.mutable_repeat()->set_every_ms(600'000);
  charge.mutable_repeat()->set_most(5);
  step_of(out, 1).set_attempt(2);
  step_of(out, 1).set_rounds(2);
  step_of(out, 1).set_not_before_unix_ms(some_moment);
  return out;
}

}  // namespace fairlead::app
