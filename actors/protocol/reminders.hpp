#pragma once
// Which of an actor's delayed messages to itself are on their way. CAF cannot take one back, so an earlier one is sent besides the later; without
// a note of both, each would beget a successor for ever.

#include <algorithm>
#include <set>

#include "messages/time.hpp"

namespace fairlead {

/// Nobody tells when a wall clock is set: who waits for a moment of it looks at least this often, and notes by a steady clock when that will be.
/// Else a reminder for a clock that had fallen back by an hour would come an hour late, and would be taken for one that is on its way.
inline constexpr duration longest_wall_wait{1'000};

/// By the clock that delayed messages go by, which nobody sets.
template <class Actor>
moment mailbox_time(Actor& self) {
  return moment{std::chrono::duration_cast<duration>(self.clock().now().time_since_epoch())};
}

class reminders {
 public:
  /// Whether one for `when` has to be sent; it then counts as sent. One that comes before `when` will look again.
  bool wants(moment when) {
    if (!on_their_way_.empty() && *on_their_way_.begin() <= when) return false;
    on_their_way_.insert(when);
    return true;
  }

  /// One has come: the earliest of them.
  void fired() {
    if (!on_their_way_.empty()) on_their_way_.erase(on_their_way_.begin());
  }

 private:
  std::multiset<moment> on_their_way_;
};

/// Sends `message` to the actor itself at a moment of the wall clock, or earlier, so that it looks at the clock again; unless one is on its way that
/// comes no later.
template <class Actor, class Message>
void remind_at(moment when, const clock& wall, Actor& self, reminders& noted, Message message) {
  const auto wait = std::clamp(when - wall.now(), duration{0}, longest_wall_wait);
  if (noted.wants(mailbox_time(self) + wait)) self.delayed_send(&self, wait, message);
}

}  // namespace fairlead
