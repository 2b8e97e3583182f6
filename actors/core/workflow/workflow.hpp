#pragma once
// A workflow definition made ready for decisions, and the interface of workflow engines.

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/expression/expression.hpp"
#include "actors/core/types/message_types.hpp"
#include "messages/error.hpp"
#include "messages/task.pb.h"
#include "messages/workflow.pb.h"

namespace fairlead::core {

/// Thrown where no decision can be made about a record although every byte of it can be read: it names what is not there. Its task is
/// parked, and the sentence says why.
struct odd_record : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What the reason of a task begins with that is parked because its version of the workflow is unusable.
inline constexpr std::string_view unusable_version_words = "this release cannot use version ";

/// A checked definition with its templates compiled and its graph as indices. Immutable, shared by all tasks pinned to it.
class workflow {
 public:
  struct step {
    input_template with;
    // What must be completed or skipped before it starts, as indices into the definition's steps: what it says it needs, and of a pivot
    // everything that is not its descendant, because nothing before it can be undone once it has happened.
    std::vector<std::uint32_t> needs;
    std::vector<std::uint32_t> needed_by;                      // the same edges, the other way
    std::optional<input_template> undo_with;                   // when it can be undone by a call
    bool undo_reads_output = false;                            // the undo's input needs what the step itself gave
    const google::protobuf::Descriptor* input_type = nullptr;  // none: any JSON
    const google::protobuf::Descriptor* output_type = nullptr;
  };

  /// `definition` must have passed check_definition (check.hpp); what compile itself cannot do is an error.
  static result<std::shared_ptr<const workflow>> compile(v1::WorkflowDefinition definition, std::string content_hash);

  /// A stored version that this release cannot compile, `why` says why, or whose definition is missing. A task that is pinned to it waits
  /// for an operator; what it has out still ends by the definition as it is written. Nothing of it is `compiled`.
  static std::shared_ptr<const workflow> unusable(v1::WorkflowDefinition definition, std::string content_hash, error why);
  bool usable() const noexcept { return !refusal_; }
  /// Why it is not usable.
  const error& refusal() const { return refusal_.value(); }

  const v1::WorkflowDefinition& definition() const noexcept { return definition_; }
  bool has_step(std::uint32_t index) const noexcept { return index < static_cast<std::uint32_t>(definition_.steps_size()); }
  /// An empty one for a step that an unusable definition lacks; `odd_record` for one that a usable definition lacks.
  const v1::StepDefinition& step_definition(std::uint32_t index) const {
    if (has_step(index)) return definition_.steps(static_cast<int>(index));
    if (usable()) lacks(index);
    return v1::StepDefinition::default_instance();
  }
  const step& compiled(std::uint32_t index) const {
    if (index >= steps_.size()) lacks(index);
    return steps_[index];
  }
  /// All steps, each after everything it needs.
  const std::vector<std::uint32_t>& in_order() const noexcept { return order_; }
  const std::string& content_hash() const noexcept { return content_hash_; }

 private:
  workflow() = default;
  [[noreturn]] void lacks(std::uint32_t index) const;

  v1::WorkflowDefinition definition_;
  std::string content_hash_;
  std::vector<step> steps_;
  std::vector<std::uint32_t> order_;
  std::shared_ptr<const message_types> types_;  // none when no step names one
  std::optional<error> refusal_;
};

/// What an engine says of a task: which pending steps may start now, or that it is over.
struct next_steps {
  std::vector<std::uint32_t> ready;  // indices into TaskRecord.steps, in the order in which they should start
  bool over = false;                 // everything that will be done, or undone, is
};

/// Decides what comes next in a task; the Scheduler knows no more of workflows. Pure: the same arguments give the same answer.
class workflow_engine {
 public:
  virtual ~workflow_engine() = default;
  /// Adds the steps a new task begins with.
  virtual void begin(const workflow& definition, v1::TaskRecord& record) const = 0;
  virtual void next(const workflow& definition, const v1::TaskRecord& record, next_steps& out) const = 0;
  /// Of a task that is being undone and has no perform out: the steps that are completed, in doubt or being undone whose turn it is.
  virtual void next_undo(const workflow& definition, const v1::TaskRecord& record, next_steps& out) const = 0;
};

}  // namespace fairlead::core
