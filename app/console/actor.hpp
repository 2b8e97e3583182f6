#pragma once
// The console's actor. The actor runs commands and watches on a thread of its own, so that a slow
// node never blocks the keyboard's thread.
//
// The actor uses the actor system that the clients of the process share. Its messages: run a
// command, stop the command, repeat a watch, complete a word.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <future>
#include <memory>
#include <string>

#include "app/console/session.hpp"

namespace fairlead::app {

/// State that the actor and the keyboard's thread share.
struct console_shared {
  std::atomic<bool> stop{false};       // the current command should end
  std::atomic<bool> watching{false};   // the current command is a watch
  std::atomic<bool> abandoned{false};  // the console does not wait for the command any longer; its output is dropped
};

class console_actor {
 public:
  /// `drawn`: each repetition of a watch overwrites the one before. Without `endless` a watch needs
  /// `--times`.
  struct screen {
    bool drawn = false;
    bool endless = false;  // an operator can end a watch
    bool json = false;
  };

  console_actor(console_settings settings, screen where);
  /// Waits until the current command has ended.
  ~console_actor();
  console_actor(const console_actor&) = delete;
  console_actor& operator=(const console_actor&) = delete;

  /// Only one command at a time.
  std::future<console_outcome> run(console_words words);
  /// The candidates that are known within `limit`; none if the actor is busy.
  console_candidates complete(const std::string& text, std::chrono::milliseconds limit);
  /// Asks the current command to end.
  void stop();
  /// Does not wait for the command any longer: its output is dropped, and the actor runs no other
  /// command.
  void abandon();
  bool watching() const { return shared_->watching.load(); }

 private:
  struct cell;
  std::shared_ptr<console_shared> shared_ = std::make_shared<console_shared>();
  std::unique_ptr<cell> cell_;
};

}  // namespace fairlead::app
