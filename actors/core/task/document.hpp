#pragma once
// The document that a task's expressions read: `.input`, `.steps.NAME`, `.status.NAME`, `.errors.NAME`, `.task`, `.launch`.

#include <list>
#include <string>
#include <vector>

#include "actors/core/expression/expression.hpp"
#include "actors/core/task/decision.hpp"

namespace fairlead::core {

/// How the document shows steps of a task with joins or steps of the end.
struct document_view {
  bool joins = false;        // a step that has not ended is null: the reader's join did not wait for it
  bool dropped_too = false;  // a dropped step's output is there: the reader is the undo of a dropped step
  std::uint32_t reader = 0;  // its index. It may read what its own latest round gave
  bool of_end = false;       // a step that was not performed is null, and it is said how the task ends: the reader is a step of the end
};

class task_document final : public document {
 public:
  task_document(const v1::TaskRecord& record, const payload_source& payloads, const std::vector<stored_payload>& fresh,
                document_view view = {})
      : record_(record), payloads_(payloads), fresh_(fresh), view_(view) {}

  std::optional<std::string_view> root(std::string_view name, std::string_view member) const override;
  std::vector<std::string> members(std::string_view name) const override;

  /// The first failed read, if any: its root then looked absent.
  const std::optional<error>& failure() const noexcept { return failure_; }

 private:
  std::optional<std::string_view> text_of(const v1::Payload& payload) const;
  const v1::StepRecord* find(std::string_view path) const;
  std::optional<std::string_view> of_step(std::string_view name, const v1::StepRecord& step) const;
  bool is_null(const v1::StepRecord& step) const;
  bool hides_rounds(const v1::StepRecord& step) const;
  void write_task() const;

  const v1::TaskRecord& record_;
  const payload_source& payloads_;
  const std::vector<stored_payload>& fresh_;  // payloads of this decision, not in the store yet
  const document_view view_;
  mutable std::string task_;             // `.task`, made at its first use
  mutable std::string launch_;           // `.launch`, likewise
  mutable std::list<std::string> made_;  // other texts made for callers; a list keeps views valid
  mutable std::optional<error> failure_;
};

/// What expressions of a step with `for_each` read about one item, beside what `outer`, the document of its task, has.
class item_document final : public document {
 public:
  /// `own`: the document of the item's task, whose step `own_step` has ended there; null: it has no task yet.
  item_document(const document& outer, std::string_view item, std::uint32_t index, const document* own = nullptr,
                std::string_view own_step = {})
      : outer_(outer), item_(item), index_(std::to_string(index)), own_(own), own_step_(own_step) {}

  std::optional<std::string_view> root(std::string_view name, std::string_view member) const override {
    if (name == "item") return item_;
    if (name == "index") return std::string_view{index_};
    return (own_ != nullptr && !member.empty() && member == own_step_ ? *own_ : outer_).root(name, member);
  }
  std::vector<std::string> members(std::string_view name) const override;

 private:
  const document& outer_;
  std::string_view item_;
  std::string index_;
  const document* own_;
  std::string_view own_step_;
};

}  // namespace fairlead::core
