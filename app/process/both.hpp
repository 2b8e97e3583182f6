#pragma once
// Two observers as one: the log, and the listener of the program that the node runs in.

#include <string_view>

#include "actors/protocol/ports.hpp"

namespace fairlead::app {

/// Reports to both, which outlive it.
class both final : public observer {
 public:
  both(observer& log, observer& listener) : log_(log), listener_(listener) {}
  void on_transition(const transition& what) override {
    if (log_.wants_transitions()) log_.on_transition(what);
    if (listener_.wants_transitions()) listener_.on_transition(what);
  }
  bool wants_transitions() const override { return log_.wants_transitions() || listener_.wants_transitions(); }
  void on_note(note_level level, std::string_view component, std::string_view sentence) override {
    log_.on_note(level, component, sentence);
    listener_.on_note(level, component, sentence);
  }

 private:
  observer& log_;
  observer& listener_;
};

}  // namespace fairlead::app
