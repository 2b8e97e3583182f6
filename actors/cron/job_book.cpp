#include "actors/cron/job_book.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "store/keys.hpp"

namespace fairlead {

result<job_book::entry*> job_book::find(const std::string& name, const store::snapshot& committed) {
  if (const auto found = entries_.find(name); found != entries_.end()) return found->second.get();
  auto stored = store::load_job(committed, name);
  if (!stored) return stored.failure();
  auto made = std::make_unique<entry>();
  if (*stored) {
    made->record = std::move(**stored);
    made->there = true;
  }
  return entries_.emplace(name, std::move(made)).first->second.get();
}

void job_book::written(const std::string& name, entry& what, std::uint64_t sequence) {
  if (what.last_sequence == sequence) return;
  what.last_sequence = sequence;
  by_sequence_[sequence].push_back(name);
}

void job_book::crashed(const std::string& name, entry& what, std::uint64_t committed_sequence) {
  what.crashed = true;
  crashed_.insert(name);
  forget_if_durable(name, committed_sequence);
}

void job_book::forget_if_durable(const std::string& name, std::uint64_t committed_sequence) {
  const auto found = entries_.find(name);
  if (found != entries_.end() && found->second->last_sequence <= committed_sequence) entries_.erase(found);
}

void job_book::committed_up_to(std::uint64_t sequence) {
  while (!by_sequence_.empty() && by_sequence_.begin()->first <= sequence) {
    for (const auto& name : by_sequence_.begin()->second) forget_if_durable(name, sequence);
    by_sequence_.erase(by_sequence_.begin());
  }
}

result<std::optional<v1::LaunchRecord>> job_launches::at(std::int64_t nominal_unix_ms) const {
  if (const auto found = fresh_.launches.find(nominal_unix_ms); found != fresh_.launches.end()) return found->second;
  return store::load_launch(committed_, job_, nominal_unix_ms);
}

result<std::vector<v1::LaunchRecord>> job_launches::some(std::int64_t from_unix_ms, std::size_t limit) const {
  std::map<std::int64_t, v1::LaunchRecord> found;
  // More than `limit`, since some may turn out to be erased.
  const auto enough = limit == std::numeric_limits<std::size_t>::max() ? limit : limit + fresh_.launches.size();
  const auto read = store::for_each_launch(committed_, job_, from_unix_ms, [&](const v1::LaunchRecord& one) {
    found.emplace(one.nominal_unix_ms(), one);
    return found.size() < enough;
  });
  if (!read.ok()) return read.failure();
  for (auto one = fresh_.launches.lower_bound(from_unix_ms); one != fresh_.launches.end(); ++one) {
    if (one->second)
      found[one->first] = *one->second;
    else
      found.erase(one->first);
  }
  std::vector<v1::LaunchRecord> out;
  for (auto& [nominal_ms, record] : found) {
    if (out.size() == limit) break;
    out.push_back(std::move(record));
  }
  return out;
}

result<std::vector<v1::LaunchRecord>> job_launches::from(std::int64_t unix_ms) const {
  // A run of skips is stored under its first time and may reach beyond `unix_ms`. Runs do not overlap, so only the last one before can; but
  // launches by hand, which have no whole seconds, may lie within a run.
  const auto by_hand = [](std::int64_t nominal_ms) { return nominal_ms % 1000 != 0; };
  auto start_ms = unix_ms;
  const auto before =
      committed_.scan_reverse(store::table::launch, store::keys::launch(store::default_namespace, job_, 0),
                              store::keys::launch(store::default_namespace, job_, unix_ms), [&](std::string_view key, std::string_view) {
                                const auto one = store::keys::decode_launch(key);
                                if (one) start_ms = one->nominal_unix_ms;
                                return one && by_hand(one->nominal_unix_ms);
                              });
  if (!before.ok()) return before.failure();
  for (auto next = fresh_.launches.lower_bound(unix_ms); next != fresh_.launches.begin();) {
    --next;
    start_ms = std::min(start_ms, next->first);
    if (next->second && !by_hand(next->first)) break;
  }
  auto found = some(start_ms, std::numeric_limits<std::size_t>::max());
  if (!found) return found;
  std::erase_if(*found, [&](const v1::LaunchRecord& one) { return std::max(one.nominal_unix_ms(), one.last_nominal_unix_ms()) < unix_ms; });
  return found;
}

result<std::vector<v1::LaunchRecord>> job_launches::oldest(std::size_t limit) const { return some(0, limit); }

}  // namespace fairlead
