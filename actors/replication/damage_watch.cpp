#include "actors/replication/damage_watch.hpp"

#include <cstdlib>
#include <limits>
#include <utility>

namespace fairlead {

namespace {

/// The log is not to fill.
constexpr std::size_t most_told = 64;

std::string joined(const std::string& sentence, const std::string& next) {
  return next.empty() ? sentence : sentence + (sentence.ends_with('.') ? " " : ". ") + next;
}

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
  tell_once(why.sentence, joined(why.sentence, has_others ? "The node asks the other nodes whether they go on without it." : why.remedy));
  if (has_others) take({why, std::numeric_limits<std::int64_t>::max(), true});
}

void damage_watch::differs(const error& why) { take({why, world_.now_unix_ms() + difference_counts_for_ms, false}); }

void damage_watch::take(finding what) {
  {
    const std::lock_guard lock{guard_};
    // Damage does not pass.
    if (!found_ || !found_->is_damage) found_ = std::move(what);
    if (std::exchange(begun_, true)) return;
  }
  world_.begin();
}

void damage_watch::look() {
  const auto now_unix_ms = world_.now_unix_ms();
  std::optional<finding> what;
  {
    const std::lock_guard lock{guard_};
    if (found_ && found_->until_unix_ms < now_unix_ms) found_.reset();
    what = found_;
  }
  if (declines_since_unix_ms_.has_value() != what.has_value()) {
    declines_since_unix_ms_ = what ? std::optional{now_unix_ms} : std::nullopt;
    world_.decline_leads(what.has_value());
  }
  if (!what || asks_) return;
  const auto turn = world_.turn();
  // The leaders have to know of it first.
  if (std::abs(now_unix_ms - *declines_since_unix_ms_) < turn.turn_ms / node_turn::election_timeouts) return;
  // Once a turn, and only where there is time for an answer.
  if (2 * turn.left_ms(now_unix_ms) <= turn.turn_ms || (asked_unix_ms_ && std::abs(now_unix_ms - *asked_unix_ms_) < turn.turn_ms)) return;
  asked_unix_ms_ = now_unix_ms;
  asks_ = true;
  world_.ask_others([this, why = *what](const status& may) { answered(why, may); });
}

void damage_watch::answered(const finding& what, const status& may) {
  asks_ = false;
  if (may.ok() && world_.turn().left_ms(world_.now_unix_ms()) > 0) return world_.end(what.why);
  if (may.ok()) return;
  const auto& why = may.failure();
  tell_once(why.sentence, joined(what.why.sentence, "The node goes on with it, and leads no shard that another node can lead: " +
                                                        joined(why.sentence, why.remedy)));
}

void damage_watch::tell_once(const std::string& key, const std::string& sentence) {
  {
    const std::lock_guard lock{guard_};
    if (told_.size() >= most_told || !told_.insert(key).second) return;
  }
  world_.tell(sentence);
}

}  // namespace fairlead
