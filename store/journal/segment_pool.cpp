#include "store/journal/segment_pool.hpp"

#include <algorithm>
#include <utility>

#include "store/failpoint.hpp"
#include "store/journal/recovery.hpp"

namespace fairlead::store {

namespace {

constexpr const char* fresh_name = "fresh.tmp";
constexpr std::size_t most_staged = 4;

/// Only one thread is in haste: the one that writes to the journal.
class haste {
 public:
  explicit haste(std::atomic<bool>& flag) : flag_(flag) { flag_ = true; }
  ~haste() { flag_ = false; }
  haste(const haste&) = delete;

 private:
  std::atomic<bool>& flag_;
};

}  // namespace

class segment_pool::step {
 public:
  explicit step(segment_pool& of) : of_(of) { ++of_.steps_begun_; }
  ~step() { ++of_.steps_ended_; }
  step(const step&) = delete;

 private:
  segment_pool& of_;
};

result<std::size_t> segment_pool::count_usable(journal_files& files, const std::vector<std::string>& names, std::uint64_t segment_bytes) {
  std::size_t out = 0;
  for (const auto& name : names) {
    if (!segment_number(name)) continue;
    auto file = files.open(name);
    if (!file) return file.failure();
    if ((*file)->size() == segment_bytes) ++out;
  }
  return out;
}

status segment_pool::remove_all(journal_files& files) {
  const auto names = files.list();
  if (!names) return names.failure();
  const std::string mark{removing_name};
  const bool begun = std::find(names->begin(), names->end(), mark) != names->end();
  if (!begun && std::none_of(names->begin(), names->end(), [](const auto& name) { return segment_number(name).has_value(); }))
    return nothing{};
  if (!begun) {
    if (auto made = files.create(mark, journal_block_bytes, [] { return making_pace::at_once; }); !made) return made;
    if (auto synced = files.sync(); !synced) return synced;
  }
  for (const auto& name : *names) {
    if (name == mark || !(segment_number(name) || name.ends_with(".tmp"))) continue;
    if (auto gone = files.remove(name); !gone) return gone;
  }
  if (auto synced = files.sync(); !synced) return synced;
  if (auto gone = files.remove(mark); !gone) return gone;
  return files.sync();
}

status segment_pool::put_aside(journal_files& files) {
  const auto names = files.list();
  if (!names) return names.failure();
  for (const auto& name : *names) {
    if (!segment_number(name)) continue;
    auto to = name + ".lost";
    for (int n = 2; std::find(names->begin(), names->end(), to) != names->end(); ++n) to = name + ".lost" + std::to_string(n);
    if (auto moved = files.rename(name, to); !moved) return moved;
  }
  return files.sync();
}

status segment_pool::adopt(const std::vector<std::string>& staged, const std::vector<std::string>& retired) {
  const std::lock_guard lock(guard_);
  bool removed = false;
  // Another size is that of another journal.segment_size. Its name may be that of a coming segment, so it goes before there is one.
  const auto keep_or_remove = [&](const std::string& name) -> result<bool> {
    const auto usable = count_usable(files_, {name}, segment_bytes_);
    if (!usable) return usable.failure();
    if (*usable == 1) return true;
    removed = true;
    if (auto gone = files_.remove(name); !gone) return gone.failure();
    return false;
  };
  for (const auto& name : staged) {
    const auto kept = keep_or_remove(name);
    if (!kept) return kept.failure();
    if (!*kept) continue;
    staged_.push_back(name);
    next_number_ = *segment_number(name) + 1;
  }
  for (const auto& name : retired) {
    const auto kept = keep_or_remove(name);
    if (!kept) return kept.failure();
    if (*kept) retired_.push_back({name, true});
  }
  return removed ? files_.sync() : status(nothing{});
}

result<std::unique_ptr<block_file>> segment_pool::take(std::uint64_t number) {
  const auto name = segment_name(number);
  std::string staged;
  {
    const std::lock_guard lock(guard_);
    if (!staged_.empty()) {
      staged = staged_.front();
      staged_.erase(staged_.begin());
    }
  }
  if (staged.empty()) {
    const haste now(hurry_);
    const std::lock_guard making(maker_);
    std::unique_lock lock(guard_);
    while (staged_.empty()) {
      next_number_ = number;
      lock.unlock();
      if (auto made = stage_one(); !made) return made.failure();
      lock.lock();
    }
    staged = staged_.front();
    staged_.erase(staged_.begin());
  }
  const step now(*this);
  // Files are staged under coming numbers, so this is only for those that another number was staged for, such as after a restart.
  if (staged != name) {
    if (auto renamed = files_.rename(staged, name); !renamed) return renamed.failure();
    if (auto synced = files_.sync(); !synced) return synced.failure();
  }
  {
    const std::lock_guard lock(guard_);
    next_number_ = std::max(next_number_, number + 1);
  }
  return files_.open(name);
}

void segment_pool::retire(std::uint64_t number, bool recyclable) {
  const std::lock_guard lock(guard_);
  retired_.push_back({segment_name(number), recyclable});
}

status segment_pool::stage(std::size_t wanted) {
  const std::lock_guard making(maker_);
  for (;;) {
    {
      const std::lock_guard lock(guard_);
      if (ended_ || (retired_.empty() && staged_.size() >= wanted)) return nothing{};
    }
    if (auto done = stage_one(); !done) {
      const bool given_up = ended_ && done.failure().code == v1::ERROR_CODE_UNAVAILABLE;
      return given_up ? status(nothing{}) : done;
    }
  }
}

making_pace segment_pool::pace() {
  ++steps_begun_;
  ++steps_ended_;
  if (hurry_) return making_pace::at_once;
  return ended_ ? making_pace::stop : making_pace::spread;
}

status segment_pool::stage_at_once(std::size_t wanted) {
  const haste now(hurry_);
  return stage(wanted);
}

/// Deals with one retired file, or makes a new one. The caller holds `maker_`.
status segment_pool::stage_one() {
  const step now(*this);
  retired_file from;
  std::string to;
  {
    const std::lock_guard lock(guard_);
    if (!retired_.empty()) {
      from = retired_.back();
      retired_.pop_back();
    }
    if (from.name.empty() || (from.recyclable && staged_.size() < most_staged)) {
      const auto last = staged_.empty() ? std::uint64_t{0} : segment_number(staged_.back()).value_or(0);
      next_number_ = std::max(next_number_, last + 1);
      to = segment_name(next_number_++);
    }
  }
  if (to.empty()) {
    if (auto gone = files_.remove(from.name); !gone) return gone;
    return files_.sync();
  }
  if (from.name.empty()) {
    from.name = fresh_name;
    if (auto made = files_.create(from.name, segment_bytes_, [this] { return pace(); }); !made) return made;
  }
  if (failpoint("journal.stage_before_rename")) return failpoint_error("journal.stage_before_rename");
  if (auto renamed = files_.rename(from.name, to); !renamed) return renamed;
  if (failpoint("journal.stage_after_rename")) return failpoint_error("journal.stage_after_rename");
  if (!failpoint("plant.name_not_synced")) {
    if (auto synced = files_.sync(); !synced) return synced;
  }
  const std::lock_guard lock(guard_);
  staged_.push_back(to);
  return nothing{};
}

std::size_t segment_pool::staged() const {
  const std::lock_guard lock(guard_);
  return staged_.size();
}

}  // namespace fairlead::store
