#pragma once
// The output of `fairlead dev`: one line for each event. Any thread may write; lines are never
// mixed.

#include <mutex>
#include <string>
#include <string_view>

#include "actors/protocol/ports.hpp"

namespace fairlead::app {

class dev_console final : public observer {
 public:
  void say(const std::string& line);

  /// `12:00:01.250  t1  charge  pending -> running, attempt 2`.
  void on_transition(const transition& what) override;
  /// Warnings and errors, and that a script steps aside for workers or answers again.
  void on_note(note_level level, std::string_view component, std::string_view sentence) override;

 private:
  std::mutex mutex_;
};

/// A transition as it is shown, without the time.
std::string transition_text(const transition& what);

}  // namespace fairlead::app
