#pragma once
// What a run shows: by the ledger of the services, what the tasks say of themselves, and nothing else.

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "app/simulate/world.hpp"

namespace fairlead::app::simulate {

enum class finding_kind {
  twice,         // the effect of a step is there twice, or was made twice under one key
  undone_twice,  // a step was undone twice
  standing,      // the task is undone, and the effect of a step with an undo is there
  pivot_undone,  // the task is undone although its pivot has happened
  missing,       // a step is completed without an effect
  key_expired,   // a step waits for an operator because its service honours the key no longer
  undo_unknown,  // an undo waits for an operator because it needs an output that nobody knows
  stalled,       // the task has no end, and nobody is asked to do anything about it; of no step and no call
};
const char* word_of(finding_kind kind);

struct finding {
  finding_kind kind = finding_kind::twice;
  std::string workflow, step;
  std::string agent, call;  // whose contract it is
  bool of_item = false;     // of a step with `for_each`

  friend auto operator<=>(const finding&, const finding&) = default;
};

std::vector<finding> judge(const stage& on, const run_end& run);

/// Steps that say `undo: none`, and whose effect is there although the task is undone.
std::vector<std::string> left_as_said(const stage& on, const run_end& run);

/// What it is, and what to do about it, with the contract that is played.
std::string sentence_of(const finding& what, const contract& promised);
std::string remedy_of(const finding& what, const contract& promised);

}  // namespace fairlead::app::simulate
