#pragma once
// A backend that lives with its host: it takes requests of its own on the host's thread, and says what is to become of the instance.

#include <optional>

#include "actors/agents/backend.hpp"
#include "messages/time.hpp"

namespace fairlead::agents {

class carried_backend : public backend {
 public:
  struct wish {
    bool drains = false;  // the instance takes no more attempts
    bool silent = false;  // nothing has been heard of whoever carries attempts out
    bool leaves = false;  // it ends with its last outcome, and the shards forget it
    bool ends = false;    // it ends at once, and may go on elsewhere
  };

  /// The host has dealt with a message, or the time of `next_wake` has come.
  virtual void caught_up() = 0;
  /// When to call `caught_up` at the latest; nullopt: with the next message.
  virtual std::optional<moment> next_wake() const = 0;
  virtual wish wants() const = 0;
  /// A shard knows a later process of the instance, or the same one at another node: this one must end.
  virtual void superseded() = 0;
};

}  // namespace fairlead::agents
