#pragma once
// Helpers for native handlers and backends: ends of attempts, and results of look-ups. C++17.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "actors/agents/backend.hpp"
#include "messages/common.pb.h"

namespace fairlead::agents {

/// The attempt has succeeded; `output_json` is JSON text.
inline attempt_result completed(std::string output_json) {
  attempt_result out;
  out.output = std::move(output_json);
  return out;
}

inline attempt_result faulted(v1::FaultKind kind, std::string code, std::string message) {
  attempt_result out;
  out.fault.emplace();
  out.fault->set_kind(kind);
  out.fault->set_code(std::move(code));
  out.fault->set_message(std::move(message));
  return out;
}

/// Nothing happened, and another attempt may succeed.
inline attempt_result transient_fault(std::string code, std::string message) {
  return faulted(v1::FAULT_KIND_TRANSIENT, std::move(code), std::move(message));
}
/// Nothing happened, and another attempt cannot help.
inline attempt_result permanent_fault(std::string code, std::string message) {
  return faulted(v1::FAULT_KIND_PERMANENT, std::move(code), std::move(message));
}
/// It may have happened.
inline attempt_result in_doubt_fault(std::string code, std::string message) {
  return faulted(v1::FAULT_KIND_IN_DOUBT, std::move(code), std::move(message));
}

/// A look-up found that the perform was carried out; `output_json` is the output that the perform would have given.
inline attempt_result looked_up_done(std::string output_json) {
  attempt_result out;
  out.output = std::move(output_json);
  out.verdict = v1::LOOKUP_VERDICT_DONE;
  return out;
}

/// A look-up found that the perform had no effect and never will. This promises that the perform's key has no effect later either, not even
/// if a request still on its way arrives after the answer. If the service cannot be told to refuse the key, the answer is not_known().
inline attempt_result never_happened() {
  attempt_result out;
  out.verdict = v1::LOOKUP_VERDICT_NEVER_HAPPENED;
  return out;
}

/// A look-up could ask the service, and still cannot tell: the step stays in doubt.
inline attempt_result not_known() {
  attempt_result out;
  out.verdict = v1::LOOKUP_VERDICT_UNKNOWN;
  return out;
}

/// At most `limit` bytes of `text`, each byte that is not printable ASCII replaced by a dot: fault messages are stored as UTF-8 and shown
/// on terminals, whatever a service or an exception put into them.
std::string printable(std::string_view text, std::size_t limit);

}  // namespace fairlead::agents
