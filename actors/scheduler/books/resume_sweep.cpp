#include "actors/scheduler/books/resume_sweep.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/task/task.hpp"
#include "actors/core/waits.hpp"
#include "store/keys.hpp"

namespace fairlead {

namespace {

constexpr std::size_t chunk_tasks = 512;

}  // namespace

void resume_sweep::begin(const v1::ShardState& counts, moment now, duration longest_timeout) {
  before_ = counts.next_task_number();
  // Begins also when nothing is due: the end of the sweep admits pending tasks.
  under_way_ = true;
  // An attempt in progress is due before its step's timeout has passed; a step that waited for a slot or an input, before its next recheck.
  // Tasks due later need nothing now: the Supervisor will find them.
  // Leases were counted by a clock that may have been set back since, even by a little between a decision and its batch.
  const auto latest = std::max(to_unix_ms(now), counts.latest_write_unix_ms()) +
                      std::max<std::int64_t>(longest_timeout.count(), core::waiting_recheck_ms) + core::small_setting_ms;
  // Without a stored latest write (an earlier release) the clock may have been set back by any time: then all tasks are taken up.
  if (counts.latest_write_unix_ms() != 0) to_ = store::keys::due(store::default_namespace, latest + 1, 0).str();
}

result<bool> resume_sweep::finds_any(const store::snapshot& committed) const {
  bool found = false;
  const auto scanned = committed.scan(store::table::due, {}, to_, [&](std::string_view, std::string_view) {
    found = true;
    return false;
  });
  if (!scanned.ok()) return scanned.failure();
  return found;
}

bool resume_sweep::takes_up(std::uint64_t number) { return under_way_ && number < before_ && taken_up_.insert(number).second; }

result<resume_sweep::chunk> resume_sweep::next(const store::snapshot& committed) {
  chunk out;
  std::string last;
  const auto scanned = committed.scan(store::table::due, from_, to_, [&](std::string_view key, std::string_view) {
    last.assign(key);
    const auto entry = store::keys::decode_due(key);
    if (entry && entry->number < before_) out.numbers.push_back(entry->number);
    return out.numbers.size() < chunk_tasks;
  });
  if (!scanned.ok()) return scanned.failure();
  out.last = out.numbers.size() < chunk_tasks;
  from_ = last + '\0';
  return out;
}

std::uint64_t resume_sweep::end() {
  under_way_ = false;
  total_ = std::exchange(taken_up_, {}).size();
  return total_;
}

}  // namespace fairlead
