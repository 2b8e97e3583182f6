#include <fairlead/workflow.hpp>

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <map>
#include <set>

#include "actors/core/text/json.hpp"
#include "actors/core/types/message_types.hpp"
#include "actors/core/workflow/check_kinds.hpp"
#include "actors/core/workflow/values/check_values.hpp"
#include "actors/core/workflow/wait.hpp"
#include "app/files/workflow_file.hpp"
#include "app/library/workflow_yaml.hpp"
#include "messages/time.hpp"

namespace fairlead {

namespace {

/// The template as the definition holds it; `problem` says why it is unsound.
std::string as_template(const std::string& json, std::string& problem) {
  const auto sound = core::check_json(json);
  if (sound.ok()) return core::minify_json(json);
  problem = sound.failure().sentence;
  return json;
}

template <class Definition>
void set_backoff(Definition& out, duration first, double factor, std::optional<duration> max) {
  auto& backoff = *out.mutable_backoff();
  backoff.set_first_ms(first.count());
  backoff.set_factor(factor);
  // Without `max`, the longest pause is at least `first`.
  backoff.set_max_ms(max ? max->count() : std::max<std::int64_t>(app::default_backoff_max_ms, first.count()));
}

template <class Definition>
void set_patience(Definition& out) {
  out.set_timeout_ms(app::default_timeout_ms);
  out.set_retry_for_ms(app::default_retry_for_ms);
  set_backoff(out, duration{app::default_backoff_first_ms}, app::default_backoff_factor, std::nullopt);
}

/// With `attempts` alone there is no limit of time.
template <class Definition>
void set_attempts(Definition& out, bool retry_for_given, std::uint32_t how_many) {
  out.set_attempts(how_many);
  if (!retry_for_given) out.clear_retry_for_ms();
}

v1::OnFailure number_of(on_failure what) {
  switch (what) {
    case on_failure::undo: return v1::ON_FAILURE_UNDO;
    case on_failure::cool_off: return v1::ON_FAILURE_COOL_OFF;
    case on_failure::fail: return v1::ON_FAILURE_FAIL;
    case on_failure::go_on: return v1::ON_FAILURE_CONTINUE;
    default: return v1::ON_FAILURE_PARK;
  }
}

}  // namespace

namespace detail {

struct workflow_state {
  v1::WorkflowDefinition definition;
  std::vector<workflow_problem> problems;                  // of parts that the definition cannot hold
  std::vector<const google::protobuf::Descriptor*> types;  // types that steps name
  std::map<int, std::string> waits;                        // JSON texts, by the index of the step
  std::vector<std::set<std::string>> keys;                 // that were set, for each step
};

}  // namespace detail

namespace {

/// The definition as the YAML file gives it. The builder begins each step with the defaults of a call of an agent; only the whole step shows
/// its kind.
v1::WorkflowDefinition finished(const detail::workflow_state& of) {
  auto out = of.definition;
  for (int i = 0; i < out.steps_size(); ++i) {
    auto& step = *out.mutable_steps(i);
    const auto& keys = of.keys[static_cast<std::size_t>(i)];
    const auto has = [&keys](const char* key) { return keys.count(key) != 0; };
    step.set_kind(core::kind_of_keys(has("wait"), has("signal"), has("workflow"), has("agent") || has("call")));
    const bool has_child = step.kind() == v1::STEP_KIND_WORKFLOW;
    if (step.finally() != v1::FINALLY_NO && !has("undo") && !has_child) step.mutable_undo()->set_none(true);
    if (step.kind() == v1::STEP_KIND_CALL) continue;
    if (!has("timeout")) step.clear_timeout_ms();
    if (!has("attempts")) step.clear_attempts();
    if (!has("retry_for")) step.clear_retry_for_ms();
    if (!has("backoff")) step.clear_backoff();
    if (!has("in_doubt")) step.clear_in_doubt();
    if (step.kind() == v1::STEP_KIND_SIGNAL || (step.kind() == v1::STEP_KIND_VALUE && !has("with"))) step.set_with_json("null");
    if (step.kind() == v1::STEP_KIND_WAIT) step.set_with_json(of.waits.at(i));
    if (!has("undo") && !has_child) step.mutable_undo()->set_none(true);
  }
  return out;
}

/// What was set and has no effect in a step of that kind, even if the definition does not show it.
void add_refused(const v1::StepDefinition& step, const std::set<std::string>& keys, std::vector<workflow_problem>& out) {
  for (const auto& key : keys)
    if (auto why = core::why_not(step.kind(), key, step.join() > 0))
      out.push_back({step.name(), key, std::move(why->sentence), std::move(why->remedy)});
}

}  // namespace

undo_call::undo_call(std::string call) {
  definition_.set_call(std::move(call));
  set_patience(definition_);
}

undo_call& undo_call::with(std::string json_template) {
  definition_.set_with_json(as_template(json_template, problem_));
  return *this;
}

undo_call& undo_call::timeout(duration how_long) {
  definition_.set_timeout_ms(how_long.count());
  return *this;
}

undo_call& undo_call::attempts(std::uint32_t how_many) {
  set_attempts(definition_, retry_for_given_, how_many);
  return *this;
}

undo_call& undo_call::retry_for(duration how_long) {
  definition_.set_retry_for_ms(how_long.count());
  retry_for_given_ = true;
  return *this;
}

undo_call& undo_call::backoff(duration first, double factor, std::optional<duration> max) {
  set_backoff(definition_, first, factor, max);
  return *this;
}

retry_rule::retry_rule(std::string code) {
  definition_.add_on(std::move(code));
  definition_.set_retry_for_ms(app::default_retry_for_ms);
}

retry_rule& retry_rule::on(std::string code) {
  definition_.add_on(std::move(code));
  return *this;
}

retry_rule& retry_rule::attempts(std::uint32_t how_many) {
  set_attempts(definition_, retry_for_given_, how_many);
  return *this;
}

retry_rule& retry_rule::retry_for(duration how_long) {
  definition_.set_retry_for_ms(how_long.count());
  retry_for_given_ = true;
  return *this;
}

retry_rule& retry_rule::backoff(duration first, double factor, std::optional<duration> max) {
  set_backoff(definition_, first, factor, max);
  return *this;
}

undo_call& undo_call::also_if_failed() {
  definition_.set_also_if_failed(true);
  return *this;
}

v1::StepDefinition& workflow_step::definition() const { return *of_->definition.mutable_steps(index_); }

v1::StepDefinition& workflow_step::set(const char* key) {
  of_->keys[static_cast<std::size_t>(index_)].insert(key);
  return definition();
}

workflow_step& workflow_step::needs(const std::string& step) {
  definition().add_needs(step);
  return *this;
}

workflow_step& workflow_step::join(std::uint32_t completed) {
  // 0 would be a step that waits for all that it needs.
  if (completed == 0)
    of_->problems.push_back({definition().name(), "join", "0 is not between 1 and the number of steps that it needs", ""});
  set("join").set_join(completed);
  return *this;
}

workflow_step& workflow_step::agent(std::string name) {
  set("agent").set_agent(std::move(name));
  return *this;
}

workflow_step& workflow_step::call(std::string name) {
  set("call").set_call(std::move(name));
  return *this;
}

workflow_step& workflow_step::wait(duration how_long) { return wait(format_duration(how_long.count())); }

workflow_step& workflow_step::wait(std::string text) {
  set("wait");
  // An expression stays as it is, and what is neither is named by the check.
  if (auto canonical = core::canonical_wait(text)) text = std::move(*canonical);
  auto& json = of_->waits[index_];
  json.clear();
  core::append_json_string(json, text);
  return *this;
}

workflow_step& workflow_step::signal(std::string name) {
  set("signal").set_signal(std::move(name));
  return *this;
}

workflow_step& workflow_step::sub_workflow(std::string name) {
  set("workflow").set_workflow(std::move(name));
  return *this;
}

workflow_step& workflow_step::on_timeout(fairlead::on_timeout what) {
  set("on_timeout").set_goes_on_untimely(what == fairlead::on_timeout::go_on);
  return *this;
}

workflow_step& workflow_step::when(const std::string& expression) {
  definition().clear_when_json();
  core::append_json_string(*definition().mutable_when_json(), expression);
  return *this;
}

workflow_step& workflow_step::with(std::string json_template) {
  std::string problem;
  set("with").set_with_json(as_template(json_template, problem));
  if (!problem.empty()) of_->problems.push_back({definition().name(), "with", problem, ""});
  return *this;
}

workflow_step& workflow_step::timeout(duration how_long) {
  set("timeout").set_timeout_ms(how_long.count());
  return *this;
}

workflow_step& workflow_step::attempts(std::uint32_t how_many) {
  auto& step = set("attempts");
  set_attempts(step, of_->keys[static_cast<std::size_t>(index_)].count("retry_for") != 0, how_many);
  return *this;
}

workflow_step& workflow_step::retry_for(duration how_long) {
  set("retry_for").set_retry_for_ms(how_long.count());
  return *this;
}

workflow_step& workflow_step::backoff(duration first, double factor, std::optional<duration> max) {
  set_backoff(set("backoff"), first, factor, max);
  return *this;
}

workflow_step& workflow_step::retry(const retry_rule& rule) {
  *set("retry").add_retry() = rule.definition();
  return *this;
}

workflow_step& workflow_step::heartbeat(duration at_least_every) {
  set("heartbeat").set_heartbeat_ms(at_least_every.count());
  return *this;
}

workflow_step& workflow_step::label(std::string key, std::string value) {
  auto& label = *set("labels").add_labels();
  label.set_key(std::move(key));
  label.set_value(std::move(value));
  return *this;
}

workflow_step& workflow_step::in_doubt(fairlead::in_doubt what) {
  switch (what) {
    case fairlead::in_doubt::park: set("in_doubt").set_in_doubt(v1::IN_DOUBT_PARK); break;
    case fairlead::in_doubt::fail: set("in_doubt").set_in_doubt(v1::IN_DOUBT_FAIL); break;
    default: set("in_doubt").set_in_doubt(v1::IN_DOUBT_RETRY); break;
  }
  return *this;
}

workflow_step& workflow_step::on_failure(fairlead::on_failure what) {
  set("on_failure").set_on_failure(number_of(what));
  return *this;
}

workflow_step& workflow_step::cool_off(duration how_long) {
  set("cool_off").set_cool_off_ms(how_long.count());
  return *this;
}

workflow_step& workflow_step::callback(duration timeout) {
  // 0 would be a step without a callback.
  if (timeout == duration{0}) of_->problems.push_back({definition().name(), "callback.timeout", "0s is not between 1ms and 3660d", ""});
  set("callback").set_callback_ms(timeout.count());
  return *this;
}

workflow_step& workflow_step::repeat(const std::string& until, duration every, std::uint32_t max) {
  auto& repeat = *set("repeat").mutable_repeat();
  repeat.clear_until_json();
  core::append_json_string(*repeat.mutable_until_json(), until);
  repeat.set_every_ms(every.count());
  repeat.set_most(max);
  return *this;
}

workflow_step& workflow_step::for_each(const std::string& items, std::uint32_t at_once, item_failures failures) {
  auto& each = *set("for_each").mutable_for_each();
  each.clear_list_json();
  std::string problem;
  if (core::trim_json(items).starts_with('['))
    each.set_list_json(as_template(items, problem));
  else
    core::append_json_string(*each.mutable_list_json(), items);
  if (!problem.empty()) of_->problems.push_back({definition().name(), "for_each.items", problem, ""});
  each.set_at_once(at_once);
  each.set_collect(failures == item_failures::collect);
  return *this;
}

workflow_step& workflow_step::undo(const undo_call& how) {
  *set("undo").mutable_undo() = how.definition();
  if (!how.problem().empty()) of_->problems.push_back({definition().name(), "undo.with", how.problem(), ""});
  return *this;
}

workflow_step& workflow_step::undo(std::string call, std::string json_template) {
  return undo(undo_call{std::move(call)}.with(std::move(json_template)));
}

workflow_step& workflow_step::undo_none() {
  set("undo").mutable_undo()->Clear();
  definition().mutable_undo()->set_none(true);
  return *this;
}

workflow_step& workflow_step::finally() {
  set("finally").set_finally(v1::FINALLY_ALWAYS);
  return *this;
}

workflow_step& workflow_step::finally_after_failure() {
  set("finally").set_finally(v1::FINALLY_AFTER_FAILURE);
  return *this;
}

workflow_step& workflow_step::pivot() {
  set("pivot").set_pivot(true);
  return *this;
}

workflow_step& workflow_step::set_type(const google::protobuf::Descriptor* type, bool input) {
  if (input)
    set("input_type").set_input_type(type->full_name());
  else
    set("output_type").set_output_type(type->full_name());
  of_->types.push_back(type);
  return *this;
}

workflow_step workflow_step::step(std::string name) const {
  auto& definition = of_->definition;
  auto& step = *definition.add_steps();
  step.set_name(std::move(name));
  step.set_in_doubt(v1::IN_DOUBT_RETRY);
  set_patience(step);
  of_->keys.emplace_back();
  return {of_, definition.steps_size() - 1};
}

workflow::workflow(std::string name) : state_(std::make_shared<detail::workflow_state>()) {
  state_->definition.set_name(std::move(name));
  state_->definition.set_on_failure(v1::ON_FAILURE_PARK);
}

workflow& workflow::timeout(duration how_long) {
  state_->definition.set_timeout_ms(how_long.count());
  return *this;
}

workflow& workflow::on_failure(fairlead::on_failure what) {
  state_->definition.set_on_failure(number_of(what));
  return *this;
}

workflow& workflow::cool_off(duration how_long) {
  state_->definition.set_cool_off_ms(how_long.count());
  return *this;
}

workflow& workflow::end_failed() {
  state_->definition.set_ends_failed(true);
  return *this;
}

workflow& workflow::input_schema(std::string json_schema) {
  std::string problem;
  state_->definition.set_input_schema_json(as_template(json_schema, problem));
  if (!problem.empty()) state_->problems.push_back({"", "input", problem, ""});
  return *this;
}

workflow& workflow::output(std::string json_template) {
  std::string problem;
  state_->definition.set_output_json(as_template(json_template, problem));
  if (!problem.empty()) state_->problems.push_back({"", "output", problem, ""});
  return *this;
}

workflow& workflow::keep_days(std::uint32_t days) {
  state_->definition.set_keep_days(days);
  return *this;
}

workflow_step workflow::step(std::string name) { return workflow_step{state_, -1}.step(std::move(name)); }

std::vector<workflow_problem> workflow::problems() const {
  auto out = state_->problems;
  auto whole = finished(*state_);
  for (int i = 0; i < whole.steps_size(); ++i) add_refused(whole.steps(i), state_->keys[static_cast<std::size_t>(i)], out);
  if (auto types = core::describe_types(state_->types))
    whole.set_types(std::move(*types));
  else
    out.push_back({"", "types", types.failure().sentence, types.failure().remedy});
  for (const auto& found : core::check_source(whole, nullptr)) {
    const bool known = std::any_of(out.begin(), out.end(),
                                   [&](const workflow_problem& one) { return one.step == found.step && one.field == found.field; });
    if (!known) out.push_back({found.step, found.field, found.sentence, found.remedy});
  }
  return out;
}

std::string workflow::yaml() const { return detail::yaml_of(finished(*state_)); }

result<v1::WorkflowDefinition> workflow::definition() const {
  const auto found = problems();
  if (found.empty()) {
    auto out = finished(*state_);
    if (!state_->types.empty()) out.set_types(*core::describe_types(state_->types));
    return out;
  }
  error out{v1::ERROR_CODE_INVALID_ARGUMENT, "workflow " + state_->definition.name() + ":", found.front().remedy};
  for (const auto& one : found) {
    out.sentence += found.size() > 1 ? "\n  " : " ";
    if (!one.step.empty()) out.sentence += "step " + one.step + (one.field.empty() ? ": " : ", ");
    if (!one.field.empty()) out.sentence += one.field + ": ";
    out.sentence += one.sentence;
  }
  return out;
}

}  // namespace fairlead
