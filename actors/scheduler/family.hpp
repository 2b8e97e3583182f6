#pragma once
// Tasks and their children (actors/core/task/steps/child.cpp). What a decision about one of them means for the other is decided in the same
// batch, so that both are durable or none. Such a decision may mean something for a third task; all of them are done before the batch can
// close. One thread.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "actors/core/planted_faults.hpp"
#include "actors/core/task/decision.hpp"
#include "actors/scheduler/books/archive_ledger.hpp"
#include "actors/scheduler/books/workflow_catalog.hpp"
#include "actors/scheduler/commit/pipeline.hpp"
#include "actors/scheduler/family_sizes.hpp"

namespace fairlead {

/// The Scheduler's tasks, as families use them. A pointer holds until the next decision about another task.
class family_tasks {
 public:
  virtual ~family_tasks() = default;

  /// The newest version, half changed if a decision about it has crashed; null: it is not in the store.
  virtual const v1::TaskRecord* newest(std::uint64_t number) = 0;
  /// That crash is not dealt with yet; it will be told of when it is.
  virtual bool has_crashed(std::uint64_t number) = 0;
  virtual const core::workflow& definition_of(std::uint64_t number) = 0;
  /// The number of a task that is taken or stored, or was.
  virtual result<std::optional<std::uint64_t>> number_of(const std::string& id) = 0;
  virtual result<std::string> text_of(std::uint64_t number, const v1::Payload& payload) = 0;
  /// Why the task refused the action, if it is one. Nothing for a task that `newest` does not give.
  virtual std::optional<error> decide_about(std::uint64_t number, const core::event& what) = 0;
  /// Step `call_of` - 1 alone, of the version by which the task goes.
  virtual result<workflow_catalog::handle> pinned_to(std::uint64_t number, std::uint32_t call_of) = 0;
  /// The task begins at once.
  virtual void create_child(v1::Submission& item, core::child_order& order, v1::ParentOf parent, workflow_catalog::handle definition) = 0;
  /// It is on its way to an archive.
  virtual bool is_leaving(std::uint64_t number) = 0;
  virtual void forget_if_idle(std::uint64_t number) = 0;
  /// The node must stop. Returns false.
  virtual bool fail(const error& why) = 0;
  virtual bool failed() const = 0;
};

class families {
 public:
  struct ports {
    const clock* time = nullptr;
    commit_pipeline* batches = nullptr;
    workflow_catalog* catalog = nullptr;
    archive_ledger* archive = nullptr;
    family_tasks* tasks = nullptr;
  };

  /// `crowd`: as family_sizes.
  families(ports world, std::size_t crowd, core::planted_faults faults) : world_(world), faults_(faults), sizes_(crowd) {}

  /// The Scheduler starts: tasks that begin from now on are known.
  void open() { first_known_ = world_.batches->counts().next_task_number(); }
  /// What a decision about the task means for its parent and its children.
  void note(const v1::TaskRecord& record, core::decision& made);
  /// Decides all that was noted. `decided`: the task whose decision began this, which its caller still holds.
  void settle(std::uint64_t decided);

  /// The parent is told how the task is now. No effect for a task that is no child.
  void tell_of(const v1::TaskRecord& record);
  /// A decision about the task has crashed, and it has been parked: its parent is told how it is. One that was parked before is so still, and
  /// what its parent has asked of it is not done. Others are told of their children, some of which may have been told of in vain: once, because
  /// that may be what they crash at.
  void after_crash(std::uint64_t task, bool was_parked);
  /// Of the children of a task's step that are in progress: they live, and their parent knows how.
  bool is_told_of(const v1::TaskRecord& parent, const v1::StepRecord& step);
  /// Tells the parent what the store has of the step's children.
  void tell_of_children(std::uint64_t parent, std::uint32_t step);
  /// The same of all its steps.
  void tell_of_children(std::uint64_t parent);
  /// Whether all that the task and its children have begun can be undone.
  bool may_be_cancelled(const v1::TaskRecord& record);
  /// The child's parent goes on with what it has done, so that an operator cannot have it undone alone.
  bool is_built_on(const v1::TaskRecord& child);
  /// What the task may begin in its next decision, so that other tasks do not wait for a long list, or for many.
  void limit(const v1::TaskRecord& task, core::context& ctx) const;
  /// Lists may begin items before the next batch is durable.
  bool may_begin() const { return left_to_begin() > 0; }

 private:
  struct news {
    std::uint64_t task = 0;
    std::optional<core::child_order> order;  // of this task to its child; nullopt: the task's parent is to be told of it
  };

  void tell_parent(std::uint64_t child);
  std::optional<core::child_changed> news_of(const v1::TaskRecord& child);
  void carry_out(std::uint64_t parent, core::child_order& order);
  void begin_child(std::uint64_t parent, core::child_order& order);
  void begin_later(std::uint64_t parent, const core::child_order& order);
  void refuse(std::uint64_t parent, const core::child_order& order, std::string_view code, std::string why);
  result<workflow_catalog::handle> definition_for(std::uint64_t parent, const core::child_order& order);
  void gather(std::uint64_t parent, const core::child_order& order);
  std::optional<std::string> output_of_item(std::uint64_t parent, const core::child_order& order, std::uint32_t item);
  bool is_told_of(const core::child_order& child, bool parked, bool undoes);
  std::int64_t left_to_begin() const;
  std::uint64_t number_of(const std::string& id);
  void count_family(std::string_view child);

  ports world_;
  core::planted_faults faults_;
  std::deque<news> noted_;
  std::int64_t begun_ = 0;                                     // children, by what is settled now
  std::unordered_map<std::uint64_t, std::uint32_t> begun_by_;  // by parent: children in batch `begun_in_`
  std::uint64_t begun_in_ = 0;
  std::int64_t begun_since_ = 0;  // children of all parents since batch `durable_` was the last durable one
  std::uint64_t durable_ = 0;
  family_sizes sizes_;
  std::uint64_t first_known_ = 0;            // number of a task; those before it were there at the start
  std::unordered_set<std::string> counted_;  // top-level tasks of before the start whose families have been counted
  std::uint64_t settled_for_ = 0;            // the task whose decision began it; 0: nothing is settled now
};

}  // namespace fairlead
