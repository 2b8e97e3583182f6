#include "actors/agent_answers.hpp"

#include <algorithm>
#include <utility>

#include "actors/agent_heartbeats.hpp"
#include "actors/core/expression.hpp"
#include "actors/core/task_record.hpp"
#include "actors/core/text.hpp"

namespace fairlead {

namespace {

constexpr std::size_t code_limit = 64;           // bytes kept of a fault's code
constexpr std::size_t sentence_limit = 1024;     // and of what is said about it
constexpr std::uint32_t most_tries = 1'000'000;  // in one attempt
constexpr std::int64_t day_ms = 24LL * 3'600'000;

bool said_by_holder(const agent_process& who, const v1::StepRecord& step) {
  return step.instance() == who.instance && step.incarnation() == who.incarnation;
}

}  // namespace

bool may_speak_for(const agent_process& who, const v1::TaskRecord& record, std::uint32_t step) {
  if (step >= static_cast<std::uint32_t>(record.steps_size())) return false;
  const auto& one = record.steps(static_cast<int>(step));
  return !core::attempt_out(one) || said_by_holder(who, one);
}

bool holds_step(const agent_process& who, const v1::TaskRecord& record, std::uint32_t step) {
  if (step >= static_cast<std::uint32_t>(record.steps_size())) return false;
  const auto& one = record.steps(static_cast<int>(step));
  return core::attempt_out(one) && said_by_holder(who, one);
}

core::attempt_ended event_of(v1::Outcome& said) {
  core::attempt_ended out;
  out.step = said.step();
  out.direction = said.direction();
  out.attempt = said.attempt();
  out.tries = std::min(said.tries(), most_tries);
  out.busy_ms = std::clamp<std::int64_t>(said.busy_ms(), 0, 7 * day_ms);
  out.verdict = said.verdict();
  if (!said.has_fault()) {
    out.output = std::move(*said.mutable_output());
    return out;
  }
  auto& fault = out.fault.emplace(std::move(*said.mutable_fault()));
  fault.set_code(core::clean_text(fault.code(), code_limit));
  // The Scheduler's own word for what only it can know. An agent that says it means some other key.
  if (fault.code() == core::key_expired_code) fault.set_code("agent_" + fault.code());
  fault.set_message(core::clean_text(fault.message(), sentence_limit));
  fault.set_retry_after_ms(std::clamp<std::int64_t>(fault.retry_after_ms(), 0, day_ms));
  // Only what is named is known: of any other kind it may have been carried out.
  const auto known = fault.kind() == v1::FAULT_KIND_TRANSIENT || fault.kind() == v1::FAULT_KIND_PERMANENT;
  if (!known) fault.set_kind(v1::FAULT_KIND_IN_DOUBT);
  return out;
}

core::attempt_heartbeat event_of(v1::Heartbeat& said) {
  core::attempt_heartbeat out;
  out.step = said.step();
  out.direction = said.direction();
  out.attempt = said.attempt();
  out.sequence = said.sequence();
  out.has_progress = said.has_progress();
  if (said.has_percent()) out.percent = std::min<std::uint32_t>(said.percent(), 100);
  out.note = core::clean_text(said.note(), progress_note_limit);
  // What the next attempt would choke on is left out; that the agent is at work holds all the same.
  if (said.checkpoint().size() <= checkpoint_limit && core::check_json(said.checkpoint()).ok())
    out.checkpoint = std::move(*said.mutable_checkpoint());
  return out;
}

}  // namespace fairlead
