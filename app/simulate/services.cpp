#include "app/simulate/services.hpp"

namespace fairlead::app::simulate {

std::string step_of(const v1::Perform& what) {
  return "step " + what.step_path() + (what.task_id() == simulated_id ? "" : " of " + what.task_id());
}

v1::Fault fault_of(v1::FaultKind kind, const std::string& code, const std::string& message) {
  v1::Fault out;
  out.set_kind(kind);
  out.set_code(code);
  out.set_message(message);
  return out;
}

ledger_entry& services::entry(const std::string& key, const std::string& agent, const v1::Perform& what) {
  auto& out = ledger_[key];
  out.task_number = what.task_number();
  out.step = what.step();
  if (what.direction() == v1::DIRECTION_PERFORM) {
    out.agent = agent;
    out.call = what.call();
  }
  return out;
}

service_answer services::carry_out(const std::string& agent, const v1::Perform& what, std::int64_t now_ms) {
  switch (what.direction()) {
    case v1::DIRECTION_UNDO: return undo(agent, what);
    case v1::DIRECTION_LOOKUP: return look_up(agent, what);
    default: return perform(agent, what, now_ms);
  }
}

service_answer services::perform(const std::string& agent, const v1::Perform& what, std::int64_t now_ms) {
  const auto promised = promised_.of(agent, what.call());
  auto& known = entry(what.idempotency_key(), agent, what);
  const auto name = agent + "." + what.call() + " for " + step_of(what);
  if (known.denied || (known.refused && promised.honours_keys)) {
    tell_(name + ": refused, because the key was undone or looked up before");
    return {fault_of(v1::FAULT_KIND_PERMANENT, "http_409", "the key was undone or looked up before"), {}, {}};
  }
  if (promised.honours_keys) {
    const auto remembers = promised.valid_for_ms == 0 || now_ms - known.first_ms < promised.valid_for_ms + longest_way_ms;
    if (known.performed > 0 && remembers) {
      tell_(name + ": the key is known, and the recorded answer is given");
      return {std::nullopt, known.output, {}};
    }
  }
  if (known.performed == 0) known.first_ms = now_ms;
  ++known.performed;
  ++known.live;
  if (known.output.empty()) known.output = output_(what);
  tell_(name + ": PERFORMED" + (known.performed > 1 ? " ONCE MORE" : "") + " under key " + what.idempotency_key());
  return {std::nullopt, known.output, {}};
}

service_answer services::undo(const std::string& agent, const v1::Perform& what) {
  const auto promised = promised_.of(agent, what.call());
  auto& known = entry(what.perform_key(), agent, what);
  known.undo_call = agent + "." + what.call();
  const auto name = known.undo_call + " to undo " + step_of(what);
  auto& times = undo_keys_[what.idempotency_key()];
  if (times > 0 && promised.honours_keys) {
    tell_(name + ": the key is known, and the recorded answer is given");
    return {};
  }
  // What is not there cannot be taken back twice.
  if (++times > 1 && known.undone > 0) ++known.undo_again;
  ++known.undos;
  if (promised.honours_keys) known.refused = true;
  if (known.live > 0) {
    --known.live;
    ++known.undone;
    tell_(name + ": UNDONE");
  } else {
    tell_(name + (known.undo_again > 0 ? ": UNDONE ONCE MORE" : ": there is nothing to undo"));
  }
  return {};
}

service_answer services::look_up(const std::string& agent, const v1::Perform& what) {
  const auto promised = promised_.of(agent, what.call());
  auto& known = entry(what.perform_key(), agent, what);
  const auto name = "look-up of " + step_of(what);
  if (known.live > 0) {
    tell_(name + ": done");
    return {std::nullopt, known.output, v1::LOOKUP_VERDICT_DONE};
  }
  if (!promised.denies) {
    tell_(name + ": unknown");
    return {std::nullopt, "null", v1::LOOKUP_VERDICT_UNKNOWN};
  }
  known.denied = true;
  tell_(name + ": never happened");
  return {std::nullopt, "null", v1::LOOKUP_VERDICT_NEVER_HAPPENED};
}

std::optional<std::string> services::inspect(std::uint64_t task_number, std::uint32_t step) {
  for (const auto& [key, one] : ledger_)
    if (one.task_number == task_number && one.step == step && one.live > 0) return one.output;
  for (auto& [key, one] : ledger_)
    if (one.task_number == task_number && one.step == step) one.denied = true;
  return std::nullopt;
}

}  // namespace fairlead::app::simulate
