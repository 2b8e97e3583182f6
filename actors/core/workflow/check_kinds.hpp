#pragma once
// The kinds of steps: which keys of the workflow file a step of each kind may have, and how those are checked that an agent does not
// carry out.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/workflow/check.hpp"
#include "messages/workflow.pb.h"

namespace fairlead::core {

/// Of a step with `for_each`.
inline constexpr std::size_t max_list_items = 10'000;
inline constexpr std::uint32_t max_items_at_once = 1'000;

/// Of a step with these keys. Where they exclude one another the first counts, and why_not() refuses the others.
v1::StepKind kind_of_keys(bool waits, bool awaits_signal, bool names_workflow, bool calls);

struct refused_key {
  std::string sentence;
  std::string remedy;
};

/// Why a step of this kind cannot have `key`, as the file spells it (`retry_for`). nullopt: it may have it. `undo` is allowed everywhere,
/// because each kind may say `undo: none`. `joined`: the step has a `join`, which may fail whatever its kind.
std::optional<refused_key> why_not(v1::StepKind kind, std::string_view key, bool joined = false);

/// Why a step of this kind, which no agent carries out, has no `undo` but `none`.
refused_key why_no_undo(v1::StepKind kind);

/// Whether the step can end as failed, so that `on_failure` says what follows.
bool may_fail(const v1::StepDefinition& step);

/// Whether the definition says how the step is undone. The task of a sub-workflow is undone by its own workflow.
bool says_how_it_is_undone(const v1::StepDefinition& step);

/// What is wrong with the fields that the step's kind rules, except for expressions. Of a step that an agent carries out only fields of
/// other kinds are looked at.
std::vector<definition_problem> check_kind(const v1::StepDefinition& step);

/// What is wrong with a wait that is no expression; `json` is valid.
std::optional<refused_key> check_literal_wait(std::string_view json);

/// What is wrong with the list of a step with `for_each`, except for expressions; `json` is valid.
std::optional<refused_key> check_literal_list(std::string_view json);

}  // namespace fairlead::core
