#include "actors/archiver.hpp"

#include <vector>

#include "store/keys.hpp"
#include "store/task_rows.hpp"

namespace fairlead {

namespace {

constexpr std::size_t tasks_a_pass = 1'000;

}  // namespace

result<archiver::pass_result> archiver::pass() {
  const auto view = reads_.read();
  if (last_moved_ != 0) {
    const auto still_there = store::load_task(*view, last_moved_);
    if (!still_there) return still_there.failure();
    if (*still_there) return pass_result{std::nullopt, true};
  }
  const auto before_ms = to_unix_ms(time_.now() - policy_.archive_after);
  std::vector<task_number> numbers;
  std::int64_t day = 0;
  for (const auto state : {v1::TASK_STATE_COMPLETED, v1::TASK_STATE_UNDONE}) {
    const auto number = static_cast<std::uint8_t>(state);
    const auto from = store::keys::finished(store::default_namespace, number, 0, 0);
    const auto to = store::keys::finished(store::default_namespace, number, before_ms + 1, 0);
    const auto scanned = view->scan(store::table::finished, from, to, [&](std::string_view key, std::string_view) {
      const auto entry = store::keys::decode_finished(key);
      if (!entry) return true;
      // One pass fills the archive of one day.
      const auto ended_on = store::day_of(entry->finished_at_unix_ms);
      if (numbers.empty()) day = ended_on;
      if (ended_on != day) return false;
      numbers.emplace_back(entry->number);
      return numbers.size() < tasks_a_pass;
    });
    if (!scanned.ok()) return scanned.failure();
    if (!numbers.empty()) break;
  }
  if (numbers.empty()) {
    last_moved_ = 0;
    return pass_result{};
  }
  archived_tasks out;
  const auto moved = archives_->move(numbers, *view, day, out.erasures);
  if (!moved.ok()) return moved.failure();
  out.tasks = numbers.size();
  last_moved_ = numbers.back().get();
  return pass_result{std::move(out), false};
}

status archiver::drop_old() { return archives_->drop_before(store::day_of(to_unix_ms(time_.now() - policy_.keep))); }

}  // namespace fairlead
