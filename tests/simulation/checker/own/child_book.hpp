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
//   child_undone_unasked    no child that has ended is undone but with its parent's step, or at an operator's word once it has failed or its
//                     parent is undone
//   child_stands      nothing of a child is left where its parent is undone, but for what is passed over; a failed child says what stands
//   child_refused     a step has no child only where no such workflow is deployed, its levels are too many, or its input does not fit
//   child_input       a child has the input that its parent's step gives it
//   child_output      a completed step has the output of its child
//   child_archived    no child leaves the store before its parent
// and of the tasks of items (own/items.cpp), for which the above holds as well:
//   item_again        an item begins once under a number, and again only where it has failed
//   item_order        items begin in the order of their list
//   items_at_once     no more are in progress than the step says
//   item_after_failure    none begins after one has failed, unless the step says `collect`
//   item_differs      in each committed state the step knows of each item what its task says
//   item_doubt        an item in doubt does not count as failed
//   item_undone       undoing the step undoes what is completed or has left something behind, and nothing else
//   item_refused      an item has no task only where no such workflow is deployed, its levels are too many, its input does not fit, or as
//                     many tasks as there may be lived below the same task
//   item_list         the list is what the template gives, or what an operator has put in its place
//   item_input        the task of an item has the item, and the input that `with` gives over it
//   item_output       a completed step has the outputs of its items, in the order of the list

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "messages/task.pb.h"
#include "store/store.hpp"

namespace fairlead::simulation {

class shape;

/// No task has more above it.
inline constexpr std::uint32_t most_levels = 8;
inline constexpr std::uint64_t largest_family = 1'000;  // no run has so many tasks below one

struct child_book {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> of_step;  // by parent and step, ids in order
  std::set<std::string> deployed;      // workflows that steps could name before the commit that is looked at
  std::set<std::string> failed;        // items that had ended in vain before that commit,
  std::set<std::string> failed_now;    // or have in it
  std::set<std::string> ended_now;     // tasks that have ended in it, as far as it has been looked at
  std::set<std::string> undone_again;  // were undone in what was put back, and have been undone anew since
};

/// What has been seen of all children of a task.
struct family_view {
  bool has_any = false;
  bool has_parked = false;
  bool is_sure = true;  // no decision about any of them has crashed
};

/// What `PARENT/STEP~N` or `PARENT/STEP~N.ITEM` names; nullopt: it is the id of no child.
struct child_name {
  std::string parent;
  std::string step;
  std::uint32_t number = 0;
  std::uint32_t item = 0;  // index plus one; 0: the step has no list
};
std::optional<child_name> read_child_id(const std::string& id);
/// nullopt: it is not in the store.
std::optional<v1::TaskRecord> task_of(const store::snapshot& durable, const std::string& id);
/// Whatever the child does is to end, or has gone on too far for that.
bool gives_way(const v1::TaskRecord& child, const shape* plan);
/// The id of the task above it that carries out no step; its own, if it does not either.
std::string root_of(std::string id);

}  // namespace fairlead::simulation
