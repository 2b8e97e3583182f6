#pragma once
// How long steps that wait can have waited by the shard's clock: since when at the earliest, by what the Scheduler has decided.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "messages/task.pb.h"
#include "tests/simulation/plans/workflows.hpp"
#include "tests/simulation/world/clocks.hpp"
#include "tests/simulation/world/ledger.hpp"

namespace fairlead::simulation {

class wait_clock {
 public:
  wait_clock(const world& in, const host_clock& of_shard) : world_(in), clock_(of_shard) {}

  /// The submission of a task leaves for the first time, or again.
  void sends(const std::string& task) { sent_us_.try_emplace(task, world_.now_us()); }
  /// This version of the task goes to the disk.
  void decided(const v1::TaskRecord& record, const shape& plan);

  /// How far the shard's clock can have gone on since the step began to wait; nullopt: nobody knows when that was.
  std::optional<std::int64_t> longest_ms(const step_name& of) const;
  /// The same of the wait after which the step has failed last. Another may have begun since, by an order.
  std::optional<std::int64_t> longest_in_vain_ms(const step_name& of) const;
  /// Whether the shard's clock has ever shown it.
  bool has_shown(std::int64_t wall_ms) const { return clock_.has_shown(wall_ms - tolerance_ms(), 0); }

 private:
  enum class phase { unknown, unready, ready, failed, over };
  struct known {
    phase last = phase::unknown;
    std::optional<std::int64_t> unready_us;  // when a version was decided last in which the step does not wait
    std::optional<std::int64_t> began_us;    // the step has begun to wait after that
    std::optional<std::int64_t> vain_us;     // and so it had when it failed last
    std::uint32_t failures = 0;              // as decided last
    std::uint64_t version = 0;               // of the task, as decided last
  };
  static phase phase_of(const v1::TaskRecord& record, std::uint32_t index, const shape& plan);
  std::optional<std::int64_t> shown_ms(const std::optional<std::int64_t>& since_us) const;
  /// A shard that several nodes hold is led by the clock of one after the other, and what one has decided last may never have counted.
  std::int64_t tolerance_ms() const { return clock_.settings() == 0 ? whole_ms : 5'000; }

  const world& world_;
  const host_clock& clock_;
  std::map<std::string, std::int64_t> sent_us_;
  std::map<step_name, known> steps_;
};

}  // namespace fairlead::simulation
