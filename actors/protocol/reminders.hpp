#pragma once
// An actor's delayed messages to itself that are on their way. CAF cannot cancel a delayed message, so an earlier one is sent in addition
// to the later. Without a note of both, each would start an endless chain of its own.

#include <algorithm>
#include <set>

#include "messages/time.hpp"

namespace fairlead {

/// The wall clock may be set without notice. So an actor that waits for a moment of it checks at least this often, by the steady clock.
/// Otherwise, after the clock fell back by an hour, a reminder would come an hour late and meanwhile count as on its way.
inline constexpr duration longest_wall_wait{1'000};

/// The clock of delayed messages, which nobody sets.
template <class Actor>
moment mailbox_time(Actor& self) {
  return moment{std::chrono::duration_cast<duration>(self.clock().now().time_since_epoch())};
}

class reminders {
 public:
  /// Whether a reminder for `when` must be sent; it then counts as sent. A reminder before `when` will check again.
  bool wants(moment when) {
    if (!on_their_way_.empty() && *on_their_way_.begin() <= when) return false;
    on_their_way_.insert(when);
    return true;
  }

  /// The earliest reminder has come.
  void fired() {
    if (!on_their_way_.empty()) on_their_way_.erase(on_their_way_.begin());
  }

 private:
  std::multiset<moment> on_their_way_;
};

/// Sends `message` to the actor itself at a moment of the wall clock, or earlier to check the clock again; not if a reminder that comes no
/// later is on its way.
template <class Actor, class Message>
void remind_at(moment when, const clock& wall, Actor& self, reminders& noted, Message message) {
  const auto wait = std::clamp(when - wall.now(), duration{0}, longest_wall_wait);
  if (noted.wants(mailbox_time(self) + wait)) self.delayed_send(&self, wait, message);
}

}  // namespace fairlead
