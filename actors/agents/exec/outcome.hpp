#pragma once
// From the end of a command to the end of its attempt.

#include <cstdint>
#include <string>

#include "actors/agents/exec/command.hpp"
#include "actors/agents/exec/order.hpp"

namespace fairlead::agents {

/// A secret has at most 64 KiB, and twice that when it is spelled in hexadecimal.
inline constexpr std::size_t longest_secret_spelling = std::size_t{128} << 10;

struct exec_ending {
  enum class kind {
    not_started,  // `stage` and the errno in `value` say why; nothing ran
    exited,       // `value` is the exit code
    signalled,    // `value` is the signal
    too_large,    // ended for writing more than max_output
    timed_out,    // ended because its time was up
    lost,         // its shepherd was gone before it said how it ended
  };
  kind how = kind::lost;
  start_stage stage = start_stage::none;
  int value = 0;
  bool asked = false;  // SIGTERM had been sent, for its time was running out
  std::string output;
  std::string errors;  // the last of stderr
  bool errors_cut = false;
  std::size_t broken_progress = 0;
};

/// What a command wrote to stderr last, on one line, without secrets and control characters.
std::string last_words(const exec_ending& ending, const secrets* known);

/// `known` may be null.
attempt_result conclude(const prepared_command& command, v1::Direction direction, exec_ending ending, const secrets* known);

}  // namespace fairlead::agents
