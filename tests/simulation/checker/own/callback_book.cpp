#include "tests/simulation/checker/own/callback_book.hpp"

#include <algorithm>
#include <utility>

#include "messages/task_states.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::size_t most_shown_bytes = 120;
constexpr auto task_over = "its task is over";

std::string said_by(const v1::OperatorAction& what) {
  if (what.has_fault()) return "fault " + what.fault().code() + ": " + what.fault().message();
  return what.has_json() ? what.json() : "null";
}

bool is_fault(const std::string& says) { return says.starts_with("fault "); }

std::string called(const step_name& of, const std::string& says) {
  return "the callback of step " + std::to_string(of.step) + " of " + of.task + " (" + says.substr(0, most_shown_bytes) + ")";
}

/// Why nothing may come of a callback of this performance; empty: it counts.
std::string why_over(const v1::TaskRecord& record, std::uint32_t index, std::uint32_t generation) {
  const auto& step = record.steps(static_cast<int>(index));
  if (has_ended(record.state())) return task_over;
  if (step.generation() > generation) return "a later performance has begun, or may";
  switch (step.state()) {
    case v1::STEP_STATE_RUNNING:
    case v1::STEP_STATE_IN_DOUBT: return {};
    case v1::STEP_STATE_PENDING:
    case v1::STEP_STATE_FAILED: return step.passed_over() ? "the task has gone on without the step" : "";
    case v1::STEP_STATE_UNDOING:
    case v1::STEP_STATE_UNDONE: return "its undo has begun";
    default: return "the step is over";
  }
}

}  // namespace

callback_book::performance* callback_book::find(const std::string& key) {
  const auto known = by_key_.find(key);
  return known == by_key_.end() ? nullptr : &performances_.at(known->second);
}

const callback_book::performance* callback_book::find(const std::string& key) const {
  const auto known = by_key_.find(key);
  return known == by_key_.end() ? nullptr : &performances_.at(known->second);
}

const std::string* callback_book::given(const std::string& key) const {
  const auto* const its = find(key);
  return its == nullptr || !its->output ? nullptr : &*its->output;
}

bool callback_book::is_called(const std::string& key) const {
  const auto* const its = find(key);
  return its != nullptr && !its->heard.empty();
}

// ---- what leaves ----

void callback_book::handed_over(const v1::Perform& what, std::uint32_t shard, const shape& plan) {
  const auto wants = what.direction() == v1::DIRECTION_PERFORM && plan.answered_later(what.step());
  const auto text = "step " + what.step_path() + " of " + what.task_id() + " was handed over with the callback " + what.callback();
  if (!wants && what.callback().empty()) return;
  if (!wants) world::broken("callback_name", text + ", and waits for none");
  const auto says = read_callback(what.callback());
  world_.judges("callback_name");
  if (!says || says->shard != shard || says->task_id != what.task_id() || says->step != what.step())
    world::broken("callback_name", text + ", which does not name it");
  const auto of = name_of(*says);
  auto& its = performances_[of];
  const auto known = by_key_.emplace(what.idempotency_key(), of).first->second;
  if (its.key.empty()) its.key = what.idempotency_key();
  if (its.text.empty()) its.text = what.callback();
  if (known != of || its.key != what.idempotency_key() || its.text != what.callback())
    world::broken("callback_name", text + " under the key " + what.idempotency_key() + ", and it is that of " + its.key);
}

void callback_book::judge_key(const v1::Perform& what) const {
  const auto* const its = what.direction() == v1::DIRECTION_PERFORM ? find(what.idempotency_key()) : nullptr;
  if (its == nullptr) return;
  world_.judges("key_after_fault");
  if (its->failed && what.attempt() > *its->failed)
    world::broken("key_after_fault", "step " + what.step_path() + " of " + what.task_id() + " was handed over under the key " +
                                         what.idempotency_key() + ", and a callback had said that it never happens under that");
}

void callback_book::judge_undo(const v1::Perform& what, const shape& plan) const {
  const auto* const its = find(what.perform_key());
  if (its == nullptr) return;
  world_.count(what.in_doubt() ? "undone while a callback may come" : "undone after a callback");
  if (what.in_doubt() && its->output)
    world::broken("callback_lost", "step " + what.step_path() + " of " + what.task_id() +
                                       " is undone as in doubt, and what it gave is known: " + its->output->substr(0, most_shown_bytes));
  // One that has failed is undone only where its undo says so.
  if (!what.in_doubt() && !its->output && !plan.undoes_failed(what.step()))
    world::broken("callback_output", "step " + what.step_path() + " of " + what.task_id() +
                                         " is undone as one that is known to be done, and nobody has said so");
}

// ---- what is stored ----

void callback_book::became_durable(const v1::TaskRecord& now, std::uint32_t index, const std::string& key, const std::string* ended_with) {
  const auto& step = now.steps(static_cast<int>(index));
  auto& wait = waits_[{now.id(), index}].durable;
  wait.reset();
  if (step.awaits_callback()) wait = step.attempt();
  auto* const its = find(key);
  if (ended_with != nullptr) {
    const auto text = "step " + step.path() + " of " + now.id() + " is completed with " + ended_with->substr(0, most_shown_bytes);
    world_.judges("callback_output");
    if (its == nullptr) world::broken("callback_output", text + ", and was never handed over");
    const auto* const real = services_->given(key);
    const auto is_told = services_->told_of(key) && real != nullptr && *real == *ended_with;
    if (its->heard.count(*ended_with) == 0 && !is_told)
      world::broken("callback_output", text + ", and neither a callback nor a look-up nor an operator has said so");
    its->output = *ended_with;
  }
  for (auto at = performances_.lower_bound({{now.id(), index}, 0});
       at != performances_.end() && at->first.first == step_name{now.id(), index}; ++at)
    judge_kept(at->second, now, at->first);
}

/// What was acknowledged for later has to count by now, unless the attempt is in progress still.
void callback_book::judge_kept(performance& its, const v1::TaskRecord& now, const name& of) const {
  if (!its.kept) return;
  const auto& step = now.steps(static_cast<int>(of.first.step));
  const auto is_counted = is_fault(*its.kept) ? step.generation() > of.second : its.output == its.kept;
  if (is_counted) {
    its.kept.reset();
    return;
  }
  world_.judges("callback_lost");
  const auto is_kept = step.generation() == of.second && step.has_early_answer() && !has_ended(now.state());
  if (!is_kept)
    world::broken("callback_lost", called(of.first, *its.kept) +
                                       " was acknowledged for when the attempt in progress would have ended, and " +
                                       "nothing has come of it");
}

// ---- what comes ----

void callback_book::hears(std::uint64_t ticket, const v1::OperateRequest& what, const task& of) {
  const auto& action = what.action();
  const auto says = read_callback(action.callback());
  hearing heard;
  if (!says) return;
  heard.of = name_of(*says);
  heard.says = said_by(action);
  ++performances_[heard.of].heard[heard.says];
  if (of.record != nullptr) {
    const auto& step = of.record->steps(static_cast<int>(says->step));
    heard.is_known = true;
    heard.over = why_over(*of.record, says->step, says->generation);
    heard.left_in_doubt = step.passed_over() && step.doubtful() && step.generation() == says->generation;
    heard.sequence = of.record->history_size();
    heard.could_count = heard.over.empty() && step.generation() == says->generation && step.attempt() > 0;
    const auto& its = waits_[heard.of.first];
    if (action.has_fault()) world_.count("callbacks with a fault");
    if (of.record->paused()) world_.count("callbacks while the task is paused");
    if (of.record->parked()) world_.count("callbacks while the task is parked");
    if (heard.could_count && of.record->state() == v1::TASK_STATE_UNDOING) world_.count("callbacks while the task is undone");
    if (heard.could_count && step.state() == v1::STEP_STATE_IN_DOUBT && !its.durable) world_.count("callbacks that come too late");
  }
  heard_[ticket] = std::move(heard);
}

/// What was over when the callback was heard may count once more when the Scheduler comes to it.
bool callback_book::is_taken_up(const hearing& heard, const v1::TaskRecord* now) {
  // A task that was over may be undone since.
  if (heard.over == task_over) return now == nullptr || !has_ended(now->state());
  if (!heard.left_in_doubt || now == nullptr) return false;
  // A step in doubt is undone as in doubt, also one that the task had gone on without. Until that begins its callback counts.
  return std::any_of(now->recent().begin(), now->recent().end(), [&](const v1::HistoryEvent& one) {
    const auto dropped = one.kind() == v1::EVENT_KIND_STEP_DROPPED && one.step() == heard.of.first.step + 1;
    return one.sequence() > heard.sequence && (dropped || one.kind() == v1::EVENT_KIND_TASK_UNDOING);
  });
}

void callback_book::answers(std::uint64_t ticket, const v1::OperateResult& what, const task& of) {
  const auto found = heard_.extract(ticket);
  if (found.empty()) return;
  if (what.error().code() == v1::ERROR_CODE_OK)
    confirm(found.mapped(), what, of);
  else
    judge_refusal(found.mapped(), what.error(), of);
}

void callback_book::confirm(const hearing& heard, const v1::OperateResult& what, const task& of) {
  auto& its = performances_.at(heard.of);
  const auto text = called(heard.of.first, heard.says);
  world_.judges("callback_answer");
  if (what.repeated()) {
    world_.count("callbacks repeated");
    if (its.heard.at(heard.says) < 2) world::broken("callback_answer", text + " is said to have come before, and it has not");
  } else {
    world_.count(what.kept() ? "callbacks kept" : "callbacks accepted");
    const auto& wait = waits_[heard.of.first];
    if (wait.since_us && of.record != nullptr && of.record->epoch() > wait.epoch) world_.count("callbacks accepted by a later Scheduler");
    world_.judges("callback_old");
    if (!heard.over.empty() && !is_taken_up(heard, of.record)) world::broken("callback_old", text + " was acknowledged, and " + heard.over);
    if (its.output && *its.output != heard.says)
      world::broken("callback_old", text + " was acknowledged, and the step has given " + its.output->substr(0, most_shown_bytes));
  }
  const auto* const step = of.record == nullptr ? nullptr : &of.record->steps(static_cast<int>(heard.of.first.step));
  const auto counts = is_fault(heard.says) ? step == nullptr || step->generation() > heard.of.second : its.output == heard.says;
  const auto waits = !counts && (what.kept() || what.repeated());
  if (is_fault(heard.says) && !its.failed && step != nullptr) its.failed = step->attempt();
  if (waits) {
    its.kept = heard.says;
    if (of.record != nullptr) judge_kept(its, *of.record, heard.of);
    return;
  }
  world_.judges("callback_lost");
  if (!counts) world::broken("callback_lost", text + " was acknowledged, and nothing has come of it");
}

void callback_book::judge_refusal(const hearing& heard, const v1::Error& why, const task& of) const {
  const auto& its = performances_.at(heard.of);
  const auto text = called(heard.of.first, heard.says) + " was refused (" + why.sentence() + "), and ";
  world_.judges("callback_answer");
  switch (why.code()) {
    case v1::ERROR_CODE_UNAVAILABLE:
    case v1::ERROR_CODE_INTERNAL:
    case v1::ERROR_CODE_OVERLOADED: return;
    case v1::ERROR_CODE_KEY_REUSED:
      world_.count("callbacks that say something else");
      if (its.heard.size() < 2) world::broken("callback_answer", text + "none has said anything else");
      return;
    case v1::ERROR_CODE_WRONG_STATE: {
      world_.count(its.output || its.failed ? "callbacks after the answer" : "callbacks of what is over");
      const auto& record = of.record;
      const auto counts = heard.could_count && record != nullptr && why_over(*record, heard.of.first.step, heard.of.second).empty();
      // A task that has failed meanwhile may be undone since.
      if (counts && record->state() != v1::TASK_STATE_UNDOING) world::broken("callback_answer", text + "the step takes it still");
      return;
    }
    case v1::ERROR_CODE_NOT_FOUND:
      world_.count("callbacks that are not known");
      if (heard.is_known && of.record != nullptr) world::broken("callback_answer", text + "the task is there");
      return;
    default: world::broken("callback_answer", text + "it is lawful");
  }
}

}  // namespace fairlead::simulation
