#include "actors/core/task.hpp"

#include <algorithm>
#include <string_view>

#include "actors/core/retry.hpp"
#include "actors/core/task_document.hpp"
#include "actors/core/task_record.hpp"

namespace fairlead::core {

namespace {

/// One decision under way.
class machine {
 public:
  machine(v1::TaskRecord& record, const context& ctx, decision& out) : record_(record), ctx_(ctx), out_(out) {}

  void on(const task_admitted&) {
    if (record_.state() != v1::TASK_STATE_PENDING) return;
    begin();
    advance();
  }

  void on(const attempt_ended& e) {
    auto* step = find(e.step);
    if (step == nullptr || !holds(*step, e.direction, e.attempt)) return;
    out_.accepted = true;
    ctx_.agents->release(step->instance(), step->incarnation());
    step->set_tries(step->tries() + e.tries);
    if (e.fault)
      end_badly(e.step, *e.fault, e.fault->kind() == v1::FAULT_KIND_IN_DOUBT ? v1::EVENT_KIND_STEP_IN_DOUBT : v1::EVENT_KIND_STEP_FAILED);
    else
      complete(e.step, e.output);
    advance();
  }

  void on(const input_evaluated& e) {
    auto* step = find(e.step);
    if (step == nullptr || step->state() != v1::STEP_STATE_PENDING || step->has_input() || stopped()) return;
    if (ctx_.definition->compiled(step->definition()).with.plain()) return;
    if (e.failure) {
      // An evaluator that cannot be reached is no fault of the workflow: the due index brings the task back.
      if (e.failure->code == v1::ERROR_CODE_UNAVAILABLE) return;
      park(record_, "step " + step->path() + ": " + e.failure->sentence, ctx_.now, out_);
      return;
    }
    auto rendered = render(*step, e.results);
    if (!rendered) return;
    set_payload(record_, *step->mutable_input(), std::move(*rendered), out_);
    out_.changed = true;
    advance();
  }

  void on(const slot_freed&) { advance(); }

  void on(const recovery_requested& e) {
    auto* step = find(e.step);
    if (step == nullptr || step->attempt() != e.attempt || step->failure_count() != e.failure_count) return;
    recover_if_due(e.step);
    if (out_.changed) advance();
  }

  void on(const task_due&) {
    const auto limit = ctx_.definition->definition().timeout_ms();
    if (!stopped() && limit > 0 && now_ms() >= record_.created_at_unix_ms() + limit) {
      park(record_, "the task did not end within its timeout of " + format_duration(limit), ctx_.now, out_);
      return;
    }
    for (int i = 0; i < record_.steps_size(); ++i) recover_if_due(static_cast<std::uint32_t>(i));
    advance();
  }

  void on(const agent_replaced& e) {
    for (int i = 0; i < record_.steps_size(); ++i) {
      const auto& step = record_.steps(i);
      if (step.state() == v1::STEP_STATE_RUNNING && step.instance() == e.instance && step.incarnation() < e.incarnation)
        lose(static_cast<std::uint32_t>(i));
    }
    if (out_.changed) advance();
  }

  void on(const task_resumed&) {
    for (int i = 0; i < record_.steps_size(); ++i) resume(static_cast<std::uint32_t>(i));
    advance();
  }

  void on(const task_poisoned& e) {
    if (record_.state() == v1::TASK_STATE_COMPLETED || record_.state() == v1::TASK_STATE_UNDONE) return;
    // Only what runs can be parked.
    if (record_.state() == v1::TASK_STATE_PENDING) begin();
    park(record_, e.reason, ctx_.now, out_);
  }

 private:
  std::int64_t now_ms() const { return to_unix_ms(ctx_.now); }

  /// Nothing may start: not running, or waiting for an operator.
  bool stopped() const { return record_.state() != v1::TASK_STATE_RUNNING || record_.parked() || record_.paused(); }

  void begin() {
    move_task(record_, v1::TASK_STATE_RUNNING, out_);
    record_.set_started_at_unix_ms(now_ms());
    add_event(record_, v1::EVENT_KIND_TASK_STARTED, 0, 0, ctx_.now);
  }

  bool park_if_timed_out() {
    const auto limit = ctx_.definition->definition().timeout_ms();
    if (limit <= 0 || now_ms() < record_.created_at_unix_ms() + limit) return false;
    park(record_, "the task did not end within its timeout of " + format_duration(limit), ctx_.now, out_);
    return true;
  }

  v1::StepRecord* find(std::uint32_t step) {
    return step < static_cast<std::uint32_t>(record_.steps_size()) ? record_.mutable_steps(static_cast<int>(step)) : nullptr;
  }

  v1::StepRecord& at(std::uint32_t step) { return *record_.mutable_steps(static_cast<int>(step)); }

  const v1::StepDefinition& definition_of(const v1::StepRecord& step) const { return ctx_.definition->step_definition(step.definition()); }

  /// The fence: exactly this attempt, in this direction, is out.
  static bool holds(const v1::StepRecord& step, v1::Direction direction, std::uint32_t attempt) {
    return step.state() == v1::STEP_STATE_RUNNING && step.direction() == direction && step.attempt() == attempt;
  }

  /// Starts whatever may start, or ends the task.
  void advance() {
    if (stopped() || out_.fatal) return;
    next_steps next;
    ctx_.engine->next(*ctx_.definition, record_, next);
    if (next.over) {
      move_task(record_, v1::TASK_STATE_COMPLETED, out_);
      record_.set_finished_at_unix_ms(now_ms());
      add_event(record_, v1::EVENT_KIND_TASK_COMPLETED, 0, 0, ctx_.now);
      out_.ended = true;
      return;
    }
    for (const auto step : next.ready) {
      start(step);
      if (record_.parked() || out_.fatal) return;
    }
  }

  void start(std::uint32_t index) {
    auto& step = at(index);
    const auto& with = ctx_.definition->compiled(step.definition()).with;
    const auto rendered_here = !step.has_input();
    if (rendered_here && !with.plain()) {
      ask_for_input(index, with);
      return;
    }
    // The slot first: of a thousand parallel steps those that find none must not cost a rendering each.
    const auto& definition = definition_of(step);
    if (std::find(full_.begin(), full_.end(), definition.agent()) != full_.end()) return;
    const auto instance = ctx_.agents->claim(definition.agent());
    if (!instance) {
      full_.push_back(definition.agent());
      out_.waiting_for.push_back(definition.agent());
      return;
    }
    if (rendered_here) {
      auto input = render(step, {});
      if (!input) {
        ctx_.agents->release(instance->name, instance->incarnation);
        return;
      }
      set_payload(record_, *step.mutable_input(), std::move(*input), out_);
    }
    step.set_attempt(step.attempt() + 1);
    step.set_complete_by_unix_ms(now_ms() + definition.timeout_ms());
    step.clear_not_before_unix_ms();
    step.set_instance(std::string{instance->name});
    step.set_incarnation(instance->incarnation);
    if (step.started_at_unix_ms() == 0) step.set_started_at_unix_ms(now_ms());
    move_step(record_, index, v1::STEP_STATE_RUNNING, out_);
    add_event(record_, v1::EVENT_KIND_STEP_STARTED, index + 1, step.attempt(), ctx_.now);
    hand_over(index);
  }

  /// The message for a step that is `running` in the record.
  void hand_over(std::uint32_t index) {
    const auto& step = record_.steps(static_cast<int>(index));
    const auto input = text_of(step.input());
    if (!input) return;
    handover out;
    out.instance = step.instance();
    auto& message = out.message;
    message.set_task_number(record_.number());
    message.set_task_id(record_.id());
    message.set_workflow(record_.workflow());
    message.set_step(index);
    message.set_step_path(step.path());
    message.set_direction(step.direction());
    message.set_attempt(step.attempt());
    message.set_call(definition_of(step).call());
    message.set_input(std::string{*input});
    message.set_complete_by_unix_ms(step.complete_by_unix_ms());
    message.set_budget_ms(step.complete_by_unix_ms() - now_ms());
    message.set_idempotency_key(idempotency_key(record_, step));
    out_.performs.push_back(std::move(out));
  }

  void ask_for_input(std::uint32_t index, const input_template& with) {
    if (ctx_.evaluating != nullptr && ctx_.evaluating->count(index) != 0) {
      out_.awaits_input = true;
      return;
    }
    const task_document doc{record_, *ctx_.payloads, out_.payloads};
    auto text = with.worker_document(doc);
    if (doc.failure()) {
      out_.fatal = doc.failure();
      return;
    }
    if (!text) {
      park(record_, "step " + record_.steps(static_cast<int>(index)).path() + ": " + text.failure().sentence, ctx_.now, out_);
      return;
    }
    v1::EvaluateRequest request;
    for (const auto& expression : with.worker_expressions()) request.add_expressions(expression);
    request.set_document(std::move(*text));
    request.set_task_number(record_.number());
    request.set_step(index);
    out_.evaluations.push_back(std::move(request));
  }

  /// The step's input; nullopt when the task was parked over it.
  std::optional<std::string> render(const v1::StepRecord& step, const std::vector<std::string>& results) {
    const task_document doc{record_, *ctx_.payloads, out_.payloads};
    auto rendered = ctx_.definition->compiled(step.definition()).with.render(doc, results);
    if (doc.failure()) {
      out_.fatal = doc.failure();
      return std::nullopt;
    }
    if (!rendered) {
      park(record_, "step " + step.path() + ": " + rendered.failure().sentence, ctx_.now, out_);
      return std::nullopt;
    }
    return std::move(*rendered);
  }

  std::optional<std::string_view> text_of(const v1::Payload& payload) {
    if (payload.slot() == 0) return std::string_view{payload.json()};
    for (const auto& fresh : out_.payloads)
      if (fresh.slot == payload.slot()) return std::string_view{fresh.json};
    auto loaded = ctx_.payloads->load(record_, payload.slot());
    if (!loaded) {
      out_.fatal = loaded.failure();
      return std::nullopt;
    }
    return *loaded;
  }

  void complete(std::uint32_t index, const std::string& output) {
    auto& step = at(index);
    move_step(record_, index, v1::STEP_STATE_COMPLETED, out_);
    set_payload(record_, *step.mutable_output(), output.empty() ? "null" : output, out_);
    step.set_ended_at_unix_ms(now_ms());
    step.clear_complete_by_unix_ms();
    // What plain paths gave can be cut out again byte for byte; what the worker gave cannot.
    if (ctx_.definition->compiled(step.definition()).with.plain()) {
      if (step.input().slot() != 0) out_.dropped_slots.push_back(step.input().slot());
      step.clear_input();
    }
    add_event(record_, v1::EVENT_KIND_STEP_COMPLETED, index + 1, step.attempt(), ctx_.now);
  }

  /// An attempt that was out has ended badly: decides between another attempt and parking.
  void end_badly(std::uint32_t index, const v1::Fault& fault, v1::EventKind kind, bool at_once = false) {
    auto& step = at(index);
    const auto& definition = definition_of(step);
    const auto doubt = kind != v1::EVENT_KIND_STEP_FAILED;
    step.set_failure_count(step.failure_count() + 1);
    *step.mutable_fault() = fault;
    step.set_ended_at_unix_ms(now_ms());
    step.clear_complete_by_unix_ms();
    move_step(record_, index, doubt ? v1::STEP_STATE_IN_DOUBT : v1::STEP_STATE_FAILED, out_, fault.code());
    add_event(record_, kind, index + 1, step.attempt(), ctx_.now, fault.code() + ": " + fault.message());

    const auto what = "step " + step.path() + (doubt ? " is in doubt" : " failed") + " (" + fault.code() + ")";
    if (!doubt && fault.kind() == v1::FAULT_KIND_PERMANENT) {
      park(record_, what + " and another attempt cannot help: " + fault.message(), ctx_.now, out_);
    } else if (doubt && definition.in_doubt() == v1::IN_DOUBT_PARK) {
      park(record_, what + " and its workflow says in_doubt: park: " + fault.message(), ctx_.now, out_);
    } else if (step.attempt() >= definition.attempts()) {
      park(record_, what + " on the last of " + std::to_string(definition.attempts()) + " attempts: " + fault.message(), ctx_.now, out_);
    }
    if (record_.parked()) return;
    const auto wait = at_once ? 0 : backoff_ms(definition.backoff(), step.failure_count(), {record_.number(), index, step.attempt()});
    step.set_not_before_unix_ms(now_ms() + wait);
    if (at_once)
      retry(index);
    else
      hint(index);
  }

  void hint(std::uint32_t index) {
    const auto& step = record_.steps(static_cast<int>(index));
    v1::RecoveryHint out;
    out.set_due_unix_ms(step.not_before_unix_ms());
    auto* recover = out.mutable_recover();
    recover->set_task_number(record_.number());
    recover->set_step(index + 1);
    recover->set_attempt(step.attempt());
    recover->set_failure_count(step.failure_count());
    out_.hints.push_back(std::move(out));
  }

  /// A lease ends also while the task is parked, or the agent's slot would never come back; another attempt waits for the operator.
  void recover_if_due(std::uint32_t index) {
    auto& step = at(index);
    if (step.state() == v1::STEP_STATE_RUNNING && now_ms() >= step.complete_by_unix_ms()) {
      ctx_.agents->release(step.instance(), step.incarnation());
      v1::Fault fault;
      fault.set_kind(v1::FAULT_KIND_IN_DOUBT);
      fault.set_code("lease_expired");
      fault.set_message("agent instance " + step.instance() + " gave no outcome before complete_by");
      end_badly(index, fault, v1::EVENT_KIND_STEP_EXPIRED);
    } else if (!stopped() && waits_for_recovery(step) && now_ms() >= step.not_before_unix_ms()) {
      retry(index);
    }
  }

  static bool waits_for_recovery(const v1::StepRecord& step) {
    return step.state() == v1::STEP_STATE_FAILED || step.state() == v1::STEP_STATE_IN_DOUBT;
  }

  /// Back to pending; `advance` hands the next attempt over.
  void retry(std::uint32_t index) {
    auto& step = at(index);
    step.clear_not_before_unix_ms();
    move_step(record_, index, v1::STEP_STATE_PENDING, out_);
    add_event(record_, v1::EVENT_KIND_STEP_RETRIED, index + 1, step.attempt(), ctx_.now);
  }

  /// The process that held the step is known to be dead.
  void lose(std::uint32_t index) {
    const auto& step = at(index);
    v1::Fault fault;
    fault.set_kind(v1::FAULT_KIND_IN_DOUBT);
    fault.set_code("agent_lost");
    fault.set_message("agent instance " + step.instance() + " has died while it held the step");
    // The service is not known to be at fault, so nothing is gained by waiting.
    end_badly(index, fault, v1::EVENT_KIND_STEP_IN_DOUBT, true);
  }

  void resume(std::uint32_t index) {
    const auto& step = at(index);
    if (step.state() == v1::STEP_STATE_RUNNING) {
      const auto known = ctx_.agents->incarnation_of(step.instance());
      if (!known) return;                       // not there (yet): its lease is awaited
      if (*known < step.incarnation()) return;  // an older process reports late: the lease is awaited as well
      if (*known > step.incarnation()) {
        lose(index);
      } else {
        ctx_.agents->hold(step.instance());
        hand_over(index);
      }
    } else if (waits_for_recovery(step) && !stopped()) {
      hint(index);
    }
  }

  v1::TaskRecord& record_;
  const context& ctx_;
  decision& out_;
  std::vector<std::string_view> full_;  // agents that had no free slot in this decision
};

/// Everything that every stored version carries.
void seal(v1::TaskRecord& record, const context& ctx, std::int64_t due) {
  record.set_version(record.version() + 1);
  record.set_epoch(ctx.epoch);
  record.set_due_unix_ms(due);
}

/// Some step is ready and could not be handed over.
bool waits(const decision& made) { return !made.waiting_for.empty() || !made.evaluations.empty() || made.awaits_input; }

}  // namespace

v1::TaskRecord create_task(new_task source, const context& ctx, decision& out) {
  v1::TaskRecord record;
  record.set_number(source.number);
  record.set_id(std::move(source.id));
  record.set_name_space(std::move(source.name_space));
  record.set_content_hash(std::move(source.content_hash));
  record.set_workflow(ctx.definition->definition().name());
  record.set_workflow_hash(ctx.definition->content_hash());
  for (auto& label : source.labels) *record.add_labels() = std::move(label);
  record.set_priority(source.priority);
  record.set_state(v1::TASK_STATE_PENDING);
  record.set_created_at_unix_ms(to_unix_ms(ctx.now));
  set_payload(record, *record.mutable_input(), std::move(source.input), out);
  ctx.engine->begin(*ctx.definition, record);
  add_event(record, v1::EVENT_KIND_TASK_SUBMITTED, 0, 0, ctx.now);
  out.transitions.push_back({0, "", "pending", 0, ""});
  out.changed = true;
  seal(record, ctx, next_due(record, ctx, false));
  return record;
}

decision decide(v1::TaskRecord& record, const event& what, const context& ctx) {
  decision out;
  machine m{record, ctx, out};
  std::visit([&m](const auto& e) { m.on(e); }, what);
  const auto due = next_due(record, ctx, waits(out));
  // An index entry that came up without anything being due moves to the moment when something is.
  if (std::holds_alternative<task_due>(what) && record.due_indexed_unix_ms() != due) out.changed = true;
  if (out.changed) seal(record, ctx, due);
  return out;
}

bool any_running(const v1::TaskRecord& record) {
  return std::any_of(record.steps().begin(), record.steps().end(),
                     [](const v1::StepRecord& step) { return step.state() == v1::STEP_STATE_RUNNING; });
}

std::string idempotency_key(const v1::TaskRecord& record, const v1::StepRecord& step) {
  std::string key;
  key.reserve(record.id().size() + step.path().size() + 16);
  key += record.id();
  key += '/';
  key += step.path();
  key += step.direction() == v1::DIRECTION_UNDO ? "/undo/" : "/perform/";
  key += std::to_string(step.generation());
  return key;
}

}  // namespace fairlead::core
