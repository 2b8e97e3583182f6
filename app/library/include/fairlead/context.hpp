#pragma once
// The facts that a handler gets beside its input, and its means to report progress.

#include <fairlead/time.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace fairlead {

namespace agents {
class native_context;
}

enum class direction { perform, undo, lookup };

/// Valid while the handler runs, as are the texts that its members return.
class context {
 public:
  /// Names the effect: the same for every attempt and every try of this step. Work done under the key must not be done again.
  std::string_view key() const;
  std::string_view task_id() const;
  std::string_view step() const;
  fairlead::direction direction() const;
  std::uint32_t attempt() const;     // 1, 2, …: how often the step was handed over
  std::uint32_t try_number() const;  // 1, 2, … within the attempt

  /// Of a step with a callback: what the handler returns says only that it has accepted the work. The output goes to this URL (POST) when the
  /// work is done. Whoever has the URL can answer for the step: it belongs into no log. Empty: the step has no callback.
  std::string_view callback_url() const;

  /// For undo and lookup: the key under which the step was, or may have been, performed.
  std::string_view perform_key() const;
  /// For an undo: nobody knows whether the perform was carried out.
  bool in_doubt() const;
  /// For an undo: the perform's output, JSON text; `null` if it is unknown.
  std::string_view perform_output() const;

  /// When the handler must be done: the end of the try, never later than the end of the lease. After this moment the handler must begin
  /// nothing more.
  moment complete_by() const;
  /// Time until complete_by; zero afterwards.
  duration time_left() const;

  /// True once the lease has ended, the attempt was taken away or the node ends. From then on the handler must begin nothing more, and its
  /// result may be dropped. Cheap enough for every turn of a loop.
  bool stopped() const;

  /// Reports that the handler still works, and its progress: a percentage up to 100, a short note for operators, and a checkpoint (JSON
  /// text, up to 64 KiB). If this attempt fails, the next attempt gets the checkpoint. An argument that is left out keeps its earlier
  /// value. `fairlead task watch` shows the progress. A step with `heartbeat` is given to another attempt when no heartbeat comes for that
  /// long. Cheap enough for every turn of a loop. False: nothing was reported, as the attempt is stopped, or the checkpoint is too large or
  /// not JSON.
  bool heartbeat(std::optional<std::uint32_t> percent = std::nullopt, std::string_view note = {}, std::string_view checkpoint = {});
  /// The last checkpoint of an earlier attempt, JSON text; empty: none.
  std::string_view checkpoint() const;

  explicit context(const agents::native_context& from) : from_(&from) {}
  context(const context&) = delete;
  context& operator=(const context&) = delete;

 private:
  const agents::native_context* from_;
};

}  // namespace fairlead
