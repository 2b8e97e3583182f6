#include "actors/scheduler/commit/store_watch.hpp"

#include <algorithm>
#include <utility>

namespace fairlead {

namespace {

// The alert is resolved only this far below full: usage goes up and down with running tasks.
constexpr std::uint64_t calm_percent = 5;

}  // namespace

void store_watch::runs(std::uint64_t task, std::uint64_t input_bytes) {
  if (running_.insert(task).second) input_bytes_ += input_bytes;
}

void store_watch::runs_no_more(std::uint64_t task, std::uint64_t input_bytes) {
  if (running_.erase(task) != 0) input_bytes_ -= std::min(input_bytes_, input_bytes);
}

// Running tasks will still write inputs and outputs of their steps.
std::uint64_t store_watch::reserved_bytes() const { return 2 * input_bytes_; }

bool store_watch::full() const { return room().percent() >= full_percent_; }

error store_watch::refusal() const {
  return {v1::ERROR_CODE_STORE_FULL, "new tasks are refused because " + room().sentence(),
          "raise store.max_size or shorten retention.archive_after; running tasks go on"};
}

status store_watch::look() {
  auto& counts = batches_.counts();
  if (counts.full_alert() == 0 && !full()) return nothing{};
  batches_.look_at_usage();
  const auto percent = room().percent();
  if (counts.full_alert() == 0) {
    if (percent >= full_percent_) tell();
    return nothing{};
  }
  if (percent + calm_percent > full_percent_) return nothing{};
  auto resolved = alerts_.resolve(counts.full_alert(), batches_.page(), batches_.committed());
  counts.set_full_alert(0);
  return resolved;
}

void store_watch::tell() {
  auto& counts = batches_.counts();
  if (counts.full_alert() != 0) return;
  const auto why = refusal();
  v1::AlertRecord draft;
  draft.set_kind(v1::ALERT_KIND_STORE_FULL);
  // The alert stays until the store is well below that, while tasks come and go.
  draft.set_sentence("the store became " + std::to_string(room().percent()) + " % full (" + room().figures() +
                     "); new tasks are refused while it is " + std::to_string(full_percent_) + " % full or more");
  draft.set_remedy(why.remedy + "; fairlead status shows the store");
  counts.set_full_alert(alerts_.raise(std::move(draft), batches_.page()));
  log_.on_note(note_level::warning, "scheduler", why.sentence);
}

}  // namespace fairlead
