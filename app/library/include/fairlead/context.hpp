#pragma once
// What a handler is told beside its input, and what it can say while it works.

#include <fairlead/time.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace fairlead {

namespace agents {
class native_context;
}

enum class direction { perform, undo, lookup };

/// Lives as long as the handler runs, and so do the texts it gives.
class context {
 public:
  /// Names the effect: the same for every attempt and every try of this step. What has been done under it must not be done again.
  std::string_view key() const;
  std::string_view task_id() const;
  std::string_view step() const;
  fairlead::direction direction() const;
  std::uint32_t attempt() const;     // 1, 2, …: how often the step was handed over
  std::uint32_t try_number() const;  // 1, 2, … within the attempt

  /// Of undo and lookup: the key under which the step was, or may have been, performed.
  std::string_view perform_key() const;
  /// Of an undo: nobody knows whether the perform was carried out.
  bool in_doubt() const;
  /// Of an undo: what the perform gave, JSON text; `null` when that is not known.
  std::string_view perform_output() const;

  /// When the handler must be done: the end of the try, at the latest that of the lease. What is not begun by then must be left alone.
  moment complete_by() const;
  /// Until complete_by; zero when it has passed.
  duration time_left() const;

  /// True once the lease has ended, the attempt was taken away or the node ends: whatever the handler has not begun yet it must leave
  /// alone, and what it returns from then on may be dropped. Cheap enough for every turn of a loop.
  bool stopped() const;

  /// Says that the handler is still at it, and how far: a percentage up to 100, a short note for people, and a checkpoint (JSON text, up to
  /// 64 KiB) that the next attempt gets should this one fail; what is left out stays as it was told before. `fairlead task watch` shows it. A
  /// step with `heartbeat` is given to another attempt when nothing is heard for that long. Cheap enough for every turn of a loop. False,
  /// and nothing was told: the attempt is stopped, or the checkpoint is too large or no JSON.
  bool heartbeat(std::optional<std::uint32_t> percent = std::nullopt, std::string_view note = {}, std::string_view checkpoint = {});
  /// What an earlier attempt left last, JSON text; empty: nothing.
  std::string_view checkpoint() const;

  explicit context(const agents::native_context& from) : from_(&from) {}
  context(const context&) = delete;
  context& operator=(const context&) = delete;

 private:
  const agents::native_context* from_;
};

}  // namespace fairlead
