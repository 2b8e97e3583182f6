#pragma once
// The base of every actor of a node: it is part of the supervision tree, counts its messages, and can be made to crash by a drill.
//
// A guardian starts a child inside a `placement`; an actor constructed there takes the child's gauge. An actor constructed anywhere else is
// in no tree, and `outside_actors` counts it while it lives: there must be none.

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>

#include <caf/all.hpp>

namespace fairlead {

/// Figures of one actor. Written by its own thread, read by any.
struct actor_gauge {
  std::atomic<std::uint64_t> handled{0};
  std::atomic<std::uint64_t> mailbox{0};  // waiting messages when it last took one
  std::atomic<bool> crash_next{false};    // set by a drill alone: the next message throws
};

/// The exception that a drill plants.
class planted_crash : public std::runtime_error {
 public:
  planted_crash() : std::runtime_error("an exception that a drill has planted") {}
};

/// Number of living supervised actors that no guardian has started.
std::atomic<std::int64_t>& outside_actors();

/// While a placement lives, actors that this thread constructs take `gauge`.
class placement {
 public:
  explicit placement(std::shared_ptr<actor_gauge> gauge);
  ~placement();
  placement(const placement&) = delete;
  placement& operator=(const placement&) = delete;

  static std::shared_ptr<actor_gauge> current();

 private:
  std::shared_ptr<actor_gauge> outer_;
};

template <class Base>
class supervised : public Base {
 public:
  template <class... Ts>
  explicit supervised(caf::actor_config& cfg, Ts&&... xs) : Base(cfg, std::forward<Ts>(xs)...), gauge_(placement::current()) {
    if (!gauge_) outside_actors().fetch_add(1);
    // CAF would print unexpected messages, and a peer may send anything. A request is answered with unexpected_message.
    this->set_default_handler(caf::drop);
  }
  ~supervised() override {
    if (!gauge_) outside_actors().fetch_sub(1);
  }

  caf::invoke_message_result consume(caf::mailbox_element& x) override {
    if (gauge_) {
      gauge_->handled.fetch_add(1, std::memory_order_relaxed);
      gauge_->mailbox.store(this->mailbox().size(), std::memory_order_relaxed);
      if (gauge_->crash_next.load(std::memory_order_relaxed) && gauge_->crash_next.exchange(false)) {
        this->current_mailbox_element(&x);  // the sender that CAF answers when a handler throws
        throw planted_crash{};
      }
    }
    return Base::consume(x);
  }

 private:
  std::shared_ptr<actor_gauge> gauge_;
};

/// The `self` of a function that is spawned as an actor with the handle `Handle`, without and with a state.
template <class Handle>
using supervised_pointer = supervised<typename Handle::base>*;
template <class Handle, class State>
using supervised_stateful_pointer = caf::stateful_actor<State, supervised<typename Handle::base>>*;

}  // namespace fairlead
