#pragma once
// Turns the end of a command into the end of its attempt.

#include <cstdint>
#include <string>

#include "actors/agents/exec/command.hpp"
#include "actors/agents/exec/order.hpp"

namespace fairlead::agents {

/// A secret has at most 64 KiB, twice that in hexadecimal.
inline constexpr std::size_t longest_secret_spelling = std::size_t{128} << 10;

struct exec_ending {
  enum class kind {
    not_started,  // `stage` and the errno in `value` give the reason; nothing ran
    exited,       // `value` is the exit code
    signalled,    // `value` is the signal
    too_large,    // ended for writing more than max_output
    timed_out,    // ended at its deadline
    lost,         // its shepherd was gone before it reported the end
  };
  kind how = kind::lost;
  start_stage stage = start_stage::none;
  int value = 0;
  bool asked = false;  // SIGTERM had been sent because its time was running out
  std::string output;
  std::string errors;  // the end of stderr
  bool errors_cut = false;
  std::size_t broken_progress = 0;
};

/// The end of a command's stderr, on one line, without secrets and control characters.
std::string last_words(const exec_ending& ending, const secrets* known);

/// `known` may be null.
attempt_result conclude(const prepared_command& command, v1::Direction direction, bool calls_back, exec_ending ending,
                        const secrets* known);

}  // namespace fairlead::agents
