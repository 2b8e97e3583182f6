#pragma once
// The console's actor: runs commands and watches on a thread of its own, so that the thread of the keyboard is never held up by a node.
//
// It lives in the actor system that the clients of the process share. What it is told: run this; complete that; stop.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <future>
#include <memory>
#include <string>

#include "app/console/session.hpp"

namespace fairlead::app {

/// What the actor and the keyboard's thread both look at.
struct console_shared {
  std::atomic<bool> stop{false};       // the command that runs should end
  std::atomic<bool> watching{false};   // it is a watch
  std::atomic<bool> abandoned{false};  // nobody waits for it any more: what it says is for nobody
};

class console_actor {
 public:
  /// `terminal`: what is watched is drawn over itself. Otherwise a watch must say how many times it looks.
  struct screen {
    bool drawn = false;
    bool endless = false;  // somebody is there to end a watch
    bool json = false;
  };

  console_actor(console_settings settings, screen where);
  /// Waits for a command that runs.
  ~console_actor();
  console_actor(const console_actor&) = delete;
  console_actor& operator=(const console_actor&) = delete;

  /// One at a time.
  std::future<console_outcome> run(console_words words);
  /// What is known within `limit`; none when the actor is busy.
  console_candidates complete(const std::string& text, std::chrono::milliseconds limit);
  /// The command that runs should end.
  void stop();
  /// It may end when it wants: nothing of it is heard any more, and no other is run.
  void abandon();
  bool watching() const { return shared_->watching.load(); }

 private:
  struct cell;
  std::shared_ptr<console_shared> shared_ = std::make_shared<console_shared>();
  std::unique_ptr<cell> cell_;
};

}  // namespace fairlead::app
