#include "actors/registry/answers.hpp"

#include <algorithm>
#include <utility>

#include "actors/agent_host/heartbeats.hpp"
#include "actors/core/expression/expression.hpp"
#include "actors/core/registry/limit_book.hpp"
#include "actors/core/task/record.hpp"
#include "actors/core/text/json.hpp"
#include "actors/core/text/labels.hpp"
#include "actors/core/text/text.hpp"
#include "actors/core/workflow/check.hpp"
#include "messages/ids.hpp"

namespace fairlead {

namespace {

constexpr std::size_t code_limit = 64;           // bytes kept of a fault's code
constexpr std::size_t sentence_limit = 1024;     // of a fault's message
constexpr std::uint32_t most_tries = 1'000'000;  // in one attempt
constexpr std::int64_t day_ms = 24LL * 3'600'000;

constexpr std::size_t call_limit = 256;  // bytes of a call's name
constexpr int most_calls = 10'000;       // of an agent
constexpr int most_limits = 1'000;

bool plain(const std::string& text, std::size_t limit) {
  return text.size() <= limit && core::clean_text(text, text.size()) == text &&
         std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

template <class Names>
bool are_calls(const Names& names) {
  return names.size() <= most_calls && std::all_of(names.begin(), names.end(), [](const auto& one) { return plain(one, call_limit); });
}

bool said_by_holder(const agent_process& who, const v1::StepRecord& step) {
  return step.instance() == who.instance && step.incarnation() == who.incarnation;
}

}  // namespace

std::optional<error> check_registration(const v1::RegisterAgent& said) {
  const auto wrong = [&said](const std::string& what) {
    return error{v1::ERROR_CODE_INVALID_ARGUMENT,
                 "the registration of agent instance " + core::clean_text(said.instance(), 80) + " is invalid: " + what,
                 "check the agent's config, and that its node runs the same release"};
  };
  // As for ids of tasks: instance names appear in logs, in commands of operators and in rows.
  if (!valid_task_id(said.instance())) return wrong("the instance's name is not 1 to 256 of the characters A-Z a-z 0-9 . _ : @ / -");
  if (!core::valid_agent_name(said.agent())) return wrong("the agent's name is not valid");
  if (!said.node().empty() && !core::valid_agent_name(said.node())) return wrong("the node's name is not valid");
  if (!plain(said.kind(), code_limit)) return wrong("its kind is not a short plain text");
  if (!are_calls(said.calls()) || !are_calls(said.lookups())) return wrong("it lists too many calls, or a call name that is not valid");
  if (said.labels_size() > core::max_labels || !std::all_of(said.labels().begin(), said.labels().end(), core::valid_label))
    return wrong("it has too many labels, or a label that is not valid");
  if (said.policies_size() > most_calls) return wrong("it has too many policies");
  for (const auto& one : said.policies())
    if (!plain(one.call(), call_limit) || one.key_valid_for_ms() < 0)
      return wrong("a policy has an invalid call name, or a negative time for keys");
  if (said.limits_size() > most_limits) return wrong("it has too many limits");
  for (const auto& one : said.limits())
    if (!plain(one.call(), call_limit) || one.rate_per_ms() < 0 || (!one.key().empty() && !core::valid_limit_key(one.key())))
      return wrong("a limit has an invalid call name, an invalid path, or a negative time");
  return std::nullopt;
}

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
  if (said.has_log()) {
    out.log = core::clean_end(said.log(), core::kept_log_bytes);
    out.log_cut = said.log_cut() || said.log().size() > core::kept_log_bytes;
  }
  if (!said.has_fault()) {
    out.output = std::move(*said.mutable_output());
    return out;
  }
  auto& fault = out.fault.emplace(std::move(*said.mutable_fault()));
  fault.set_code(core::clean_text(fault.code(), code_limit));
  // The Scheduler's own codes describe facts that only it can know. An agent that uses such a word means something else.
  if (core::is_own_code(fault.code())) fault.set_code("agent_" + fault.code());
  fault.set_message(core::clean_text(fault.message(), sentence_limit));
  fault.set_retry_after_ms(std::clamp<std::int64_t>(fault.retry_after_ms(), 0, day_ms));
  // Only these kinds are known: with any other the work may have been carried out.
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
  // A checkpoint that the next attempt could not read is dropped; the heartbeat counts all the same.
  if (said.checkpoint().size() <= checkpoint_limit && core::check_json(said.checkpoint()).ok())
    out.checkpoint = std::move(*said.mutable_checkpoint());
  return out;
}

}  // namespace fairlead
