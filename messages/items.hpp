#pragma once
// The items of a step with `for_each`, as the step's record keeps them: one byte for each item that has begun.

#include <cstdint>
#include <string>
#include <vector>

#include "messages/task.pb.h"

namespace fairlead {

/// The bytes of Items.states. What an item's task has told its parent last.
enum class item_state : std::uint8_t {
  running = 1,
  parked = 2,  // it is running, and its task is parked
  completed = 3,
  failed = 4,       // nothing of it stands
  left_behind = 5,  // it has failed, and something that it has done stands or is in doubt
  to_begin = 6,     // again, or later
  not_begun = 7,    // its task was refused for good
  undoing = 8,
  undoing_parked = 9,  // as undoing, and its task is parked
  undone = 10,         // after it was completed, or had left something behind
  not_undone = 11,     // no further undo of it is tried until an operator acts
};

inline std::uint32_t begun_items(const v1::Items& items) { return static_cast<std::uint32_t>(items.states().size()); }
inline item_state item_state_of(const v1::Items& items, std::uint32_t item) { return static_cast<item_state>(items.states()[item]); }
inline void set_item_state(v1::Items& items, std::uint32_t item, item_state state) {
  (*items.mutable_states())[item] = static_cast<char>(state);
}
/// How often the item has begun: each time by another task.
inline unsigned item_round(const v1::Items& items, std::uint32_t item) { return static_cast<unsigned char>(items.rounds()[item]); }
inline void set_item_round(v1::Items& items, std::uint32_t item, unsigned round) {
  (*items.mutable_rounds())[item] = static_cast<char>(round);
}
/// An item that is in progress has a task that is known to its parent.
inline bool is_item_out(item_state state) {
  return state == item_state::running || state == item_state::parked || state == item_state::undoing || state == item_state::undoing_parked;
}

/// `PARENT/STEP~N.I`: the task by which the item has begun last, the Nth time.
inline std::string item_id(const v1::TaskRecord& record, const v1::StepRecord& step, std::uint32_t item) {
  return record.id() + "/" + step.path() + "~" + std::to_string(item_round(step.items(), item)) + "." + std::to_string(item + 1);
}

/// The ids of the tasks that carry the step out or undo it now, if there are any.
inline std::vector<std::string> children_out_of(const v1::TaskRecord& record, const v1::StepRecord& step) {
  if (!step.has_items()) return {step.child().id()};
  std::vector<std::string> out;
  for (std::uint32_t i = 0; i < begun_items(step.items()); ++i)
    if (is_item_out(item_state_of(step.items(), i))) out.push_back(item_id(record, step, i));
  return out;
}

}  // namespace fairlead
