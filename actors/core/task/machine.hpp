#pragma once
// One decision of the task machine (see task.hpp). Files: attempts.cpp hands attempts over and takes their ends, recovery.cpp decides what
// follows a bad end, undo.cpp undoes, failing.cpp ends a task as failed, operator.cpp does operators' actions, and steps/ has a file for
// each construct.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/core/items/items.hpp"
#include "actors/core/planted_faults.hpp"
#include "actors/core/task/decision.hpp"
#include "actors/core/task/document.hpp"
#include "actors/core/task/record.hpp"
#include "actors/core/task/standing.hpp"
#include "messages/holds.hpp"

namespace fairlead::core {

inline constexpr std::string_view agent_lost_code = "agent_lost";

/// The step of a task that is being undone waits for the end of a lease that nobody else waits for.
bool is_abandoned(const v1::TaskRecord& task, const v1::StepRecord& step);

/// Nothing is undone before this step's attempt to perform has ended, or its lease has.
bool holds_up_undo(const v1::TaskRecord& task, const v1::StepRecord& step);

/// An attempt is in progress, or a child lives, of a step of the end; of another step.
bool is_end_out(const v1::TaskRecord& task, const workflow& definition);
bool is_other_out(const v1::TaskRecord& task, const workflow& definition);

class task_machine {
 public:
  task_machine(v1::TaskRecord& record, const context& ctx, decision& out)
      : record_(record), ctx_(ctx), out_(out), was_put_aside_(put_aside(record)) {}

  void on(const task_admitted& e);
  void on(const attempt_ended& e);
  void on(const attempt_refused& e);
  void on(const attempt_heartbeat& e);
  void on(const expressions_evaluated& e);
  void on(const slot_freed& e);
  void on(const recovery_requested& e);
  void on(const task_due& e);
  void on(const agent_replaced& e);
  void on(const agent_returned& e);
  void on(const limits_changed& e);
  void on(const task_resumed& e);
  void on(const operated& e);
  void on(const wait_lost& e);
  void on(const clock_set_back& e);
  void on(const task_poisoned& e);
  void on(const child_changed& e);
  void on(const child_refused& e);
  void on(const items_gathered& e);

  /// Parks a running or undoing task whose definition this release cannot use.
  void park_if_unusable();
  /// Notes which steps have been failing for long.
  void count_failing();
  /// The task has been put aside until now: what its services have been blocked meanwhile does not count for its steps.
  void look_from_now_on();

 private:
  // ---- questions ----
  std::int64_t now_ms() const { return to_unix_ms(ctx_.now); }
  /// Decisions can use the task's definition.
  bool usable() const { return ctx_.definition->usable(); }
  /// Paused, parked, or held by the brake: nobody waits for a service.
  static bool put_aside(const v1::TaskRecord& task) { return sleeps(task) || task.undo_held(); }
  /// Nothing may start: the task is over, waits for an operator, is held by the brake on mass undo, or its definition is unusable.
  bool stopped() const;
  v1::StepRecord* find(std::uint32_t step);
  v1::StepRecord& at(std::uint32_t step) { return *record_.mutable_steps(static_cast<int>(step)); }
  std::uint32_t steps() const { return static_cast<std::uint32_t>(record_.steps_size()); }
  const v1::StepDefinition& definition_of(const v1::StepRecord& step) const { return ctx_.definition->step_definition(step.definition()); }
  const v1::StepRecord* pivot_begun() const { return core::pivot_begun(record_, *ctx_.definition, ctx_.planted); }
  bool timed_out() const;
  /// Nothing is performed any more: the task is being undone, or is to fail.
  bool drains() const { return record_.state() == v1::TASK_STATE_UNDOING || record_.failing(); }
  /// As drains, stopped and "the task is running", as far as this step is concerned: a dropped step is not performed any more, and those of the
  /// end go on when the others do not.
  bool drains(const v1::StepRecord& step) const { return of_end(step) ? record_.terminated() : step.dropped() || drains(); }
  bool stopped(const v1::StepRecord& step) const { return of_end(step) ? end_stopped() : stopped(); }
  bool goes_forward(const v1::StepRecord& step) const {
    return of_end(step) || (record_.state() == v1::TASK_STATE_RUNNING && !step.dropped());
  }
  /// The last attempt of the step is over, and another one may follow.
  static bool awaits_recovery(const v1::StepRecord& step) {
    return step.state() == v1::STEP_STATE_PENDING || step.state() == v1::STEP_STATE_FAILED || step.state() == v1::STEP_STATE_IN_DOUBT;
  }
  bool planted(bool planted_faults::*which) const { return ctx_.planted != nullptr && ctx_.planted->*which; }

  // ---- attempts (attempts.cpp) ----
  void begin();
  void advance();
  void advance_perform();
  bool start_ready();
  bool advance_all_items();
  void start_perform(std::uint32_t index);
  void start_lookup(std::uint32_t index);
  void start_undo(std::uint32_t index);
  slot_holder holder_of(std::uint32_t index) const { return {record_.number(), index}; }
  const std::string& call_of(const v1::StepRecord& step, v1::Direction direction) const;
  std::int64_t timeout_of(const v1::StepRecord& step, v1::Direction direction) const;
  slot_request request_for(std::uint32_t index, v1::Direction direction, std::string_view input);
  std::optional<agent_instance> claim_with_input(std::uint32_t index, v1::Direction direction);
  std::optional<agent_instance> claim(std::uint32_t index, v1::Direction direction, std::string_view input);
  bool undo_wanted(const v1::StepRecord& step) const;
  void begin_attempt(std::uint32_t index, v1::Direction direction, const agent_instance& instance);
  void hand_over(std::uint32_t index);
  bool fill(std::uint32_t index, v1::Perform& message);
  const input_template& template_of(const v1::StepRecord& step, v1::Direction direction) const;
  void take_input(std::uint32_t index, v1::ExpressionPart part, std::string json);
  void ask_for(std::uint32_t index, v1::ExpressionPart part);
  std::optional<std::string> render(std::uint32_t index, v1::ExpressionPart part, const std::vector<std::string>& results);
  template <class Read>
  std::optional<std::string> read_by(std::uint32_t index, v1::ExpressionPart part, const Read& read);
  void cannot_render(std::uint32_t index, v1::ExpressionPart part, const std::string& why);
  const input_template* template_of(std::uint32_t index, v1::ExpressionPart part) const;
  bool awaits(std::uint32_t index, v1::ExpressionPart part) const;
  std::optional<std::string_view> text_of(const v1::Payload& payload);
  void cannot_read(const error& why);
  void complete(std::uint32_t index, const std::string& output);
  void finish(std::uint32_t index, const std::string& output);
  void keep_result(std::uint32_t index, const std::string& output);
  void keep_log(v1::StepRecord& step, const attempt_ended& e);
  void end_badly(std::uint32_t index, const v1::Fault& fault, v1::EventKind kind, bool at_once = false);
  void looked_up(std::uint32_t index, v1::LookupVerdict verdict, const std::string& output);
  void lose(std::uint32_t index);
  void hand_back(std::uint32_t index, std::string why);
  void resume(std::uint32_t index);
  bool hold(std::uint32_t index, bool there);
  std::int64_t since_hand_over(const v1::StepRecord& step) const;

  // ---- steps with `when` (steps/when.cpp) ----
  bool is_wanted(std::uint32_t index);
  void take_condition(std::uint32_t index, const std::vector<std::string>& results);
  bool decide_condition(std::uint32_t index, std::string_view answer);
  bool leaves_no_doubt(std::uint32_t index);

  // ---- steps that no agent carries out (steps/own.cpp, steps/wait.cpp, steps/signal.cpp) ----
  void start_own(std::uint32_t index);
  std::optional<std::string> value_of(std::uint32_t index);
  // Of values and children's inputs in one decision; the rest come in later ones.
  static constexpr std::size_t most_decided_bytes = 8U << 20U;
  std::size_t decided_bytes() const;
  void wait_until(std::uint32_t index, std::int64_t until_ms);
  void end_wait(std::uint32_t index);
  void bring_wait_near(std::uint32_t index);
  bool waits_for_so_long(std::uint32_t index);
  void start_wait(std::uint32_t index);
  static result<std::int64_t> end_of_wait(std::string_view json, std::int64_t from_ms);
  void start_signal(std::uint32_t index);
  bool take_signal(std::uint32_t index);
  void miss_signal(std::uint32_t index);
  void operator_signal(const v1::OperatorAction& action);
  std::string known_signals() const;

  // ---- steps with a sub-workflow (steps/child.cpp) ----
  void start_child(std::uint32_t index);
  std::size_t ordered_bytes() const;
  void ask_child(std::uint32_t index, v1::OperatorVerb verb, bool at_once = false);
  void order_action(std::uint32_t index, std::string id, v1::OperatorVerb verb, bool at_once);
  bool take_child_news(const child_changed& e);
  void ask_children(v1::OperatorVerb verb, bool at_once = false);
  void undo_child(std::uint32_t index);
  void child_ended(const child_changed& e);
  void fail_child_step(std::uint32_t index, std::string_view code, std::string why);
  void undo_refused(std::uint32_t index, std::string_view code, std::string why);
  const v1::StepRecord* parked_child() const;
  /// `why`: what the child has said of it, if that is known.
  void park_for_child(const std::string& why = {});
  bool refuse_standing(const v1::StepRecord& step);
  bool is_called_off() const;
  bool gives_way() const { return is_called_off() && !record_.terminated() && usable() && !cannot_undo(); }
  void refuse_for_child();

  // ---- steps with `for_each` (steps/for_each.cpp) ----
  void start_items(std::uint32_t index);
  void start_items_again(std::uint32_t index);
  std::optional<std::string> list_of(std::uint32_t index);
  void begin_round(std::uint32_t index);
  void go_on_with_items(std::uint32_t index);
  bool advance_items(std::uint32_t index);
  bool runs_items(std::uint32_t index);
  bool stops_at(const v1::StepRecord& step, const item_counts& counts) const;
  bool may_begin_item(const v1::StepRecord& step) const;
  void begin_items(std::uint32_t index);
  std::uint32_t next_item(const v1::StepRecord& step) const;
  std::optional<list_element> next_element(const v1::StepRecord& step);
  void take_item_input(std::uint32_t index, std::uint32_t item, std::string input);
  void begin_item(std::uint32_t index, std::string input);
  void cannot_begin_item(std::uint32_t index, const std::string& why);
  void sum_up_items(std::uint32_t index);
  void item_failed(std::uint32_t index, std::uint32_t item, const std::string& why);
  void end_items(std::uint32_t index);
  void end_idle_items(std::uint32_t index);
  void gather_items(std::uint32_t index);
  void forget_gathered(std::uint32_t index);
  bool take_item_news(const child_changed& e);
  void take_item_refusal(const child_refused& e);
  void ask_item(std::uint32_t index, std::uint32_t item, v1::OperatorVerb verb, bool at_once = false);
  void ask_items(std::uint32_t index, v1::OperatorVerb verb, bool at_once);
  bool has_items_to_undo(const v1::StepRecord& step) const;
  void undo_items(std::uint32_t index);

  // ---- steps with `repeat` (steps/repeat.cpp) ----
  void end_round(std::uint32_t index, const std::string& output);
  void ask_until(std::uint32_t index);
  bool out_of_rounds(const v1::StepRecord& step) const;
  void decide_round(std::uint32_t index, const std::optional<std::string>& answer);
  void await_next_round(std::uint32_t index);
  std::int64_t next_round_ms(const v1::StepRecord& step) const;

  // ---- steps with `callback` (steps/callback.cpp) ----
  void accept(std::uint32_t index);
  void await_callback(std::uint32_t index, std::int64_t until_ms);
  std::int64_t callback_end(const v1::StepRecord& step) const;
  void miss_callback(std::uint32_t index);
  void bring_callback_near(v1::StepRecord& step);
  void operator_callback_once(const operated& e);
  void operator_callback(const operated& e);
  std::optional<error> refuse_callback(const v1::StepRecord& step, const operated& e) const;
  bool takes_answer(const v1::StepRecord& step) const;
  bool take_early_answer(std::uint32_t index);
  void take_answer(std::uint32_t index, const std::string& output, const v1::Fault* fault);

  // ---- the output of the task (steps/output.cpp) ----
  bool has_given_output();
  bool keep_output(std::string json);
  void tell_output();
  void settle_output(const v1::OperatorAction& action);

  // ---- steps with `on_failure: continue` (steps/pass_over.cpp) ----
  void pass_over(std::uint32_t index);
  void stay_failed(std::uint32_t index);
  /// Nothing performs the step any more, whatever an operator wants; it may still be undone.
  bool goes_on_without(const v1::StepRecord& step) const { return step.passed_over() && goes_forward(step); }
  void end_performed();

  // ---- steps of the end (steps/finally.cpp) ----
  bool of_end(const v1::StepRecord& step) const { return ctx_.definition->has_end() && definition_of(step).finally() != v1::FINALLY_NO; }
  bool end_stopped() const;
  bool has_begun() const;
  bool parks_before_end();
  bool advance_end(v1::Finally which);
  enum class end_progress { over, moved, waits };
  end_progress start_end(v1::Finally which);
  bool others_are_over() const;
  bool fails_at_end() const;
  void answer_end(std::uint32_t index);
  void end_without(std::uint32_t index);
  bool parks_end(const v1::StepRecord& step) const;
  bool asks_about_end();
  void let_go_of_end(bool alert);
  void bring_back_end();
  void forget_end();
  // ---- steps with `join`, and what they do not need (steps/join.cpp) ----
  void fail_join(std::uint32_t index);
  void drop(std::uint32_t index);
  bool let_go(std::uint32_t index, bool at_drop);
  bool let_go_of_dropped();
  bool undo_dropped();
  void park_if_dropped_is_stuck(const next_steps& next);
  /// In a task that goes on.
  bool is_being_undone(const v1::StepRecord& step) const { return step.dropped() && record_.state() == v1::TASK_STATE_RUNNING; }
  std::string why_not_needed(std::uint32_t index) const;
  bool over_without_dropped() const;
  void start_joins_early(next_steps& next) const;
  document_view view_for(std::uint32_t index, v1::ExpressionPart part) const;

  // ---- leases with heartbeats (heartbeat.cpp) ----
  std::int64_t heartbeat_of(const v1::StepRecord& step, v1::Direction direction) const;
  void begin_lease(v1::StepRecord& step, v1::Direction direction);
  bool add_heartbeat(const v1::StepRecord& step, v1::Perform& message);
  v1::Fault fault_of_expiry(const v1::StepRecord& step) const;

  // ---- moments too far ahead after the clock was set back (clock.cpp) ----
  void bring_lease_near(v1::StepRecord& step);

  // ---- keys that services forget (keys.cpp) ----
  std::int64_t key_valid_for_ms(const v1::StepRecord& step, v1::Direction direction) const;
  bool key_runs_out(const v1::StepRecord& step, v1::Direction direction, std::int64_t at_ms) const;
  bool key_holds(std::uint32_t index, v1::Direction direction);
  void key_expired(std::uint32_t index, v1::Direction direction);
  bool settled_since_backup(std::uint32_t index);
  static bool asked_since_backup(const v1::StepRecord& step);
  bool goes_on_since_backup(std::uint32_t index);
  bool next_key_since_backup(std::uint32_t index);

  v1::HistoryEvent& note(v1::EventKind kind, std::uint32_t index, std::string detail = {});

  // ---- types of inputs and outputs (types.cpp) ----
  /// Such as `, items[2].sku: …`; nullopt: `json` fits the type, or there is no type.
  static std::optional<std::string> misfit_of(const google::protobuf::Descriptor* type, std::string_view json);
  bool input_fits(std::uint32_t index);
  std::optional<v1::Fault> fault_of_type(const v1::StepRecord& step, const attempt_ended& e) const;

  // ---- recovery (recovery.cpp) ----
  enum class answer { park, undo, cool_off, fail, go_on };
  bool retry_clock_runs(const v1::StepRecord& step) const;
  void count_blocked(std::uint32_t index);
  void give_up_if_blocked(std::uint32_t index);
  bool may_go_on(const v1::StepRecord& step) const;
  std::int64_t wait_after(std::uint32_t index, const v1::Fault& fault) const;
  std::int64_t cool_off_of(const v1::StepRecord& step) const;
  std::int64_t longest_wait_of(const v1::StepRecord& step) const;
  void wait_for_recovery(std::uint32_t index, std::int64_t wait_ms);
  void recover_if_due(std::uint32_t index);
  void retry(std::uint32_t index);
  void give_up(std::uint32_t index);
  void fail_for_good(std::uint32_t index, std::string_view code, std::string why);
  void fail(std::uint32_t index, std::string_view code, std::string why);
  const v1::Fault& set_permanent_fault(std::uint32_t index, std::string_view code, std::string why);
  answer answer_of(const v1::StepRecord& step) const;
  void answer_given_up(std::uint32_t index);
  std::string why_given_up(const v1::StepRecord& step) const;
  void cool_off(std::uint32_t index);
  void look_up(std::uint32_t index);
  void hint(std::uint32_t index);
  void time_out();
  void undo_or_hold(std::string reason);
  /// `at_once`: whatever pause the latest bad end asks for, and also after one that was to be the last. `repeats_doubt`: also what is to stay
  /// in doubt.
  void take_up(std::uint32_t index, bool at_once = true, bool repeats_doubt = false);
  void take_up_undo(std::uint32_t index, bool at_once);
  void wait_for_rest(std::uint32_t index);

  // ---- faults that have rules of their own (steps/retry_rules.cpp) ----
  static constexpr int no_rule = -1;  // what the step, or its undo, says for all faults
  int rule_of(const v1::StepRecord& step) const;
  void count_by_rule(v1::StepRecord& step);
  void uncount_by_rule(v1::StepRecord& step);
  static std::uint32_t without_rule(const v1::StepRecord& step);
  std::uint32_t counted_of(const v1::StepRecord& step, int rule) const;
  std::uint32_t pauses_of(const v1::StepRecord& step, int rule) const;
  std::int64_t waited_for(const v1::StepRecord& step, int rule) const;
  void add_wait(v1::StepRecord& step, std::int64_t wait_ms);
  std::uint32_t limit_of(const v1::StepRecord& step, int rule) const;
  std::int64_t retry_for_of(const v1::StepRecord& step, int rule) const;
  const v1::Backoff& backoff_of(const v1::StepRecord& step, int rule) const;
  bool is_used_up(const v1::StepRecord& step, int rule) const;
  bool is_last(const v1::StepRecord& step, const v1::Fault& fault, bool doubt) const;
  bool stays_in_doubt(const v1::StepRecord& step) const;
  bool attempts_left(const v1::StepRecord& step) const { return !is_used_up(step, rule_of(step)); }
  bool all_left(const v1::StepRecord& step) const;
  std::string words_of_rule(const v1::StepRecord& step) const;

  // ---- undo (undo.cpp) ----
  /// `asked`: by an operator or the parent, so what waits or was given up is tried at once.
  void begin_undo(std::string reason, bool asked = false);
  bool goes_on_undoing(const v1::StepRecord& step) const;
  void catch_up_end();
  void advance_undo();
  void undo_next(std::uint32_t index);
  static bool looked_up_in_vain(const v1::StepRecord& step) {
    return step.state() == v1::STEP_STATE_IN_DOUBT && step.direction() == v1::DIRECTION_LOOKUP && step.given_up();
  }
  std::string perform_key_of(const v1::StepRecord& step) const;
  void undo_done(std::uint32_t index, const std::string& how);
  void finish_undo();
  void park_if_stuck();
  std::string why_stuck() const;

  // ---- the end as failed (failing.cpp) ----
  bool is_abandoned(const v1::StepRecord& step) const { return !of_end(step) && core::is_abandoned(record_, step); }
  void begin_fail(std::string reason);
  void advance_fail();
  void look_up_before_end(std::uint32_t index);
  void finish_fail();
  void operate(const operated& e);
  bool was_done(const std::string& token, std::string_view content_hash);
  void remember(std::string token, std::string content_hash);
  void operator_terminate(const v1::OperatorAction& action);
  void abandon(std::uint32_t index);

  // ---- operators (operator.cpp) ----
  void refuse(std::string sentence, std::string remedy = {}, error_code code = v1::ERROR_CODE_WRONG_STATE);
  /// Remedies: the commands that a task takes that has ended, and the one that shows why nothing happens.
  std::string what_ends_take() const;
  std::string look_at_it() const;
  v1::StepRecord* named_step(const v1::OperatorAction& action, std::uint32_t& index);
  void note_operator(v1::EventKind kind, const v1::OperatorAction& action, std::uint32_t step_plus_one);
  void operator_retry(const v1::OperatorAction& action);
  bool retry_step(std::uint32_t index, const v1::OperatorAction& action);
  bool refuse_in_progress(const v1::StepRecord& step);
  bool edit_input(std::uint32_t index, const v1::OperatorAction& action);
  bool wait_anew(std::uint32_t index, const v1::OperatorAction& action);
  void operator_skip(const v1::OperatorAction& action);
  void operator_settle(const v1::OperatorAction& action);
  void operator_undo(const operated& e);
  void give_way(std::string reason);
  void operator_pause(const v1::OperatorAction& action, bool pause);
  /// Lets the task go on by another version of its workflow (migration/migrate.cpp).
  void operator_migrate(const operated& e);
  std::optional<error> refuse_version(const operated& e);
  /// After an operator's action: the task goes on unless something else still needs an operator.
  void go_on(bool forward = true);
  void catch_up();
  /// The task goes forward after all: it is neither to be undone nor to fail. `at_once`, `repeats_doubt`: for
  /// the steps that it had let go, as for take_up().
  void release_hold(bool at_once, bool repeats_doubt = false);
  std::optional<error> cannot_undo() const { return core::cannot_undo(record_, *ctx_.definition, ctx_.planted); }

  v1::TaskRecord& record_;
  const context& ctx_;
  decision& out_;
  const bool was_put_aside_;  // before this decision
  struct need {
    std::string_view agent;
    std::string_view call;
    bool lookup = false;
    friend bool operator==(const need&, const need&) = default;
  };
  std::vector<need> full_;   // needs that found no instance in this decision
  std::vector<bool> tried_;  // by step: it has needs that no other shares, and found none
};

}  // namespace fairlead::core
