#pragma once
// Agents whose calls are C++ functions in the node's own process. C++17; no CAF type.
//
//   native_agent_config config;
//   config.calls["reserve"] = [](const native_context& context, std::string_view input) {
//     return stock.reserve(context.idempotency_key, input) ? completed(R"({"ok":true})") : permanent_fault("sold_out", "nothing is left");
//   };
//   auto backend = make_native_backend(std::move(config));
//
// A handler may be called again for the same step, after a fault or after a crash of the node, with the same idempotency key: it must
// have the same effect once. An undo is a call like any other; it may come for a perform that never arrived, and the perform may arrive
// after it: then the undo succeeds, and the perform's key must have no effect any more.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "actors/agents/attempt_results.hpp"
#include "actors/agents/backend.hpp"
#include "messages/common.pb.h"
#include "messages/error.hpp"
#include "messages/time.hpp"

namespace fairlead::agents {

/// What a handler is told beside its input. The views are valid until the handler returns.
class native_context {
 public:
  std::string_view task_id;
  std::string_view step_path;
  std::string_view idempotency_key;
  v1::Direction direction = v1::DIRECTION_PERFORM;
  std::uint32_t attempt = 0;
  std::uint32_t try_number = 1;  // 1, 2, … within the attempt
  moment complete_by;            // when the handler must be done: the end of the try, at the latest that of the lease
  std::string_view checkpoint;   // what an earlier attempt in this direction left by heartbeat(), JSON text; empty: nothing
  // Of an undo and of a lookup: what they are about. Empty and false in a perform.
  std::string_view perform_key;     // the idempotency key under which it was, or may have been, performed
  bool in_doubt = false;            // undo: nobody knows whether the perform was carried out
  std::string_view perform_output;  // undo: what the perform gave, JSON text; `null` when that is not known

  /// True once the lease has ended, the attempt was stopped or the agent is shutting down: whatever the handler has not begun yet it
  /// must leave alone, and what it returns from then on may be dropped. Asks the machine's clock; cheap enough for every turn of a loop.
  bool stopped() const {
    return flag_->load(std::memory_order_acquire) || (complete_by.time_since_epoch().count() != 0 && system_clock{}.now() >= complete_by);
  }

  /// Says that the handler is still at it, and how far it is: `percent` up to 100, a short note for people, and a checkpoint (JSON text, up to
  /// 64 KiB) that the next attempt gets should this one fail. Of a step with a heartbeat it must be called more often than that, or the step
  /// is given to another attempt; what is left out stays as it was told before. Cheap enough for every turn of a loop: what comes fast is
  /// merged. False, and nothing was told: the attempt is stopped, or the checkpoint is too large or not JSON.
  bool heartbeat(std::optional<std::uint32_t> percent = std::nullopt, std::string_view note = {}, std::string_view checkpoint = {}) const;

  /// Takes what a handler tells; false when nobody wants to hear it any more.
  using listener = std::function<bool(attempt_progress)>;
  native_context(const std::atomic<bool>& flag, const listener& told) : flag_(&flag), told_(&told) {}

 private:
  const std::atomic<bool>* flag_;
  const listener* told_;
};

/// Carries out one attempt. `input` is valid JSON text; the output must be too (empty stands for null). A handler that throws leaves
/// its step in doubt (code handler_threw), for it may have done its work before it threw.
using native_handler = std::function<attempt_result(const native_context&, std::string_view input)>;

/// Finds out whether the perform under `perform_key` was carried out, and changes nothing but what never_happened() promises. `input` is
/// the perform's. Returns looked_up_done(json), never_happened(), not_known() or a fault; anything else is a permanent fault (code
/// bad_verdict). One that throws may be asked again (transient, code handler_threw), for there is nothing that it could have done.
using native_lookup = std::function<attempt_result(const native_context&, std::string_view input)>;

enum class native_mode {
  /// Handlers are quick and never block: each runs inside backend::start on the caller's thread and completes there. No thread, no lock.
  direct,
  /// Handlers may block: each runs on one of up to `capacity` threads, which are started as they are needed.
  pooled,
};

struct native_agent_config {
  std::map<std::string, native_handler> calls;
  std::map<std::string, native_lookup> lookups;  // by the name of the call whose performs they look up
  native_mode mode = native_mode::direct;
  std::uint32_t capacity = 64;
};

/// A backend over `config`. Errors (invalid_argument): no call, an empty handler or lookup, a lookup of a call that is not there, a
/// capacity outside 1..4096 when pooled.
///
/// Pooled: a handler that ignores stopped() keeps its thread, though its completion is suppressed; attempts started meanwhile wait for
/// a free thread, and one whose lease ends before that is never begun (transient, code not_started). shut_down() waits up to 2 s for
/// handlers, then leaves the threads that still run behind: what their handlers refer to must outlive the process's agents.
result<std::unique_ptr<backend>> make_native_backend(native_agent_config config);

}  // namespace fairlead::agents
