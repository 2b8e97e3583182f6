#include "actors/shard/leadership.hpp"

#include <chrono>
#include <memory>
#include <mutex>
#include <utility>

namespace fairlead {

namespace {

constexpr std::chrono::milliseconds try_again_after{50};

/// Told on the guardian's thread, read by the actor once the guardian has answered.
struct started_branch {
  std::mutex guard;
  caf::strong_actor_ptr handle;
};

class leadership {
 public:
  leadership(supervised_pointer<leadership_actor> self, leadership_setup setup) : self_(self), setup_(std::move(setup)) {
    self_->set_down_handler([this](const caf::down_msg& gone) { ended(gone); });
  }

  void lead(bool now) {
    wanted_ = now;
    if (!wanted_) setup_.on_stop();
    outdated_ = outdated_ || (!wanted_ && starts_);
    if (!wanted_ && branch_) stop();
    ensure();
  }

  void ensure() {
    if (!wanted_ || branch_ || std::exchange(starts_, true)) return;
    const auto started = std::make_shared<started_branch>();
    auto child = setup_.branch([started](caf::strong_actor_ptr who) {
      const std::lock_guard lock(started->guard);
      started->handle = std::move(who);
    });
    self_->request(setup_.where(), caf::infinite, add_child{std::move(child)})
        .then([this, started](const std::string& problem) { began(problem, *started); },
              [this](const caf::error&) { starts_ = false; });  // the shard's guardian ends
  }

 private:
  void began(const std::string& problem, started_branch& started) {
    starts_ = false;
    {
      const std::lock_guard lock(started.guard);
      branch_ = std::exchange(started.handle, nullptr);
    }
    if (branch_) self_->monitor(branch_->address());
    stops_ = false;
    if (!problem.empty()) {
      branch_ = nullptr;
      outdated_ = false;
      // That of the last time may still be ending.
      self_->delayed_send(self_, try_again_after, link_atom_v);
    } else if (std::exchange(outdated_, false) || !wanted_) {
      // It may have begun under an epoch that is over.
      setup_.on_stop();
      stop();
    }
  }

  void stop() {
    stops_ = true;
    caf::anon_send_exit(branch_, caf::exit_reason::user_shutdown);
  }

  void ended(const caf::down_msg& gone) {
    if (!branch_ || branch_->address() != gone.source) return;
    branch_ = nullptr;
    // A part of it that took too long to end was killed, and all of it has ended.
    const bool in_order =
        stops_ || !gone.reason || gone.reason == caf::exit_reason::user_shutdown || gone.reason == caf::exit_reason::normal;
    if (!in_order) {
      setup_.on_fatal({v1::ERROR_CODE_INTERNAL,
                       "what runs where the shard is led has given up: " + reason_text(self_->system(), gone.reason),
                       "Read the node's log for the cause, correct it, and start the node again."});
      return;
    }
    ensure();
  }

  supervised_pointer<leadership_actor> self_;
  leadership_setup setup_;
  bool wanted_ = false;
  bool starts_ = false;
  bool outdated_ = false;         // this replica has stopped leading while the branch was started
  caf::strong_actor_ptr branch_;  // running, or ending
  bool stops_ = false;            // it was told to end
};

}  // namespace

leadership_actor::behavior_type run_leadership(supervised_pointer<leadership_actor> self, leadership_setup setup) {
  end_on_bug(self, "leadership");
  const auto it = std::make_shared<leadership>(self, std::move(setup));
  return {
      [it](lead_atom, bool now) { it->lead(now); },
      [it](link_atom) { it->ensure(); },
  };
}

}  // namespace fairlead
