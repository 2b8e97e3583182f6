#pragma once
// The judge of contents: what is handed over, stored and told is what was submitted, what services gave, and what operators said. It knows the
// workflows' templates and works them out by itself (values.hpp); what steps gave it hears from the services alone.
//
// Rules:
//   input           a step is handed over with what its template gives, or with what an operator has put in its place
//   when            a step is handed over where its `when` gives true, or an operator has given it an input; it is skipped where that gives false,
//                   or an operator has skipped it
//   undo_input      the same of what an undo is handed over with
//   perform_output  an undo is told what the perform gave, or null where nobody knows
//   output          a completed step keeps what its service gave
//   value           a step that computes a value keeps what its template gives
//   wait_early      a wait ends before its time, or its step has another output than null
//   signal          a step takes a signal that was sent to the task, in the order of coming, once, with its data
//   signal_lost     a step waits, or its time is over, though a signal was confirmed that no step has taken
//   signal_early    a step stops waiting for its signal before its timeout, or goes on without one though it does not say so
//   signal_answer   a signal is confirmed that nothing waits for, or is refused though something does
//   until           a step is repeated though its `until` does not give false, ends though it does not give true, or has too many rounds
//   round_key       a round has the key of an earlier one
//   child_input, child_output    what a step gives its task, and what that gives it (own/child_contents.cpp)
//   item_list, item_input, item_output    the same of a step with a list, and of its items (own/item_contents.cpp)
//   task_output     a task that has completed keeps what its workflow's `output` gives, or an operator has said
//   callback_*      what becomes of steps that are answered later (own/callback_book.hpp)
//   log             a step keeps what its latest attempt has printed, byte for byte
//   submission      a task keeps the input, the priority, the labels and the reply address that it was submitted with
//   edited_input    an operator's other input that was confirmed is the step's

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "messages/agent.pb.h"
#include "messages/api.pb.h"
#include "messages/task.pb.h"
#include "store/store.hpp"
#include "tests/simulation/checker/own/callback_book.hpp"
#include "tests/simulation/checker/own/signal_book.hpp"
#include "tests/simulation/checker/own/wait_clock.hpp"
#include "tests/simulation/checker/values.hpp"
#include "tests/simulation/plans/workflows.hpp"
#include "tests/simulation/world/ledger.hpp"
#include "tests/simulation/world/services.hpp"

namespace fairlead::simulation {

class content_checker {
 public:
  struct seen_task {
    const v1::TaskRecord* record = nullptr;
    const shape* plan = nullptr;
  };
  content_checker(world& in, const host_clock& of_shard) : world_(in), waits_(in, of_shard), signals_(in), callbacks_(in, of_shard) {}
  /// `newest_key`: under which a step was handed over last to be performed; empty: it never was.
  /// `find_task`: as a reader has seen it last.
  void connect(const services& behind, std::function<std::string(const step_name&)> newest_key,
               std::function<seen_task(const std::string&)> find_task) {
    find_task_ = std::move(find_task);
    services_ = &behind;
    callbacks_.connect(behind);
    newest_key_ = std::move(newest_key);
  }

  // What is asked for.
  void submits(const v1::Submission& what) { submitted_.try_emplace(what.id(), what); }
  /// Null: nobody has submitted it, so it is a launch.
  const v1::Submission* submission_of(const std::string& id) const {
    const auto known = submitted_.find(id);
    return known == submitted_.end() ? nullptr : &known->second;
  }
  /// The Scheduler hears an operator's order.
  void hears(std::uint64_t ticket, const v1::OperateRequest& what);
  /// The submission leaves.
  void sends(const std::string& id) { waits_.sends(id); }
  /// It goes to the disk.
  void decided(const v1::TaskRecord& record, const shape& plan) {
    waits_.decided(record, plan);
    callbacks_.decided(record, plan);
  }
  /// An operator may have given the step another input.
  bool is_edited(const std::string& task, const std::string& step) const { return edits_.count({task, step}) != 0; }
  signal_book& of_signals() { return signals_; }
  callback_book& of_callbacks() { return callbacks_; }
  const callback_book& of_callbacks() const { return callbacks_; }
  /// Its answer leaves.
  void answers(std::uint64_t ticket, const v1::OperateReply& what, const store::snapshot& durable);

  void handed_over(const v1::Perform& what, const v1::TaskRecord& record, const shape& plan);
  /// `before`: as a reader saw it last; null: never. `plan` null: the workflow is not known.
  void became_durable(const v1::TaskRecord* before, const v1::TaskRecord& now, const store::snapshot& durable, const shape* plan);

 private:
  struct edits {
    std::optional<std::string> sure;                          // the newest that was confirmed
    std::vector<std::pair<std::uint64_t, std::string>> open;  // heard, by ticket, and not answered: it may have been taken
  };

  /// How a document shows dropped steps: as a step reads them that is needed, as the undo of a dropped step reads them, or as if nothing had
  /// been dropped.
  enum class view { needed, undo_of_dropped, before };
  /// `reader`: only the step itself sees what its last round gave where others need not wait for its end, or read it at the end.
  value document_of(const v1::TaskRecord& record, view by = view::needed, std::optional<std::uint32_t> reader = {},
                    bool at_end = false) const;
  /// For what the step has read: it may have been dropped since, with what it needs.
  value document_for(const v1::TaskRecord& record, std::uint32_t index, bool at_end) const {
    return document_of(record, record.steps(static_cast<int>(index)).dropped() ? view::before : view::needed, index, at_end);
  }
  value document_for(const v1::TaskRecord& record, std::uint32_t index, const v1::StepDefinition& as) const {
    return document_for(record, index, as.finally() != v1::FINALLY_NO);
  }
  /// Whether `with` of the step gives what is stored. A need that its join did not wait for may have ended or have been dropped since.
  bool gives(const v1::StepDefinition& step, const value& document, const v1::TaskRecord& record, const std::string& stored) const {
    return gives(step.with_json(), step, document, record, stored);
  }
  /// Another template of the step.
  bool gives(const std::string& with, const v1::StepDefinition& step, const value& document, const v1::TaskRecord& record,
             const std::string& stored) const;
  /// What the service has given for the step; null: nothing.
  const std::string* given(const step_name& of) const;
  void judge_when(const std::string& text, const std::string& when, const value& document);
  void judge_skip(const v1::TaskRecord& record, std::uint32_t index, const shape& plan);
  // Steps that no agent carries out (own/own_contents.cpp).
  void judge_own_steps(const v1::TaskRecord* before, const v1::TaskRecord& now, const store::snapshot& durable, const shape& plan);
  void judge_value(const v1::TaskRecord& record, std::uint32_t index, const std::string& stored,
                   const v1::StepDefinition& definition) const;
  void judge_wait(const v1::TaskRecord& record, std::uint32_t index, const std::string& stored, const v1::StepDefinition& definition) const;
  void judge_missed(const v1::StepRecord* before, const v1::TaskRecord& record, std::uint32_t index, const v1::StepDefinition& definition);
  void judge_called(const v1::TaskRecord* before, const v1::TaskRecord& now, const store::snapshot& durable, const shape& plan);
  // Steps that are repeated, and outputs of tasks (own/round_contents.cpp).
  void judge_rounds(const v1::TaskRecord* before, const v1::TaskRecord& now, const store::snapshot& durable, const shape& plan);
  void judge_round_begins(const v1::Perform& what, const v1::TaskRecord& record, const shape& plan, const value& document);
  void judge_task_output(const v1::TaskRecord* before, const v1::TaskRecord& now, const store::snapshot& durable, const shape& plan) const;
  void judge_end_input(const v1::Perform& what, const shape& plan, const value& document) const;
  void judge_input(const v1::Perform& what, const v1::TaskRecord& record, const shape& plan, const value& document);
  void note_input(const v1::TaskRecord* before, const v1::TaskRecord& now, std::uint32_t index, const store::snapshot& durable,
                  const shape& plan);
  void judge_undo(const v1::Perform& what, const shape& plan, const value& document);
  void judge_log(const v1::TaskRecord& now, int index, const v1::TaskRecord* before, const store::snapshot& durable);
  // Steps that are tasks of their own (own/child_contents.cpp).
  void judge_child_input(const v1::TaskRecord& child, const std::string& stored);
  void judge_child_output(const v1::TaskRecord& record, std::uint32_t index, const std::string& stored,
                          const store::snapshot& durable) const;
  // Steps with lists (own/item_contents.cpp).
  void judge_lists(const v1::TaskRecord& now, const store::snapshot& durable, const shape& plan);
  void judge_list(const v1::TaskRecord& now, std::uint32_t index, const std::string& stored, const shape& plan);
  void judge_item_input(const v1::TaskRecord& child, const std::string& stored, const store::snapshot& durable);
  void judge_item_outputs(const v1::TaskRecord& record, std::uint32_t index, const std::string& stored, const shape& plan,
                          const store::snapshot& durable);
  std::optional<value> document_of_undo(const v1::TaskRecord& record);
  bool may_read_otherwise(const std::string& task) const;
  bool is_edit(const std::string& task, const std::string& step, const std::string& json) const;
  void judge_submission(const v1::TaskRecord& record, const store::snapshot& durable);

  world& world_;
  const services* services_ = nullptr;
  std::function<std::string(const step_name&)> newest_key_;
  std::function<seen_task(const std::string&)> find_task_;
  std::map<std::string, v1::Submission> submitted_;
  std::map<std::pair<std::string, std::string>, edits> edits_;  // by task and path: another version may have the step elsewhere
  std::map<step_name, std::string> inputs_;  // that steps had last, as stored or handed over, where no operator gave them
  wait_clock waits_;
  signal_book signals_;
  callback_book callbacks_;
  std::map<step_name, std::vector<value>> lists_;  // of steps with `for_each`, once judged
  struct round {
    std::set<std::string> keys;  // of those that have ended
    std::string output;          // of the last of them
    std::uint32_t granted = 0;   // so many had been made when it had failed last
  };
  std::set<std::string> joined_;                                  // tasks of workflows with joins
  std::map<step_name, round> rounds_;                             // of steps that are repeated
  std::set<std::pair<std::string, std::string>> settled_;         // task and step that an operator has wanted to settle
  std::map<std::string, std::set<std::string>> settled_outputs_;  // by task, what operators have said
  std::map<step_name, std::string> own_outputs_;                  // of steps that no agent carries out, once judged
  std::set<std::pair<std::string, std::string>> skips_;           // task and step that an operator has wanted to be skipped
  std::map<std::string, std::string> launch_inputs_;              // of tasks that nobody submitted, as first stored
  struct asked {
    std::string task;
    v1::OperatorAction what;
  };
  std::map<std::uint64_t, asked> heard_;  // by ticket
};

}  // namespace fairlead::simulation
