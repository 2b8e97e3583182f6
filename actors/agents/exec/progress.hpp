#pragma once
// The lines that a command writes to FAIRLEAD_PROGRESS_FD: {"percent":40,"note":"…","checkpoint":{…}}, one JSON object a line, every member
// optional.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "actors/agents/backend.hpp"

namespace fairlead::agents {

class progress_lines {
 public:
  static constexpr std::size_t longest_line = 65'536;
  static constexpr std::size_t longest_note = 500;

  /// Takes bytes as they come. Returns the progress in the complete lines, later lines over earlier ones; nullopt: nothing new. Lines that
  /// are no such object, or too long, count as broken and are otherwise ignored.
  std::optional<attempt_progress> take(std::string_view bytes);

  std::size_t broken() const { return broken_; }

 private:
  bool read_line(std::string_view line, attempt_progress& into);

  std::string unfinished_;
  bool skipping_ = false;  // the rest of a line that is too long
  std::size_t broken_ = 0;
};

}  // namespace fairlead::agents
