#pragma once
// What a checker keeps of tasks that carry out steps of others (own/children.cpp). `child`: such a task; `parent`: the task of the step.
//
// Rules:
//   child_id          a child has the id, the level, the workflow, the deadline and what it inherits as its parent's step says
//   child_again       a step has one child at a time, and another one only after the one before has ended in vain and at an operator's word
//   child_differs     in each committed state a step and its child say the same: who lives, who has completed, who is parked
//   child_alone       a child has a parent in the store as long as it has not ended, and a step that waits for its child has one
//   end_before_child  no task ends while a child of it lives
//   not_cancelled     who is undone has its living children cancelled
//   child_undone_unasked    no child that has ended is undone but with its parent's step, or, where it has failed, at an operator's word
//   child_stands      nothing of a child is left where its parent is undone, but for what is passed over; a failed child says what stands
//   child_refused     a step has no child only where no such workflow is deployed, its levels are too many, or its input does not fit
//   child_input       a child has the input that its parent's step gives it
//   child_output      a completed step has the output of its child
//   child_archived    no child leaves the store before its parent

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::simulation {

struct child_book {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> of_step;  // by parent and step, ids in order
  std::set<std::string> deployed;  // workflows that steps could name before the commit that is looked at
};

/// What `PARENT/STEP~N` names; nullopt: it is the id of no child.
struct child_name {
  std::string parent;
  std::string step;
  std::uint32_t number = 0;
};
std::optional<child_name> read_child_id(const std::string& id);
/// The id of the task above it that carries out no step; its own, if it does not either.
std::string root_of(std::string id);

}  // namespace fairlead::simulation
