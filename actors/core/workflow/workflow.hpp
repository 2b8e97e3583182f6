#pragma once
// A workflow definition compiled for decisions, and the interface of workflow engines.

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/expression/expression.hpp"
#include "actors/core/schema/schema.hpp"
#include "actors/core/types/message_types.hpp"
#include "messages/agent.pb.h"
#include "messages/error.hpp"
#include "messages/task.pb.h"
#include "messages/workflow.pb.h"

namespace fairlead::core {

/// Thrown if no decision can be made about a record although every byte of it can be read: the sentence names the missing thing. The task
/// is parked with this sentence as the reason.
struct odd_record : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The beginning of the reason of a task that is parked because its version of the workflow is unusable.
inline constexpr std::string_view unusable_version_words = "this release cannot use version ";

/// A checked definition with its templates compiled and its graph as indices. Immutable, shared by all tasks pinned to it.
class workflow {
 public:
  struct step {
    input_template with;
    // Steps that must be completed, skipped or passed over before this step starts, as indices into the definition's steps: those that it
    // needs. For a pivot also all steps that are not its descendants, because no step before the pivot can be undone once it has happened;
    // none of the end among them.
    std::vector<std::uint32_t> needs;
    std::vector<std::uint32_t> needed_by;     // the same edges, reversed
    std::vector<std::uint32_t> named;         // the needs that the definition names; only in a workflow with joins
    std::vector<std::uint32_t> named_by;      // the same edges, reversed
    std::optional<input_template> when;       // set if the step may be skipped
    std::optional<input_template> until;      // set if the step is repeated
    std::optional<input_template> undo_with;  // set if the step can be undone by a call
    std::optional<input_template> list;       // set if the step is carried out once for each item; `with` is then an item's
    bool undo_reads_output = false;           // the undo's input reads the step's own output
    // null: any JSON. So it is for a step with `for_each`: its own input is the list, and the types are those of its items.
    const google::protobuf::Descriptor* input_type = nullptr;
    const google::protobuf::Descriptor* output_type = nullptr;

    /// null: the step has no such part.
    const input_template* part(v1::ExpressionPart which) const;
  };

  /// `definition` must have passed check_definition (check.hpp). Failures of the compilation itself are an error.
  static result<std::shared_ptr<const workflow>> compile(v1::WorkflowDefinition definition, std::string content_hash);

  /// A stored version that this release cannot compile, with `why`, or whose definition is missing. A task pinned to it waits for an
  /// operator; its attempts in progress still end by the definition as written. None of its steps is `compiled`.
  static std::shared_ptr<const workflow> unusable(v1::WorkflowDefinition definition, std::string content_hash, error why);
  bool usable() const noexcept { return !refusal_; }
  /// Why the version is not usable.
  const error& refusal() const { return refusal_.value(); }

  const v1::WorkflowDefinition& definition() const noexcept { return definition_; }
  bool has_step(std::uint32_t index) const noexcept { return index < static_cast<std::uint32_t>(definition_.steps_size()); }
  /// An empty definition for a step that an unusable version lacks; throws `odd_record` if a usable version lacks the step.
  const v1::StepDefinition& step_definition(std::uint32_t index) const {
    if (has_step(index)) return definition_.steps(static_cast<int>(index));
    if (usable()) lacks(index);
    return v1::StepDefinition::default_instance();
  }
  const step& compiled(std::uint32_t index) const {
    if (index >= steps_.size()) lacks(index);
    return steps_[index];
  }
  /// The workflow of one item of a step with `for_each` and a call: that call alone, under this workflow's name and hash. Its output is the
  /// step's. Expressions of the undo's input read what those of this workflow read.
  result<std::shared_ptr<const workflow>> call_of(std::uint32_t index) const;

  /// Of the task; null: it has none.
  const input_template* output() const noexcept { return output_ ? &*output_ : nullptr; }
  /// Why a task of this version cannot have this input, which is JSON; nullopt: it can. invalid_argument, or overloaded if `budget` is used up.
  std::optional<error> refuse_input(std::string_view input, comparison_budget* budget = nullptr) const;
  /// Some step is one of the end (`finally`).
  bool has_end() const noexcept { return has_end_; }
  /// All steps, each after all steps that it needs.
  const std::vector<std::uint32_t>& in_order() const noexcept { return order_; }
  const std::string& content_hash() const noexcept { return content_hash_; }
  /// Some step starts before all that it needs has ended, and what it does not need is undone (join.hpp).
  bool has_joins() const noexcept { return has_joins_; }

 private:
  workflow() = default;
  [[noreturn]] void lacks(std::uint32_t index) const;

  v1::WorkflowDefinition definition_;
  std::string content_hash_;
  std::vector<step> steps_;
  std::optional<input_template> output_;
  std::shared_ptr<const input_schema> input_;  // null: any JSON, unless there is an input_refusal_
  std::optional<error> input_refusal_;         // of a stored schema that this release cannot compile; tasks that exist go on
  std::vector<std::uint32_t> order_;
  bool has_end_ = false;
  bool has_joins_ = false;
  std::shared_ptr<const message_types> types_;  // null: no step names a type
  std::optional<error> refusal_;
};

/// An engine's answer about a task: the pending steps that may start now, or that the task is over.
struct next_steps {
  std::vector<std::uint32_t> ready;    // indices into TaskRecord.steps, in the order in which they should start
  std::vector<std::uint32_t> dropped;  // no step needs them any more: a join is met without them
  std::vector<std::uint32_t> unmet;    // pending steps whose join can never be met
  bool over = false;                   // nothing is left to perform, or to undo
};

/// Decides the next steps of a task; the Scheduler knows no more of workflows. Pure: the same arguments give the same answer.
class workflow_engine {
 public:
  virtual ~workflow_engine() = default;
  /// Adds the first steps of a new task.
  virtual void begin(const workflow& definition, v1::TaskRecord& record) const = 0;
  virtual void next(const workflow& definition, const v1::TaskRecord& record, next_steps& out) const = 0;
  /// For a task that is being undone and has no perform in progress: the steps in state completed, in doubt or undoing whose turn it is, and
  /// those that have failed and are undone all the same.
  virtual void next_undo(const workflow& definition, const v1::TaskRecord& record, next_steps& out) const = 0;
  /// The same for the dropped steps of a task that goes on; some of them may be performed still.
  virtual void next_dropped(const workflow& definition, const v1::TaskRecord& record, next_steps& out) const = 0;
};

}  // namespace fairlead::core
