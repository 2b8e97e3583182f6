#pragma once
// The archive's twin in memory, for tests and the simulator: moved tasks are durable and outlive every crash.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "store/lmdb/archive.hpp"
#include "store/memory/memory_store.hpp"

namespace fairlead::store {

/// One thread at a time.
class memory_archive final : public archive {
 public:
  memory_archive() : archive("memory") {}

  result<std::optional<v1::TaskRecord>> load(std::int64_t day, task_number number, std::uint32_t keep_days = 0) override;
  status carry_out(const snapshot& state, batch& out) override;
  status drop_before(std::int64_t day, std::uint32_t keep_days = 0) override;
  result<std::vector<std::int64_t>> days(std::uint32_t keep_days = 0) const override;
  result<std::vector<std::uint32_t>> classes() const override;
  status note_adding(bool on) override {
    set_adding(on);
    return nothing{};
  }
  status visit(const archive_day& which, const std::function<void(const snapshot&)>& look) override;

  /// The disk is lost.
  void lose() { days_.clear(); }
  /// A planted fault: what is written is lost.
  bool keeps_nothing = false;
  /// Called with each archive before it is dropped.
  std::function<void(const archive_day&)> on_drop;
  /// Called when a move has copied tasks, before they leave the store. May throw, as a process ends.
  std::function<void()> on_copied;

 private:
  status write(const archive_day& which, batch copies) override;
  bool is_kept(const archive_day& which) const override { return days_.count({which.keep_days, which.day}) != 0; }

  // By retention and then by day, like the directories.
  std::map<std::pair<std::uint32_t, std::int64_t>, std::unique_ptr<memory_store>> days_;
};

}  // namespace fairlead::store
