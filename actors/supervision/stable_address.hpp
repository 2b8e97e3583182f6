#pragma once
// An actor handle that stays the same however often the actor behind it is restarted. Messages go on at once, in the sender's thread and
// under the sender's name, so that answers go straight back. While there is no actor, messages wait for the next one.

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include <caf/all.hpp>

namespace fairlead {

class stable_address {
 public:
  /// `held_limit`: messages that wait while there is no actor; beyond it requests are answered with an error, and other messages are
  /// dropped.
  explicit stable_address(caf::actor_system& system, std::size_t held_limit = 100'000);
  ~stable_address();
  stable_address(const stable_address&) = delete;
  stable_address& operator=(const stable_address&) = delete;

  const caf::strong_actor_ptr& handle() const noexcept { return handle_; }
  template <class Handle>
  Handle as() const {
    return caf::actor_cast<Handle>(handle_);
  }

  /// The actor to which messages go from now on. Null: none at the moment.
  void lead_to(caf::strong_actor_ptr target);
  /// As of the constructor, from now on. What waits already stays.
  void hold_at_most(std::size_t held_limit);
  /// For ever: waiting and later messages are answered with an error or dropped. Monitors of the handle are notified.
  void close();

 private:
  caf::strong_actor_ptr handle_;
};

}  // namespace fairlead
