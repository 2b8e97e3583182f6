#include "store/journaled/applier.hpp"

#include <algorithm>
#include <utility>

namespace fairlead::store {

namespace {
// How often a thread with something to apply looks whether it is much.
constexpr auto look_every = std::chrono::milliseconds{10};
}  // namespace

applier::applier(journaled_stores& stores, applier_options options, fatal on_fatal, note on_note)
    : stores_(stores), options_(options), on_fatal_(std::move(on_fatal)), on_note_(std::move(on_note)) {
  for (std::size_t i = 0; i < stores_.size(); ++i) {
    stores_.at(i).on_pending([this] {
      if (work_.exchange(true)) return;
      const std::lock_guard lock(guard_);
      wake_.notify_all();
    });
  }
  work_ = true;  // what recovery has found
  applying_ = std::thread([this] { apply_forever(); });
  files_ = std::thread([this] { keep_files_ready(); });
  watching_ = std::thread([this] { watch(); });
}

applier::~applier() {
  {
    const std::lock_guard lock(guard_);
    ending_ = true;
  }
  wake_.notify_all();
  applying_.join();
  files_.join();
  watching_.join();
  for (std::size_t i = 0; i < stores_.size(); ++i) stores_.at(i).on_pending({});
}

void applier::end_with(const error& why) {
  stores_.log().fail(why);
  if (!told_.exchange(true)) on_fatal_(why);
}

/// False: the applier ends.
bool applier::pause(std::chrono::milliseconds how_long) {
  std::unique_lock lock(guard_);
  return !wake_.wait_for(lock, how_long, [this] { return ending_; });
}

/// An idle node has nothing to apply, and its thread sleeps. False: the applier ends.
bool applier::wait_for_work() {
  std::unique_lock lock(guard_);
  wake_.wait(lock, [this] { return ending_ || work_; });
  return !ending_;
}

bool applier::much_to_apply() const {
  for (std::size_t i = 0; i < stores_.size(); ++i) {
    const auto& one = stores_.at(i);
    if (one.unapplied_bytes() >= options_.bytes || one.unapplied_operations() >= options_.operations) return true;
  }
  return false;
}

void applier::apply_forever() {
  while (wait_for_work()) {
    work_ = false;
    for (auto waited = look_every; waited < options_.period && !much_to_apply(); waited += look_every) {
      if (!pause(look_every)) return;
    }
    for (std::size_t i = 0; i < stores_.size(); ++i) {
      if (auto applied = stores_.at(i).apply(); !applied) return end_with(applied.failure());
    }
  }
}

void applier::tell(const journal_usage& now) {
  if (now.crowded != std::exchange(crowded_, now.crowded) && on_note_) {
    on_note_(now.crowded, now.crowded ? "The disk of the journal has no room for another file. The journal goes on with the " +
                                            std::to_string(now.segments + now.staged) + " files that it has. Make room on the disk."
                                      : "The disk of the journal has room for another file again.");
  }
}

/// Tells of a write that does not end, and of a commit that waits for a file.
void applier::watch() {
  auto& log = stores_.log();
  journal_usage before;
  auto at_it = std::chrono::milliseconds{0}, waiting = at_it;
  const auto reached = [this](std::chrono::milliseconds since, std::chrono::milliseconds limit) {
    return since >= limit && since - options_.watch_period < limit;
  };
  while (pause(options_.watch_period)) {
    const auto now = log.get_usage();
    const bool same = now.begun > now.groups && now.begun == before.begun;
    at_it = same ? at_it + options_.watch_period : std::chrono::milliseconds{0};
    waiting = now.waits && now.groups == before.groups ? waiting + options_.watch_period : std::chrono::milliseconds{0};
    before = now;
    const auto seconds = [](std::chrono::milliseconds of) { return std::to_string(of.count() / 1'000) + " s"; };
    if (on_note_ && reached(at_it, options_.stall_told_after))
      on_note_(true, "A write to the journal has taken " + seconds(at_it) + ". Check the disk.");
    if (on_note_ && reached(waiting, options_.stall_told_after))
      on_note_(true, "Commits wait because the journal has no free file: make room on its disk, or raise journal.max_size.");
    if (at_it < options_.stall_fatal_after) continue;
    return end_with({v1::ERROR_CODE_DISK, "A write to the journal has not ended after " + seconds(at_it) + ".",
                     "Check the disk; start the node again."});
  }
}

void applier::keep_files_ready() {
  auto& log = stores_.log();
  auto groups = log.get_usage().groups;
  for (auto quiet = std::chrono::milliseconds{0}; pause(quiet < options_.seal_after ? options_.period : options_.seal_after);) {
    if (auto staged = log.stage(); !staged) return end_with(staged.failure());
    const auto now = log.get_usage();
    tell(now);
    quiet = now.groups == groups ? quiet + options_.period : std::chrono::milliseconds{0};
    groups = now.groups;
    if (quiet < options_.seal_after) continue;
    if (auto sealed = log.seal(); !sealed) return end_with(sealed.failure());
  }
}

}  // namespace fairlead::store
