#include "actors/cron/cron.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "actors/core/waits.hpp"
#include "store/keys.hpp"

namespace fairlead {

namespace {

namespace keys = store::keys;
using store::default_namespace;

constexpr std::size_t chunk_names = 256;  // in one message to the Scheduler
// Enough to keep a Scheduler busy during one commit, few enough for a submission that queues behind them.
constexpr std::size_t most_out = 1'024;
constexpr std::size_t chunk_entries = 4'096;  // read in one scan

/// Begin of the entries that are due later than `at_ms`.
std::string behind(std::int64_t at_ms) { return keys::job_due(default_namespace, at_ms + 1, 0, {}); }

}  // namespace

void cron::forget(const store::snapshot& view, std::int64_t now_ms) {
  for (auto it = sent_.begin(); it != sent_.end();) {
    bool keep = core::still_waits(it->second, longest_wait, now_ms);
    if (keep) {
      // The scan reports read errors.
      const auto entry = view.get(store::table::job_due, it->first);
      keep = !entry.ok() || entry->has_value();
    }
    it = keep ? std::next(it) : sent_.erase(it);
  }
  // Gives back the memory that a burst needed.
  if (sent_.empty() && sent_.bucket_count() > 1'024) sent_ = {};
}

result<cron::found> cron::read(const store::snapshot& view, std::int64_t now_ms) {
  // A pass of a later moment would go on with entries that are not due any more.
  if (now_ms < pass_ms_) pass_to_.clear();
  if (pass_to_.empty()) {
    // Entries that become due during the pass belong to the next one. So every pass ends, and a job that cannot be launched blocks no
    // other.
    pass_from_ = keys::of_namespace(default_namespace).str();
    pass_to_ = behind(now_ms);
    pass_ms_ = now_ms;
  }
  found out;
  out.complete = true;
  std::size_t seen = 0;
  const auto scanned = view.scan(store::table::job_due, pass_from_, pass_to_, [&](std::string_view key, std::string_view) {
    if (sent_.size() >= most_out || ++seen > chunk_entries) {
      pass_from_ = key;
      out.complete = false;
      return false;
    }
    if (const auto entry = keys::decode_job_due(key); entry && sent_.try_emplace(std::string{key}, now_ms).second)
      out.names.emplace_back(entry->name);
    return true;
  });
  if (!scanned.ok()) return scanned.failure();
  return out;
}

void cron::send(std::vector<std::string> names, bool look) {
  const auto size = names.size();
  for (std::size_t from = 0; from < size; from += chunk_names) {
    const auto to = std::min(from + chunk_names, size);
    due_jobs chunk;
    chunk.names.assign(std::make_move_iterator(names.begin() + static_cast<std::ptrdiff_t>(from)),
                       std::make_move_iterator(names.begin() + static_cast<std::ptrdiff_t>(to)));
    chunk.look = look && to == size;
    world_.out->due(std::move(chunk));
  }
  if (look && size == 0) world_.out->due({{}, true});
}

result<moment> cron::scan() {
  const auto now_ms = to_unix_ms(world_.time->now());
  const auto view = world_.reads->read();
  forget(*view, now_ms);
  auto what = read(*view, now_ms);
  if (!what) return what.failure();
  const auto room_is_short = view->get_progress().shard.launches_waiting_room() > 0;
  const auto period = room_is_short ? room_wait : longest_wait;
  look_owed_ = look_owed_ || !what->names.empty();
  const auto look = (what->complete && look_owed_) || !core::still_waits(looked_ms_, period, now_ms);
  if (look) {
    looked_ms_ = now_ms;
    look_owed_ = false;
  }
  const auto complete = what->complete;
  send(std::move(what->names), look);
  auto next = next_look(*view, now_ms, complete, period.count());
  if (complete) pass_to_.clear();
  return next;
}

result<moment> cron::next_look(const store::snapshot& view, std::int64_t now_ms, bool complete, std::int64_t look_period_ms) const {
  auto next_ms = looked_ms_ + look_period_ms;
  if (!complete) return from_unix_ms(std::min(next_ms, now_ms + burst_pause.count()));
  // Entries that may have to be sent again,
  for (const auto& [key, at_ms] : sent_) next_ms = std::min(next_ms, at_ms + longest_wait.count());
  // and the next entry, which may have become due during the pass.
  const auto scanned = view.scan(store::table::job_due, pass_to_, keys::after(keys::of_namespace(default_namespace)),
                                 [&](std::string_view key, std::string_view) {
                                   const auto entry = keys::decode_job_due(key);
                                   if (!entry) return true;
                                   next_ms = std::min(next_ms, std::max(entry->due_unix_ms, now_ms));
                                   return false;
                                 });
  if (!scanned.ok()) return scanned.failure();
  return from_unix_ms(next_ms);
}

}  // namespace fairlead
