#include "store/journaled/applier.hpp"

#include <algorithm>
#include <utility>

namespace fairlead::store {

namespace {
// How often a thread with something to apply looks whether it is much.
constexpr auto look_every = std::chrono::milliseconds{10};

/// How long something has stood still, counted by looks.
class stand_still {
 public:
  explicit stand_still(std::chrono::milliseconds period) : period_(period) {}
  /// At each look: whether it stands as it did at the look before.
  std::chrono::milliseconds look(bool stands) { return since_ = stands ? since_ + period_ : std::chrono::milliseconds{0}; }
  /// This look is the first one after so long.
  bool reached(std::chrono::milliseconds limit) const { return since_ >= limit && since_ - period_ < limit; }

 private:
  const std::chrono::milliseconds period_;
  std::chrono::milliseconds since_{0};
};

std::string in_seconds(std::chrono::milliseconds of) { return std::to_string(of.count() / 1'000) + " s"; }

}  // namespace

applier::applier(journaled_stores& stores, applier_options options, fatal on_fatal, note on_note, fatal on_hung)
    : stores_(stores), options_(options), on_fatal_(std::move(on_fatal)), on_note_(std::move(on_note)), on_hung_(std::move(on_hung)) {
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
  stores_.log().end_staging();
  wake_.notify_all();
  applying_.join();
  files_.join();
  watching_.join();
  if (speaker_.joinable()) speaker_.join();
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
    // Generations that have their greatest size do not wait for another period. The shards take turns.
    for (bool more = true; more && pause(std::chrono::milliseconds{0});) {
      more = false;
      for (std::size_t i = 0; i < stores_.size(); ++i) {
        auto& store = stores_.at(i);
        ++applies_begun_;
        if (auto applied = store.apply(); !applied) return end_with(applied.failure());
        ++applies_ended_;
        more = more || store.unapplied_generations() > 1;
        if (store.unapplied_generations() > 0) work_ = true;
      }
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

/// Says something without waiting for it: the log may be on the disk that hangs. What cannot be said because something else is still being
/// said is left out. Only the thread that watches calls it.
void applier::say(std::function<void()> what) {
  if (speaking_.exchange(true)) return;
  if (speaker_.joinable()) speaker_.join();
  speaker_ = std::thread([this, what = std::move(what)] {
    what();
    speaking_ = false;
  });
}

void applier::end_hung(const error& why) {
  stores_.log().fail(why);
  if (told_.exchange(true)) return;
  // A warning may be on its way.
  for (auto waited = look_every; speaking_ && waited < options_.last_word_within && pause(look_every);) waited += look_every;
  say([this, why] { on_fatal_(why); });
  if (pause(options_.last_word_within) && on_hung_) on_hung_(why);
}

/// Tells of work on the disk that does not end, and of a commit that waits for a file.
void applier::watch() {
  auto& log = stores_.log();
  journal_usage before;
  std::uint64_t applies_before = 0;
  stand_still write(options_.watch_period), files(options_.watch_period), applies(options_.watch_period), waits(options_.watch_period);
  const auto warn = [this](std::string sentence) {
    if (on_note_) say([this, sentence = std::move(sentence)] { on_note_(true, sentence); });
  };
  using limit = std::chrono::milliseconds;
  const auto stalled = [&](const stand_still& it, const char* what, limit told_after, limit fatal_after) {
    if (it.reached(told_after)) warn(std::string(what) + " has taken " + in_seconds(told_after) + ". Check the disk.");
    if (!it.reached(fatal_after)) return false;
    end_hung({v1::ERROR_CODE_DISK, std::string(what) + " has not ended after " + in_seconds(fatal_after) + ".",
              "Check the disk; start the node again."});
    return true;
  };
  while (pause(options_.watch_period)) {
    const auto now = log.get_usage();
    write.look(now.begun > now.groups && now.begun == before.begun);
    files.look(now.file_steps_begun > now.file_steps_ended && now.file_steps_begun == before.file_steps_begun &&
               now.file_steps_ended == before.file_steps_ended);
    waits.look(now.waits && now.groups == before.groups);
    const auto applies_now = applies_begun_.load();
    applies.look(applies_now > applies_ended_ && applies_now == applies_before);
    applies_before = applies_now;
    before = now;
    if (waits.reached(options_.stall_told_after))
      warn("Commits wait because the journal has no free file" +
           (now.kept_by ? ", and shard " + std::to_string(*now.kept_by) + " needs the oldest one" : std::string{}) +
           ": make room on its disk, or raise journal.max_size.");
    if (stalled(write, "A write to the journal", options_.stall_told_after, options_.stall_fatal_after) ||
        stalled(files, "Work on a file of the journal", options_.stall_told_after, options_.stall_fatal_after) ||
        stalled(applies, "A write to a store", options_.apply_told_after, options_.apply_fatal_after))
      return;
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
