#pragma once
// What a task that has failed leaves behind: which steps stand, which are undone, and which are in doubt.

#include <string>
#include <vector>

#include "actors/core/workflow/workflow.hpp"
#include "messages/task.pb.h"

namespace fairlead::core {

/// Paths of steps, in the order of the workflow.
struct standing {
  std::vector<std::string> stands;    // carried out, and not undone
  std::vector<std::string> undone;    // carried out or failed, and undone
  std::vector<std::string> in_doubt;  // perhaps carried out, or perhaps undone
};

standing standing_of(const v1::TaskRecord& record);

/// Such as `stands: reserve, charge; in doubt: ship`.
std::string standing_words(const standing& what);

/// `failed: insure; in doubt: notify` of the steps that the task has gone on without and would have needed, but for those of the end; empty:
/// there is none.
std::string passed_over_words(const v1::TaskRecord& record, const workflow& definition);
/// The same of its steps of the end.
std::string end_words(const v1::TaskRecord& record, const workflow& definition);

}  // namespace fairlead::core
