#pragma once
// The node's log: one line an event, as text or as JSON. Every line is handed to the operating system before the call returns, so a kill -9
// loses none.

#include <memory>
#include <string>

#include "actors/protocol/ports.hpp"
#include "app/config/config.hpp"
#include "messages/error.hpp"

namespace fairlead::app {

/// Thread-safe. Text:
///   2026-03-29T01:00:00.250Z info    task 0195… step ship: pending -> running, attempt 1
///   2026-03-29T01:00:00.250Z warning agent payment: 127.0.0.1:7102 does not answer
/// JSON lines: time, level, component, and message, or task, step, from, to, attempt and detail of a transition.
class transition_log final : public observer {
 public:
  /// The error (disk) names a file that cannot be opened. A missing folder is created.
  static result<std::unique_ptr<transition_log>> open(const log_config& config);

  transition_log(const transition_log&) = delete;
  transition_log& operator=(const transition_log&) = delete;
  ~transition_log() override;

  void on_transition(const transition& what) override;
  bool wants_transitions() const override;
  void on_note(note_level level, std::string_view component, std::string_view sentence) override;

  /// Opens the file anew under its name, after it was renamed to rotate it. An error leaves the former one in use. Without a file: nothing.
  status reopen();

  /// Sets the level (`debug`, `info`, `warning`, `error`; empty: unchanged) and returns the former one. Error: an unknown level.
  result<std::string> set_level(const std::string& name);
  void set_level(note_level level);

 private:
  struct sink;
  explicit transition_log(std::unique_ptr<sink> to);
  std::unique_ptr<sink> sink_;
};

/// Sentence and remedy as the log shows them; some sentences end with a full stop.
std::string in_one_line(const error& why);

}  // namespace fairlead::app
