#include "store/journaled/applier.hpp"

#include <algorithm>
#include <utility>

namespace fairlead::store {

namespace {
// How often a thread with something to apply looks whether it is much.
constexpr auto look_every = std::chrono::milliseconds{10};
}  // namespace

applier::applier(journaled_stores& stores, applier_options options, fatal on_fatal)
    : stores_(stores), options_(options), on_fatal_(std::move(on_fatal)) {
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
}

applier::~applier() {
  {
    const std::lock_guard lock(guard_);
    ending_ = true;
  }
  wake_.notify_all();
  applying_.join();
  files_.join();
  for (std::size_t i = 0; i < stores_.size(); ++i) stores_.at(i).on_pending({});
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
      if (auto applied = stores_.at(i).apply(); !applied) return on_fatal_(applied.failure());
    }
  }
}

void applier::keep_files_ready() {
  auto& log = stores_.log();
  auto groups = log.get_usage().groups;
  for (auto quiet = std::chrono::milliseconds{0}; pause(quiet < options_.seal_after ? options_.period : options_.seal_after);) {
    if (auto staged = log.stage(); !staged) return on_fatal_(staged.failure());
    const auto now = log.get_usage().groups;
    quiet = now == groups ? quiet + options_.period : std::chrono::milliseconds{0};
    groups = now;
    if (quiet < options_.seal_after) continue;
    if (auto sealed = log.seal(); !sealed) return on_fatal_(sealed.failure());
  }
}

}  // namespace fairlead::store
