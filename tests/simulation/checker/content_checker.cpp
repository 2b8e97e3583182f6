#include "tests/simulation/checker/content_checker.hpp"

#include <algorithm>
#include <array>

#include "actors/core/text/json.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::size_t shown_bytes = 200;

std::string shown(const std::string& text) { return text.size() > shown_bytes ? text.substr(0, shown_bytes) + "…" : text; }

std::string text_of(const v1::Perform& what) { return "step " + what.step_path() + " of " + what.task_id(); }

std::string loaded(const store::snapshot& durable, const v1::TaskRecord& record, const v1::Payload& payload) {
  auto out = store::load_payload(durable, record.number(), payload);
  if (!out.ok()) world::broken("store_check", "a payload of " + record.id() + " cannot be read: " + out.failure().sentence);
  return std::move(*out);
}

bool same(const std::string& stored, const value& expected) {
  const auto known = parse_value(stored);
  return known && *known == expected;
}

value labels_of(const google::protobuf::RepeatedPtrField<v1::Label>& labels) {
  value out;
  out.is = value::kind::object;
  for (const auto& one : labels) out.members[one.key()] = text_value(one.value());
  return out;
}

bool completed(v1::StepState state) { return state == v1::STEP_STATE_COMPLETED; }

/// Its undo may have begun since.
bool has_given(const v1::StepRecord& step) {
  const auto undone = step.state() == v1::STEP_STATE_UNDOING || step.state() == v1::STEP_STATE_UNDONE;
  return completed(step.state()) || (undone && step.has_output());
}

/// Who reads a step that was passed over sees a failed one, also once its doubt is taken up again because its task is undone: that may be
/// decided in the commit in which a step begins that reads it.
bool stays_failed(const v1::StepRecord& step) {
  return step.passed_over() && (step.state() == v1::STEP_STATE_FAILED || step.state() == v1::STEP_STATE_IN_DOUBT);
}

}  // namespace

// ---- what operators say ----

void content_checker::hears(std::uint64_t ticket, const v1::OperateRequest& what) {
  if (what.action().verb() == v1::OPERATOR_VERB_SETTLE_COMPLETED && what.action().step().empty())
    for (const auto& id : what.ids()) settled_outputs_[id].insert(what.action().json());
  const auto settles =
      what.action().verb() == v1::OPERATOR_VERB_SETTLE_COMPLETED || what.action().verb() == v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED;
  if (settles && !what.action().step().empty())
    for (const auto& id : what.ids()) settled_.emplace(id, what.action().step());
  if (what.ids_size() == 1 && what.action().verb() == v1::OPERATOR_VERB_SKIP) skips_.emplace(what.ids(0), what.action().step());
  if (what.ids_size() != 1 || what.action().verb() != v1::OPERATOR_VERB_RETRY || !what.action().has_json()) return;
  heard_[ticket] = {what.ids(0), what.action()};
  edits_[{what.ids(0), what.action().step()}].open.emplace_back(ticket, what.action().json());
}

void content_checker::answers(std::uint64_t ticket, const v1::OperateReply& what, const store::snapshot& durable) {
  const auto found = heard_.find(ticket);
  if (found == heard_.end()) return;
  const auto [task, action] = std::move(found->second);
  heard_.erase(found);
  auto& of = edits_[{task, action.step()}];
  const auto taken =
      what.error().code() == v1::ERROR_CODE_OK && what.results_size() == 1 && what.results(0).error().code() == v1::ERROR_CODE_OK;
  std::erase_if(of.open, [&](const auto& one) { return taken ? one.first <= ticket : one.first == ticket; });
  if (!taken) return;
  of.sure = action.json();
  if (!of.open.empty()) return;
  const auto known = store::find_task(durable, task);
  const auto record =
      known.ok() && *known ? store::load_task(durable, (*known)->number()) : result<std::optional<v1::TaskRecord>>{std::nullopt};
  if (!record.ok() || !*record) return;
  const auto& steps = (*record)->steps();
  const auto named = std::find_if(steps.begin(), steps.end(), [&](const auto& one) { return one.path() == action.step(); });
  if (named == steps.end()) return;
  const auto& step = *named;
  if (step.state() == v1::STEP_STATE_SKIPPED) return;
  // It has taken the input, and nobody asks for that any more.
  if (step.kind() != v1::STEP_KIND_CALL && completed(step.state())) return;
  // Its task has it.
  if (step.kind() == v1::STEP_KIND_WORKFLOW) return;
  world_.count("inputs edited");
  world_.judges("edited_input");
  if (!step.has_input() || loaded(durable, **record, step.input()) != action.json())
    world::broken("edited_input", "another input of step " + action.step() + " of " + task + " was confirmed, " + action.json() +
                                      ", and the store has " + (step.has_input() ? loaded(durable, **record, step.input()) : "none"));
}

// ---- what is known ----

const std::string* content_checker::given(const step_name& of) const {
  const auto key = newest_key_(of);
  return callbacks_.has(key) ? callbacks_.given(key) : services_->given(key);
}

bool content_checker::gives(const std::string& with, const v1::StepDefinition& step, const value& document, const v1::TaskRecord& record,
                            const std::string& stored) const {
  const auto fits = [&](const value& by) {
    const auto expected = fill_template(with, by);
    return expected && same(stored, *expected);
  };
  if (fits(document)) return true;
  if (step.join() == 0) return false;
  std::vector<std::string> needs;
  for (const auto& one : record.steps())
    if (std::find(step.needs().begin(), step.needs().end(), one.path()) != step.needs().end()) needs.push_back(one.path());
  // The join need not have waited for a need, so nobody else can tell whether that had ended, or was dropped, when the step read it.
  auto unended = document;
  for (const auto& need : needs) unended.members["steps"].members[need] = unended.members["status"].members[need] = value{};
  const std::array views{document_of(record, view::needed), document_of(record, view::before), unended};
  std::size_t most = 1;
  for (std::size_t i = 0; i < needs.size(); ++i) most *= views.size();
  for (std::size_t which = 0; which < most; ++which) {
    auto then = document;
    auto rest = which;
    for (const auto& need : needs) {
      for (const auto* root : {"steps", "status"}) {
        auto& members = then.members[root].members;
        const auto& seen = views[rest % views.size()].members.at(root).members;
        members.erase(need);
        if (const auto known = seen.find(need); known != seen.end()) members.emplace(need, known->second);
      }
      rest /= views.size();
    }
    if (fits(then)) return true;
  }
  return false;
}

value content_checker::document_of(const v1::TaskRecord& record, view by, std::optional<std::uint32_t> reader, bool at_end) const {
  value out;
  out.is = value::kind::object;
  const auto submitted = submitted_.find(record.id());
  const auto launched = launch_inputs_.find(record.id());
  std::string input = "null";
  if (submitted != submitted_.end())
    input = submitted->second.input();
  else if (launched != launch_inputs_.end())
    input = launched->second;
  out.members["input"] = parse_value(input).value_or(value{});
  auto& task = out.members["task"];
  task.is = value::kind::object;
  task.members["id"] = text_value(record.id());
  task.members["workflow"] = text_value(record.workflow());
  task.members["priority"] = number_value(submitted != submitted_.end() ? submitted->second.priority() : record.priority());
  task.members["labels"] = labels_of(submitted != submitted_.end() ? submitted->second.labels() : record.labels());
  auto& steps = out.members["steps"];
  auto& states = out.members["status"];
  steps.is = states.is = value::kind::object;
  for (int i = 0; i < record.steps_size(); ++i) {
    const auto& step = record.steps(i);
    const auto joined = joined_.count(record.id()) != 0;
    // Of a step with a join it need not have ended.
    if (joined) steps.members[step.path()] = states.members[step.path()] = value{};
    const auto dropped = step.dropped() && by != view::before;
    if (dropped && (by == view::needed || step.state() == v1::STEP_STATE_SKIPPED)) {
      states.members[step.path()] = text_value("dropped");
      continue;
    }
    if (step.state() == v1::STEP_STATE_SKIPPED) {
      steps.members[step.path()] = value{};
      states.members[step.path()] = text_value(step.timed_out() ? "timed_out" : "skipped");
      continue;
    }
    // Until its task goes forward no more, one that was not passed over waits for another attempt: it has not ended.
    const auto waits = !dropped && record.state() == v1::TASK_STATE_RUNNING && !record.failing();
    if (stays_failed(step) || (step.state() == v1::STEP_STATE_FAILED && !waits))
      states.members[step.path()] = text_value(dropped ? "dropped" : "failed");
    if (stays_failed(step)) steps.members[step.path()] = value{};
    // What a step gave is known as soon as it is over, and while it is undone.
    const auto ended = has_given(step);
    const step_name name{record.id(), static_cast<std::uint32_t>(i)};
    // A round may read what the one before gave.
    const auto shows = (!joined && !at_end) || ended || reader == name.step;
    if (const auto known = rounds_.find(name); shows && known != rounds_.end() && !known->second.keys.empty() && !step.passed_over())
      steps.members[step.path()] = parse_value(known->second.output).value_or(value{});
    const auto own = own_outputs_.find(name);
    const auto* output = !ended ? nullptr : own != own_outputs_.end() ? &own->second : given(name);
    if (output == nullptr) continue;
    steps.members[step.path()] = parse_value(*output).value_or(value{});
    states.members[step.path()] = text_value(dropped ? "dropped" : "completed");
  }
  return out;
}

// ---- what leaves ----

void content_checker::handed_over(const v1::Perform& what, const v1::TaskRecord& record, const shape& plan) {
  const auto undo_of_dropped = what.direction() == v1::DIRECTION_UNDO && record.steps(static_cast<int>(what.step())).dropped();
  const auto of_item = what.direction() == v1::DIRECTION_UNDO && record.parent().call_of() != 0;
  const auto document = of_item           ? document_of_undo(record)
                        : undo_of_dropped ? std::optional{document_of(record, view::undo_of_dropped)}
                                          : std::optional{document_for(record, what.step(), plan.of_end(what.step()))};
  callbacks_.judge_key(what);
  if (what.direction() == v1::DIRECTION_UNDO) callbacks_.judge_undo(what, plan);
  if (what.direction() == v1::DIRECTION_UNDO)
    document ? judge_undo(what, plan, *document) : void();
  else
    judge_input(what, record, plan, *document);
}

void content_checker::judge_when(const std::string& text, const std::string& when, const value& document) {
  if (when.empty()) return;
  world_.judges("when");
  if (fill_template(when, document) != truth_value(true)) world::broken("when", text + ", and " + when + " does not give true");
}

void content_checker::judge_skip(const v1::TaskRecord& record, std::uint32_t index, const shape& plan) {
  const auto& step = record.steps(static_cast<int>(index));
  // The task has ended without its turn, or while it waited for another attempt: own/ends.cpp.
  if (plan.of_end(index) && (step.ended_at_unix_ms() == 0 || step.started_at_unix_ms() != 0)) return;
  if (step.timed_out() || step.dropped() || skips_.count({record.id(), step.path()}) != 0) return;
  const auto& when = plan.step(index).when_json();
  world_.judges("when");
  world_.count("steps skipped by `when`");
  if (when.empty() || fill_template(when, document_of(record)) != truth_value(false))
    world::broken("when", "step " + step.path() + " of " + record.id() + " is skipped, and " +
                              (when.empty() ? "nobody has said so" : when + " does not give false"));
}

void content_checker::judge_input(const v1::Perform& what, const v1::TaskRecord& record, const shape& plan, const value& document) {
  const auto edited = edits_.find({what.task_id(), plan.step(what.step()).name()});
  if (edited != edits_.end()) {
    const auto& of = edited->second;
    const auto is_open = std::any_of(of.open.begin(), of.open.end(), [&](const auto& one) { return one.second == what.input(); });
    world_.judges("input");
    if (is_open || what.input() == of.sure.value_or("")) return;
    if (of.sure)
      world::broken("input", text_of(what) + " was handed over with " + shown(what.input()) + ", and an operator has had " + *of.sure +
                                 " put in its place");
  }
  judge_round_begins(what, record, plan, document);
  // An operator has had it performed in place of its `when`: later rounds do not ask that either.
  if (edited == edits_.end() || !plan.repeats(what.step()))
    judge_when(text_of(what) + " was handed over", plan.step(what.step()).when_json(), document);
  if (plan.of_end(what.step())) return judge_end_input(what, plan, document);
  const auto expected = fill_template(plan.step(what.step()).with_json(), document);
  world_.judges("input");
  auto& last = inputs_[{what.task_id(), what.step()}];
  // A step before it that was passed over has been skipped or settled since, or the step itself was passed over, so that what its rounds
  // gave counts no more: it keeps its input.
  const auto skipped = skips_.lower_bound({what.task_id(), ""});
  const auto settled = settled_.lower_bound({what.task_id(), ""});
  const auto is_kept =
      what.input() == last && (plan.has_joins() || (skipped != skips_.end() && skipped->first == what.task_id()) ||
                               (settled != settled_.end() && settled->first == what.task_id()) ||
                               (what.direction() == v1::DIRECTION_LOOKUP && record.steps(static_cast<int>(what.step())).passed_over()));
  if (!expected && !is_kept && !plan.joins(what.step()))
    world::broken("input", text_of(what) + " was handed over with " + shown(what.input()) + ", and " + plan.step(what.step()).with_json() +
                               " gives nothing");
  if (!is_kept && !gives(plan.step(what.step()), document, record, what.input()))
    world::broken("input", text_of(what) + " was handed over with " + shown(what.input()) + ", which is not what " +
                               plan.step(what.step()).with_json() + " gives");
  last = what.input();
}

void content_checker::judge_undo(const v1::Perform& what, const shape& plan, const value& document) {
  const auto& with = plan.step(what.step()).undo().with_json();
  const auto expected = fill_template(with, document);
  world_.judges("undo_input");
  if (!expected || !same(what.input(), *expected))
    world::broken("undo_input", "the undo of " + text_of(what) + " was handed over with " + shown(what.input()) + ", which is not what " +
                                    with + " gives");
  const auto* output = what.in_doubt() ? nullptr : given({what.task_id(), what.step()});
  world_.judges("perform_output");
  if (what.perform_output() != (output == nullptr ? "null" : *output))
    world::broken("perform_output", "the undo of " + text_of(what) + " was told that the perform had given " +
                                        shown(what.perform_output()) + ", and it was " +
                                        (output == nullptr ? "not known" : shown(*output)));
}

// ---- what is stored ----

/// An operator may settle or skip what the step reads before the step is handed over for the first time: the Scheduler may have died with that
/// decision untold, or the step may have waited for an instance. It keeps an input that its template gave when that came to stand in the row.
void content_checker::note_input(const v1::TaskRecord* before, const v1::TaskRecord& now, std::uint32_t index,
                                 const store::snapshot& durable, const shape& plan) {
  const auto& step = now.steps(static_cast<int>(index));
  if (step.kind() != v1::STEP_KIND_CALL || !step.has_input() || plan.has_items(index) || plan.of_end(index)) return;
  const auto* was = before == nullptr ? nullptr : &before->steps(static_cast<int>(index));
  if (was != nullptr && was->has_input() && was->input().SerializeAsString() == step.input().SerializeAsString()) return;
  auto stored = loaded(durable, now, step.input());
  if (gives(plan.step(index), document_for(now, index, plan.step(index)), now, stored)) inputs_[{now.id(), index}] = std::move(stored);
}

void content_checker::judge_submission(const v1::TaskRecord& record, const store::snapshot& durable) {
  if (record.has_parent()) {
    const auto stored = loaded(durable, record, record.input());
    record.parent().item() != 0 ? judge_item_input(record, stored, durable) : judge_child_input(record, stored);
    launch_inputs_[record.id()] = stored;
    return;
  }
  if (record.has_launch()) {
    launch_inputs_.emplace(record.id(), loaded(durable, record, record.input()));
    return;
  }
  const auto known = submitted_.find(record.id());
  world_.judges("submission");
  if (known == submitted_.end()) world::broken("submission", "task " + record.id() + " is in the store, and nobody has submitted it");
  const auto& wanted = known->second;
  if (loaded(durable, record, record.input()) != wanted.input())
    world::broken("submission", "task " + record.id() + " was submitted with another input than is stored");
  if (record.priority() != wanted.priority())
    world::broken("submission", "task " + record.id() + " was submitted with the priority " + std::to_string(wanted.priority()) +
                                    ", and is stored with " + std::to_string(record.priority()));
  if (labels_of(record.labels()) != labels_of(wanted.labels()) || record.labels_size() != wanted.labels_size())
    world::broken("submission", "task " + record.id() + " is stored with other labels than it was submitted with");
  if (record.reply().SerializeAsString() != wanted.reply().SerializeAsString())
    world::broken("submission", "task " + record.id() + " is stored with another reply address than it was submitted with");
  if (record.delay_ms() != wanted.delay_ms() || (wanted.delay_ms() == 0 && record.start_at_unix_ms() != wanted.start_at_unix_ms()))
    world::broken("submission", "task " + record.id() + " is stored with another start than it was submitted with");
  if (record.deadline_unix_ms() != 0) world::broken("submission", "task " + record.id() + " has a deadline that nobody gave it");
}

void content_checker::judge_log(const v1::TaskRecord& now, int index, const v1::TaskRecord* before, const store::snapshot& durable) {
  const auto& step = now.steps(index);
  const auto& log = step.log();
  if (!step.has_log()) {
    if (before != nullptr && before->steps(index).has_log())
      world::broken("log", "the log of " + step.path() + " of " + now.id() + " is gone");
    return;
  }
  if (before != nullptr && before->steps(index).log().SerializeAsString() == log.SerializeAsString()) return;
  world_.judges("log");
  std::string expected;
  core::append_json_string(expected,
                           printed_by(now.id(), static_cast<std::uint32_t>(index), log.direction(), log.attempt()).value_or("nothing"));
  if (loaded(durable, now, log.text()) != expected || log.cut())
    world::broken("log", "step " + step.path() + " of " + now.id() + " is stored with another log than attempt " +
                             std::to_string(log.attempt()) + " has printed");
}

/// Steps that are answered later.
void content_checker::judge_called(const v1::TaskRecord* before, const v1::TaskRecord& now, const store::snapshot& durable,
                                   const shape& plan) {
  for (std::uint32_t i = 0; i < plan.size(); ++i) {
    if (!plan.answered_later(i)) continue;
    const auto& step = now.steps(static_cast<int>(i));
    const auto* was = before == nullptr ? nullptr : &before->steps(static_cast<int>(i));
    const step_name name{now.id(), i};
    const auto is_completed = has_given(step) && (was == nullptr || !has_given(*was));
    const auto has_round = step.rounds() > (was == nullptr ? 0 : was->rounds());
    std::optional<std::string> stored;
    if (is_completed || has_round) stored = loaded(durable, now, step.output());
    // A repeated step is completed after its last round, if no operator has settled it.
    const auto known = rounds_.find(name);
    if (!has_round && stored && known != rounds_.end() && !known->second.keys.empty() && *stored == known->second.output) stored.reset();
    callbacks_.became_durable(now, i, newest_key_(name), stored ? &*stored : nullptr);
  }
}

void content_checker::became_durable(const v1::TaskRecord* before, const v1::TaskRecord& now, const store::snapshot& durable,
                                     const shape* plan) {
  if (before == nullptr) judge_submission(now, durable);
  if (plan != nullptr && plan->has_joins()) joined_.insert(now.id());
  if (plan != nullptr) {
    // What comes first others read in the same commit.
    judge_called(before, now, durable, *plan);
    judge_own_steps(before, now, durable, *plan);
    judge_lists(now, durable, *plan);
    judge_rounds(before, now, durable, *plan);
    judge_task_output(before, now, durable, *plan);
  }
  for (int i = 0; i < now.steps_size(); ++i) {
    const auto& step = now.steps(i);
    judge_log(now, i, before, durable);
    if (plan != nullptr) note_input(before, now, static_cast<std::uint32_t>(i), durable, *plan);
    if (plan != nullptr && step.state() == v1::STEP_STATE_SKIPPED &&
        (before == nullptr || before->steps(i).state() != v1::STEP_STATE_SKIPPED))
      judge_skip(now, static_cast<std::uint32_t>(i), *plan);
    if (step.kind() != v1::STEP_KIND_CALL) continue;
    if (!completed(step.state()) || (before != nullptr && completed(before->steps(i).state()))) continue;
    const auto stored = loaded(durable, now, step.output());
    const auto* output = given({now.id(), static_cast<std::uint32_t>(i)});
    world_.judges("output");
    if (output == nullptr || stored != *output)
      world::broken("output", "step " + step.path() + " of " + now.id() + " is stored with the output " + shown(stored) +
                                  ", and its service gave " + (output == nullptr ? "nothing" : shown(*output)));
  }
}

}  // namespace fairlead::simulation
