#include "actors/supervision/stable_address.hpp"

#include <atomic>
#include <utility>

namespace fairlead {

namespace {

/// An actor without mailbox and thread: it works in `enqueue`, in the sender's thread, and has nothing that could crash.
class address_proxy final : public caf::monitorable_actor {
 public:
  address_proxy(caf::actor_config& cfg, std::size_t held_limit) : monitorable_actor(cfg), held_limit_(held_limit) {}

  const char* name() const override { return "stable_address"; }

  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit* host) override {
    // Exit and down messages are for actors that end or watch. This actor does neither, and senders must not end the actor behind it.
    if (what->content().match_elements<caf::exit_msg>() || what->content().match_elements<caf::down_msg>()) return;
    caf::strong_actor_ptr target;
    bool is_full = false;
    {
      const std::lock_guard lock{guard_};
      is_full = !closed_ && !target_ && held_.size() >= held_limit_;
      if (!closed_ && !target_ && !is_full) {
        held_.push_back(std::move(what));
        return;
      }
      target = target_;
    }
    if (target) {
      target->enqueue(std::move(what), host);
    } else if (!is_full) {
      bounce(what, caf::exit_reason::user_shutdown);
    } else if (what->mid.is_request() && what->sender) {
      what->sender->enqueue(nullptr, what->mid.response_id(), caf::make_message(full()), host);
    }
  }

  void lead_to(caf::strong_actor_ptr target) {
    const std::lock_guard leading{leading_};
    {
      const std::lock_guard lock{guard_};
      if (closed_) return;
      target_ = nullptr;
    }
    if (!target) return;
    // During the hand-over senders still append to the waiting messages, which keeps each sender's order; they go straight only once
    // nothing waits.
    for (int round = 0;; ++round) {
      std::unique_lock lock{guard_};
      if (held_.empty()) {
        target_ = target;
        break;
      }
      auto batch = std::exchange(held_, {});
      // Senders that are faster than this loop would keep it here for ever: in the end they wait.
      if (round < 16) lock.unlock();
      for (auto& one : batch) target->enqueue(std::move(one), nullptr);
    }
    // Requests between the actor's end and the guardian's notice are kept, too.
    target->get()->attach_functor([self = caf::weak_actor_ptr{ctrl()}, gone = target->id()] {
      if (const auto proxy = self.lock()) static_cast<address_proxy*>(proxy->get())->lost(gone);
    });
  }

  void hold_at_most(std::size_t held_limit) { held_limit_ = held_limit; }

  void close() {
    const std::lock_guard leading{leading_};
    std::deque<caf::mailbox_element_ptr> rest;
    {
      const std::lock_guard lock{guard_};
      if (std::exchange(closed_, true)) return;
      target_ = nullptr;
      rest = std::exchange(held_, {});
    }
    for (auto& one : rest) bounce(one, caf::exit_reason::user_shutdown);
    cleanup(caf::exit_reason::user_shutdown, nullptr);
  }

  void on_destroy() override {
    if (!getf(is_cleaned_up_flag)) cleanup(caf::exit_reason::unreachable, nullptr);
    monitorable_actor::on_destroy();
  }

 private:
  caf::error full() const {
    return caf::make_error(caf::sec::runtime_error,
                           held_limit_ == 0 ? "it does not run here at the moment"
                                            : "it is being restarted, and " + std::to_string(held_limit_) + " messages wait already");
  }

  void lost(caf::actor_id gone) {
    const std::lock_guard lock{guard_};
    if (target_ && target_->id() == gone) target_ = nullptr;
  }

  std::atomic<std::size_t> held_limit_;
  std::mutex leading_;  // one change of direction at a time; taken before `guard_`
  std::mutex guard_;
  caf::strong_actor_ptr target_;
  std::deque<caf::mailbox_element_ptr> held_;
  bool closed_ = false;
};

address_proxy& proxy_of(const caf::strong_actor_ptr& handle) { return *static_cast<address_proxy*>(handle->get()); }

}  // namespace

stable_address::stable_address(caf::actor_system& system, std::size_t held_limit) {
  caf::actor_config config;
  handle_ = caf::actor_cast<caf::strong_actor_ptr>(
      caf::make_actor<address_proxy, caf::actor>(system.next_actor_id(), system.node(), &system, config, held_limit));
  // Other nodes find a sent or published actor by its id in the registry. The id leaves the registry when the address is closed.
  system.registry().put(handle_->id(), handle_);
}

stable_address::~stable_address() { close(); }

void stable_address::lead_to(caf::strong_actor_ptr target) { proxy_of(handle_).lead_to(std::move(target)); }

void stable_address::hold_at_most(std::size_t held_limit) { proxy_of(handle_).hold_at_most(held_limit); }

void stable_address::close() { proxy_of(handle_).close(); }

}  // namespace fairlead
