// Steps that no agent carries out: what they give, when, and which signals they take.

#include "messages/time.hpp"
#include "store/rows/task_rows.hpp"
#include "tests/simulation/checker/content_checker.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::size_t shown_bytes = 200;

std::string name_of(const v1::TaskRecord& record, std::uint32_t index) {
  return "step " + record.steps(static_cast<int>(index)).path() + " of " + record.id();
}

std::string output_of(const store::snapshot& durable, const v1::TaskRecord& record, const v1::StepRecord& step) {
  auto out = store::load_payload(durable, record.number(), step.output());
  if (!out.ok()) world::broken("store_check", "a payload of " + record.id() + " cannot be read: " + out.failure().sentence);
  return std::move(*out);
}

/// Nothing holds the task back.
bool goes_on(const v1::TaskRecord& record) {
  return record.state() == v1::TASK_STATE_RUNNING && !record.parked() && !record.paused() && !record.undo_held() && !record.failing();
}

}  // namespace

void content_checker::judge_own_steps(const v1::TaskRecord* before, const v1::TaskRecord& now, const store::snapshot& durable,
                                      const shape& plan) {
  std::vector<signal_book::taking> takings;
  for (std::uint32_t i = 0; i < plan.size(); ++i) {
    const auto& step = now.steps(static_cast<int>(i));
    const auto& definition = plan.step(i);
    if (step.kind() != plan.kind_of(i)) world::broken("version_changed", name_of(now, i) + " is of another kind than its workflow says");
    const step_name name{now.id(), i};
    const auto ended =
        step.state() == v1::STEP_STATE_COMPLETED || step.state() == v1::STEP_STATE_UNDOING || step.state() == v1::STEP_STATE_UNDONE;
    const auto has_output = step.has_output() || (plan.is_child(i) && step.state() == v1::STEP_STATE_COMPLETED);
    if (!plan.own(i) || !ended || !has_output || own_outputs_.count(name) != 0) continue;
    const auto stored = step.has_output() ? output_of(durable, now, step) : "null";
    if (plan.has_items(i))
      judge_item_outputs(now, i, stored, plan, durable);
    else if (definition.kind() == v1::STEP_KIND_VALUE)
      judge_value(now, i, stored, definition);
    else if (definition.kind() == v1::STEP_KIND_WAIT)
      judge_wait(now, i, stored, definition);
    else if (plan.is_child(i))
      judge_child_output(now, i, stored, durable);
    else
      takings.push_back({step.path(), definition.signal(), stored});
    if (edits_.count({now.id(), step.path()}) == 0)
      judge_when(name_of(now, i) + " is completed", definition.when_json(), document_for(now, i, definition));
    own_outputs_[name] = stored;
  }
  signals_.taken(now.id(), takings);
  for (std::uint32_t i = 0; i < plan.size(); ++i)
    if (plan.own(i) && !plan.is_child(i))
      judge_missed(before == nullptr ? nullptr : &before->steps(static_cast<int>(i)), now, i, plan.step(i));
}

void content_checker::judge_value(const v1::TaskRecord& record, std::uint32_t index, const std::string& stored,
                                  const v1::StepDefinition& definition) const {
  world_.judges("value");
  world_.count("values computed");
  const auto edited = edits_.find({record.id(), record.steps(static_cast<int>(index)).path()});
  if (edited != edits_.end()) {
    for (const auto& [ticket, json] : edited->second.open)
      if (json == stored) return;
    if (stored == edited->second.sure.value_or("")) return;
    if (edited->second.sure)
      world::broken("value", name_of(record, index) + " has the value " + stored.substr(0, shown_bytes) +
                                 ", and an operator has given it " + *edited->second.sure);
  }
  if (!gives(definition, document_for(record, index, definition), record, stored))
    world::broken("value", name_of(record, index) + " has the value " + stored.substr(0, shown_bytes) + ", which is not what " +
                               definition.with_json() + " gives");
}

void content_checker::judge_wait(const v1::TaskRecord& record, std::uint32_t index, const std::string& stored,
                                 const v1::StepDefinition& definition) const {
  const step_name name{record.id(), index};
  world_.count("waits over");
  if (stored != "null")
    world::broken("wait_early", name_of(record, index) + " has waited, and has the output " + stored.substr(0, shown_bytes));
  // How long the other wait is that an operator has given, and since when, only the core knows.
  if (edits_.count({record.id(), record.steps(static_cast<int>(index)).path()}) != 0) return;
  const auto text = fill_template(definition.with_json(), document_for(record, index, definition));
  std::int64_t wanted_ms = 0;
  if (!text || text->is != value::kind::text)
    world::broken("wait_early", name_of(record, index) + " has waited, and " + definition.with_json() + " gives no duration and no time");
  if (parse_duration(text->text, wanted_ms)) {
    const auto longest_ms = waits_.longest_ms(name);
    if (!longest_ms) return;
    world_.judges("wait_early");
    if (*longest_ms < wanted_ms)
      world::broken("wait_early", name_of(record, index) + " has waited for " + std::to_string(*longest_ms) +
                                      " ms at most, and was to wait for " + text->text);
    return;
  }
  if (!parse_utc(text->text, wanted_ms))
    world::broken("wait_early", name_of(record, index) + " has waited, and " + text->text + " is no duration and no time");
  world_.judges("wait_early");
  if (!waits_.has_shown(wanted_ms))
    world::broken("wait_early", name_of(record, index) + " has waited, and " + text->text + " has not come");
}

void content_checker::judge_missed(const v1::StepRecord* before, const v1::TaskRecord& record, std::uint32_t index,
                                   const v1::StepDefinition& definition) {
  const auto& step = record.steps(static_cast<int>(index));
  const auto goes_on_without = step.timed_out() && (before == nullptr || !before->timed_out());
  const auto failed = step.failure_count() > (before == nullptr ? 0 : before->failure_count());
  const auto waits = step.state() == v1::STEP_STATE_PENDING && step.not_before_unix_ms() != 0;
  if (definition.kind() != v1::STEP_KIND_SIGNAL) {
    // A join may be one that can never be met, and a step of the end fails where its expression does.
    const auto may_fail = definition.finally() != v1::FINALLY_NO || (definition.join() != 0 && step.fault().code() == "join");
    if (goes_on_without || failed || (step.state() == v1::STEP_STATE_FAILED && !may_fail))
      world::broken("signal_early", name_of(record, index) + " waits for no signal, and has failed or timed out");
    return;
  }
  if ((goes_on_without || failed || (waits && goes_on(record))) && signals_.is_kept(record.id(), definition.signal()))
    world::broken("signal_lost", name_of(record, index) + (waits ? " waits" : " has waited in vain") + " for a signal " +
                                     definition.signal() + ", and one was confirmed that no step has taken");
  if (!goes_on_without && !failed) return;
  world_.count("signals missed");
  if (goes_on_without && (step.state() != v1::STEP_STATE_SKIPPED || !definition.goes_on_untimely()))
    world::broken("signal_early", name_of(record, index) + " is skipped as timed out, and its workflow does not say so");
  if (failed && definition.goes_on_untimely())
    world::broken("signal_early", name_of(record, index) + " has failed, and its workflow says on_timeout: continue");
  const auto longest_ms = failed ? waits_.longest_in_vain_ms({record.id(), index}) : waits_.longest_ms({record.id(), index});
  if (!longest_ms) return;
  world_.judges("signal_early");
  if (*longest_ms < definition.timeout_ms())
    world::broken("signal_early", name_of(record, index) + " has waited for a signal for " + std::to_string(*longest_ms) +
                                      " ms at most, and its timeout is " + std::to_string(definition.timeout_ms()) + " ms");
}

}  // namespace fairlead::simulation
