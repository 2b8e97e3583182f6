#include "store/memory/memory_archive.hpp"

#include "store/rows/task_rows.hpp"

namespace fairlead::store {

status memory_archive::write(const archive_day& which, batch copies) {
  if (keeps_nothing) return nothing{};
  auto& to = days_[{which.keep_days, which.day}];
  if (!to) to = std::make_unique<memory_store>();
  std::vector<batch> group{copies};
  group.front().sequence = to->read()->get_progress().sequence + 1;
  group.front().epoch = 0;
  return to->commit(group);
}

status memory_archive::carry_out(const snapshot& state, batch& out) {
  auto done = archive::carry_out(state, out);
  if (done && on_copied) on_copied();
  return done;
}

status memory_archive::visit(const archive_day& which, const std::function<void(const snapshot&)>& look) {
  const auto found = days_.find({which.keep_days, which.day});
  if (found == days_.end()) return error{v1::ERROR_CODE_NOT_FOUND, "There is no archive " + which.name() + ".", ""};
  look(*found->second->read());
  return nothing{};
}

result<std::optional<v1::TaskRecord>> memory_archive::load(std::int64_t day, task_number number, std::uint32_t keep_days) {
  const auto found = days_.find({keep_days, day});
  if (found == days_.end()) return std::optional<v1::TaskRecord>{};
  const auto from = found->second->read();
  auto record = load_task(*from, number.get());
  if (!record || !record->has_value()) return record;
  if (auto whole = load_whole(*from, **record); !whole) return whole.failure();
  return record;
}

result<std::vector<std::int64_t>> memory_archive::days(std::uint32_t keep_days) const {
  std::vector<std::int64_t> out;
  for (const auto& [which, rows] : days_)
    if (which.first == keep_days) out.push_back(which.second);
  return out;
}

result<std::vector<std::uint32_t>> memory_archive::classes() const {
  std::vector<std::uint32_t> out;
  for (const auto& [which, rows] : days_)
    if (which.first != 0 && (out.empty() || out.back() != which.first)) out.push_back(which.first);
  return out;
}

status memory_archive::drop_before(std::int64_t day, std::uint32_t keep_days) {
  for (auto it = days_.begin(); it != days_.end();) {
    const archive_day which{it->first.second, it->first.first};
    if (which.keep_days != keep_days || which.day >= day) {
      ++it;
      continue;
    }
    if (on_drop) on_drop(which);
    it = days_.erase(it);
  }
  return nothing{};
}

}  // namespace fairlead::store
