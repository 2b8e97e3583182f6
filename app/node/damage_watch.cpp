#include "app/node/damage_watch.hpp"

#include <chrono>
#include <cstdlib>
#include <limits>
#include <utility>

#include "app/process/logging.hpp"

namespace fairlead::app {

namespace {

constexpr std::chrono::milliseconds look_every{100};
/// Its log is not to fill.
constexpr std::size_t most_told = 64;

}  // namespace

std::int64_t node_turn::left_ms(std::int64_t now_unix_ms) const {
  const auto begin_ms = static_cast<std::int64_t>(place) * turn_ms;
  const auto in_round_ms = now_unix_ms % (static_cast<std::int64_t>(count) * turn_ms);
  return in_round_ms >= begin_ms && in_round_ms < begin_ms + turn_ms ? begin_ms + turn_ms - in_round_ms : 0;
}

void damage_watch::damaged(const error& why) {
  {
    // It may be read again and again.
    const std::lock_guard lock{guard_};
    if (found_ && found_->is_damage && told_.count(why.sentence) != 0) return;
  }
  const bool has_others = world_.has_others();
  tell_once(why.sentence, has_others ? in_one_line({why.code, why.sentence, "The node asks the other nodes whether they go on without it."})
                                     : in_one_line(why));
  if (has_others) take({why, std::numeric_limits<std::int64_t>::max(), true});
}

void damage_watch::differs(const error& why) { take({why, world_.now_unix_ms() + difference_counts_for_ms, false}); }

void damage_watch::take(finding what) {
  const std::lock_guard lock{guard_};
  if (stopped_) return;
  // Damage does not pass.
  if (!found_ || !found_->is_damage) found_ = std::move(what);
  if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

void damage_watch::stop() {
  {
    const std::lock_guard lock{guard_};
    stopped_ = true;
    thread_.request_stop();
  }
  if (thread_.joinable()) thread_.join();
}

void damage_watch::watch(const std::stop_token& stop) {
  std::int64_t asked_unix_ms = 0;
  bool declines = false;
  while (!stop.stop_requested()) {
    std::optional<finding> what;
    {
      std::unique_lock lock{guard_};
      stops_.wait_for(lock, stop, look_every, [] { return false; });
      if (found_ && found_->until_unix_ms < world_.now_unix_ms()) found_.reset();
      what = found_;
    }
    if (stop.stop_requested()) return;
    if (std::exchange(declines, what.has_value()) != what.has_value()) world_.decline_leads(declines);
    if (!what) continue;
    // Once a turn, and only where there is time for an answer.
    const auto turn = world_.turn();
    const auto now_unix_ms = world_.now_unix_ms();
    if (2 * turn.left_ms(now_unix_ms) <= turn.turn_ms || std::abs(now_unix_ms - asked_unix_ms) < turn.turn_ms) continue;
    asked_unix_ms = now_unix_ms;
    look(*what);
  }
}

void damage_watch::look(const finding& what) {
  const auto can = world_.can_begin_anew();
  if (can.ok() && world_.turn().left_ms(world_.now_unix_ms()) > 0) return world_.end(what.why);
  if (can.ok()) return;
  tell_once(can.failure().sentence,
            in_one_line({what.why.code, what.why.sentence,
                         "The node goes on with it, and leads no shard that another node can lead: " + in_one_line(can.failure())}));
}

void damage_watch::tell_once(const std::string& key, const std::string& sentence) {
  {
    const std::lock_guard lock{guard_};
    if (told_.size() >= most_told || !told_.insert(key).second) return;
  }
  world_.tell(sentence);
}

}  // namespace fairlead::app
