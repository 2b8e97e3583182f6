#pragma once
// What a task has done: which steps stand, which are undone, which are in doubt, and whether something of it can never be undone.

#include <optional>
#include <string>
#include <vector>

#include "actors/core/planted_faults.hpp"
#include "actors/core/workflow/workflow.hpp"
#include "messages/error.hpp"
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

/// A pivot that has happened, or may have; null: none. With a pivot the task only goes forward. `planted`: null in production.
const v1::StepRecord* pivot_begun(const v1::TaskRecord& record, const workflow& definition, const planted_faults* planted);
/// Why the task cannot be undone now; nullopt: it can, as far as its own steps say. The definition is usable.
std::optional<error> cannot_undo(const v1::TaskRecord& record, const workflow& definition, const planted_faults* planted);

}  // namespace fairlead::core
