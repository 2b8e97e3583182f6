#pragma once
// An actor handle that stays the same however often the actor behind it is started again. What comes in goes on at once, in the sender's
// thread and under the sender's name, so that the answer goes straight back; what comes while nobody is there waits for the next one.

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include <caf/all.hpp>

namespace fairlead {

class stable_address {
 public:
  /// `held_limit`: messages that wait while nobody is there; beyond it a request is answered with an error and another message is dropped.
  explicit stable_address(caf::actor_system& system, std::size_t held_limit = 100'000);
  ~stable_address();
  stable_address(const stable_address&) = delete;
  stable_address& operator=(const stable_address&) = delete;

  const caf::strong_actor_ptr& handle() const noexcept { return handle_; }
  template <class Handle>
  Handle as() const {
    return caf::actor_cast<Handle>(handle_);
  }

  /// Where it leads from now on. Null: nobody is there for the moment.
  void lead_to(caf::strong_actor_ptr target);
  /// For ever: what waits and what still comes is answered or dropped. Whoever monitors the handle is told.
  void close();

 private:
  caf::strong_actor_ptr handle_;
};

}  // namespace fairlead
