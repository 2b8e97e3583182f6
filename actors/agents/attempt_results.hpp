#pragma once
// Short ways to say how an attempt ended, and what a lookup found, for native handlers and for the backends themselves. C++17.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "actors/agents/backend.hpp"
#include "messages/common.pb.h"

namespace fairlead::agents {

/// Done; `output_json` is JSON text.
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

/// A lookup found that the perform was carried out; `output_json` is what it gave, as it would have said it then.
inline attempt_result looked_up_done(std::string output_json) {
  attempt_result out;
  out.output = std::move(output_json);
  out.verdict = v1::LOOKUP_VERDICT_DONE;
  return out;
}

/// A lookup found that the perform had no effect, and made sure that it will have none: this is a promise that the perform's key has no
/// effect later either, not even when a request that is still under way arrives after it. Where the service cannot be told to refuse the
/// key from now on, the answer is not_known().
inline attempt_result never_happened() {
  attempt_result out;
  out.verdict = v1::LOOKUP_VERDICT_NEVER_HAPPENED;
  return out;
}

/// A lookup that could ask, and still cannot tell: the step stays in doubt.
inline attempt_result not_known() {
  attempt_result out;
  out.verdict = v1::LOOKUP_VERDICT_UNKNOWN;
  return out;
}

/// At most `limit` bytes of `text` with everything but printable ASCII replaced by a dot: fault messages are stored as UTF-8 and shown
/// on terminals, whatever a service or an exception put into them.
std::string printable(std::string_view text, std::size_t limit);

}  // namespace fairlead::agents
