#pragma once
// Which of an actor's delayed messages to itself are on their way. CAF cannot take one back, so an earlier one is sent besides the later; without
// a note of both, each would beget a successor for ever.

#include <set>

#include "messages/time.hpp"

namespace fairlead {

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

}  // namespace fairlead
