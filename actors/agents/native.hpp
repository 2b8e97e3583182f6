#pragma once
// Agents whose calls are C++ functions in the node's own process. C++17; no CAF type.
//
//   native_agent_config config;
//   config.calls["reserve"] = [](const native_context& context, std::string_view input) {
//     return stock.reserve(context.idempotency_key, input) ? completed(R"({"ok":true})") : permanent_fault("sold_out", "nothing is left");
//   };
//   auto backend = make_native_backend(std::move(config));
//
// A handler may be called again for the same step, after a fault or a crash of the node, with the same idempotency key: all these calls
// together must have one effect. An undo is a call like any other. It may come for a perform that never arrived, and the perform may arrive
// after the undo. Then the undo succeeds, and the perform's key must have no effect any more.

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

/// A handler's facts beside its input. The views are valid until the handler returns.
class native_context {
 public:
  std::string_view task_id;
  std::string_view step_path;
  std::string_view idempotency_key;
  v1::Direction direction = v1::DIRECTION_PERFORM;
  std::uint32_t attempt = 0;
  std::uint32_t try_number = 1;  // 1, 2, … within the attempt
  moment complete_by;            // when the handler must be done: the end of the try, never later than that of the lease
  std::string_view checkpoint;   // left by an earlier attempt in this direction with heartbeat(), JSON text; empty: none
  // Where the output goes of a step with a callback, once the work is done (POST, docs/agents.md); empty: the handler returns it. Whoever has the
  // URL can answer for the step: it belongs into no log.
  std::string_view callback_url;
  // For an undo and a look-up: the perform in question. Empty and false in a perform.
  std::string_view perform_key;     // idempotency key under which the step was, or may have been, performed
  bool in_doubt = false;            // undo: nobody knows whether the perform was carried out
  std::string_view perform_output;  // undo: the perform's output, JSON text; `null` if unknown

  /// True once the lease has ended, the attempt was stopped or the agent is shutting down. From then on the handler must begin nothing
  /// more, and its result may be dropped. Reads the machine's clock; cheap enough for every turn of a loop.
  bool stopped() const {
    return flag_->load(std::memory_order_acquire) || (complete_by.time_since_epoch().count() != 0 && system_clock{}.now() >= complete_by);
  }

  /// Reports that the handler still works, and its progress: `percent` up to 100, a short note for operators, and a checkpoint (JSON text,
  /// up to 64 KiB). If this attempt fails, the next attempt gets the checkpoint. An argument that is left out keeps its earlier value. A
  /// step with a heartbeat needs calls more often than its period, or it is given to another attempt. Cheap enough for every turn of a
  /// loop: fast reports are merged. False: nothing was reported, as the attempt is stopped, or the checkpoint is too large or not JSON.
  bool heartbeat(std::optional<std::uint32_t> percent = std::nullopt, std::string_view note = {}, std::string_view checkpoint = {}) const;

  /// Takes a handler's reports; false: they are not wanted any more.
  using listener = std::function<bool(attempt_progress)>;
  native_context(const std::atomic<bool>& flag, const listener& told) : flag_(&flag), told_(&told) {}

 private:
  const std::atomic<bool>* flag_;
  const listener* told_;
};

/// Carries out one attempt. `input` is valid JSON text; the output must be, too (empty stands for null). A handler that throws leaves its
/// step in doubt (code handler_threw), since it may have done its work before.
using native_handler = std::function<attempt_result(const native_context&, std::string_view input)>;

/// Finds out whether the perform under `perform_key` was carried out, and changes nothing, except as the promise of never_happened()
/// requires. `input` is the perform's. Returns looked_up_done(json), never_happened(), not_known() or a fault; anything else is a permanent
/// fault (code bad_verdict). A look-up that throws may be asked again (transient, code handler_threw), since it has no effect.
using native_lookup = std::function<attempt_result(const native_context&, std::string_view input)>;

enum class native_mode {
  /// Handlers are quick and never block: each runs inside backend::start on the caller's thread and completes there. No thread, no lock.
  direct,
  /// Handlers may block: each runs on one of up to `capacity` threads, started as needed.
  pooled,
};

struct native_agent_config {
  std::map<std::string, native_handler> calls;
  std::map<std::string, native_lookup> lookups;  // by the call whose performs they look up
  native_mode mode = native_mode::direct;
  std::uint32_t capacity = 64;
};

/// A backend over `config`. Errors (invalid_argument): no call, an empty handler or look-up, a look-up of an unknown call, a capacity
/// outside 1..4096 if pooled.
///
/// Pooled: a handler that ignores stopped() keeps its thread, though its completion is suppressed. Attempts started meanwhile wait for a
/// free thread; an attempt whose lease ends before is never begun (transient, code not_started). shut_down() waits up to 2 s for handlers,
/// then leaves running threads behind: data that their handlers refer to must outlive the process's agents.
result<std::unique_ptr<backend>> make_native_backend(native_agent_config config);

}  // namespace fairlead::agents
