#include "actors/core/task/migration/migration.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "actors/core/task/restore.hpp"
#include "actors/core/workflow/comparison.hpp"
#include "messages/task_states.hpp"

namespace fairlead::core {

namespace {

using fields = v1::StepDefinition;

/// What nothing reads any more of a step that has ended and may only be undone. All other fields decide what its undo is, or whether the task
/// can be undone; a new field is one of those until somebody knows better.
constexpr int read_before_end[] = {
    fields::kNeedsFieldNumber,     fields::kWithJsonFieldNumber,   fields::kTimeoutMsFieldNumber, fields::kAttemptsFieldNumber,
    fields::kBackoffFieldNumber,   fields::kInDoubtFieldNumber,    fields::kOnFailureFieldNumber, fields::kCoolOffMsFieldNumber,
    fields::kInputTypeFieldNumber, fields::kSignalFieldNumber,     fields::kRepeatFieldNumber,    fields::kGoesOnUntimelyFieldNumber,
    fields::kRetryFieldNumber,     fields::kCallbackMsFieldNumber, fields::kWhenJsonFieldNumber,  fields::kRetryForMsFieldNumber};

/// Nothing of the step is awaited, in progress or in doubt.
bool is_settled(const v1::StepRecord& step) {
  const auto waits = step.complete_by_unix_ms() != 0 || step.not_before_unix_ms() != 0 || step.held_until_unix_ms() != 0;
  const auto over = satisfies_needs(step) || step.state() == v1::STEP_STATE_UNDONE;
  return over && !waits && !step.doubtful() && !step.undo_doubtful();
}

using index_by_name = std::map<std::string, std::uint32_t>;

index_by_name indices_of(const workflow& of) {
  index_by_name out;
  for (int i = 0; i < of.definition().steps_size(); ++i) out.emplace(of.definition().steps(i).name(), static_cast<std::uint32_t>(i));
  return out;
}

std::set<std::string> names_of(const workflow& in, const std::vector<std::uint32_t>& indices) {
  std::set<std::string> out;
  for (const auto index : indices) out.insert(in.step_definition(index).name());
  return out;
}

class comparison {
 public:
  comparison(const v1::TaskRecord& record, const workflow& from, const workflow& to)
      : record_(record), from_(from), to_(to), places_(indices_of(to)), same_types_(from.definition().types() == to.definition().types()) {}

  std::vector<unfit_step> unfit() {
    for (int i = 0; i < record_.steps_size(); ++i)
      if (const auto& step = record_.steps(i); has_begun(step)) look_at(static_cast<std::uint32_t>(i), step);
    look_at_end();
    return std::move(out_);
  }

 private:
  void refuse(const std::string& step, std::string why) { out_.push_back({step, std::move(why)}); }

  void look_at(std::uint32_t index, const v1::StepRecord& step) {
    const auto found = places_.find(step.path());
    if (found == places_.end()) return refuse(step.path(), "has begun, and the other version has no such step");
    if (const auto key = differs_in(step, to_.step_definition(found->second)); !key.empty())
      return refuse(step.path(), "has begun, and its '" + key + "' differs");
    if (found->second != index)
      return refuse(step.path(), "has begun as number " + std::to_string(index + 1) + " of the file's steps, and is number " +
                                     std::to_string(found->second + 1) + " there");
    look_at_needs(index, step);
  }

  /// The key of the first field that has to be the same and is not; empty: there is none.
  std::string differs_in(const v1::StepRecord& step, const v1::StepDefinition& now) const {
    const auto& was = from_.step_definition(step.definition());
    const auto settled = is_settled(step);
    const auto counts = [&](int field) {
      // Which needs were left over is decided by those that were completed.
      if (field == fields::kNeedsFieldNumber && was.join() != 0) return true;
      return !settled || std::find(std::begin(read_before_end), std::end(read_before_end), field) == std::end(read_before_end);
    };
    for (const auto& one : compare(was, now))
      if (counts(one.field)) return one.key;
    const auto typed = !was.output_type().empty() || (!settled && !was.input_type().empty());
    return typed && !same_types_ ? "types" : "";
  }

  /// What the step needs there has ended, or had its say when the step began.
  void look_at_needs(std::uint32_t index, const v1::StepRecord& step) {
    const auto before = names_of(from_, from_.compiled(index).needs);
    for (const auto& need : names_of(to_, to_.compiled(index).needs)) {
      if (before.contains(need)) continue;
      const auto* record = record_of(need);
      if (record == nullptr || !has_begun(*record) || !satisfies_needs(*record))
        return refuse(step.path(), "has begun, and waits there for step " + need + ", which has not ended");
    }
    // Whether a step is left over was decided by the steps that need it.
    if (step.dropped() && names_of(from_, from_.compiled(index).needed_by) != names_of(to_, to_.compiled(index).needed_by))
      return refuse(step.path(), "was left over by a join, and other steps need it there");
    if (!step.dropped()) return;
    for (const auto one : from_.compiled(index).needed_by) {
      const auto& was = from_.step_definition(one);
      const auto& now = to_.step_definition(places_.at(was.name()));
      const auto same = was.join() == now.join() && std::set<std::string>(was.needs().begin(), was.needs().end()) ==
                                                        std::set<std::string>(now.needs().begin(), now.needs().end());
      if (was.join() != 0 && !same) return refuse(step.path(), "was left over by the join of step " + was.name() + ", which differs there");
    }
  }

  /// Once a step of the end has begun, no other may begin.
  void look_at_end() {
    const auto ends = std::any_of(record_.steps().begin(), record_.steps().end(), [this](const v1::StepRecord& step) {
      return has_begun(step) && from_.step_definition(step.definition()).finally() != v1::FINALLY_NO;
    });
    if (!ends) return;
    for (const auto& step : to_.definition().steps()) {
      if (step.finally() != v1::FINALLY_NO) continue;
      const auto* record = record_of(step.name());
      if (record == nullptr || !has_begun(*record)) refuse(step.name(), "would begin after the steps of the end have begun");
    }
  }

  const v1::StepRecord* record_of(const std::string& path) const {
    const auto& all = record_.steps();
    const auto found = std::find_if(all.begin(), all.end(), [&](const v1::StepRecord& one) { return one.path() == path; });
    return found == all.end() ? nullptr : &*found;
  }

  const v1::TaskRecord& record_;
  const workflow& from_;
  const workflow& to_;
  index_by_name places_;
  bool same_types_;
  std::vector<unfit_step> out_;
};

}  // namespace

bool has_begun(const v1::StepRecord& step) {
  v1::StepRecord untouched;
  untouched.set_path(step.path());
  untouched.set_state(v1::STEP_STATE_PENDING);
  untouched.set_definition(step.definition());
  untouched.set_kind(step.kind());
  // It was found ready, and nothing has come of that yet.
  untouched.set_blocked_seen_ms(step.blocked_seen_ms());
  untouched.set_wanted(step.wanted());
  return untouched.SerializeAsString() != step.SerializeAsString();
}

std::vector<unfit_step> unfit_steps(const v1::TaskRecord& record, const workflow& from, const workflow& to) {
  return comparison{record, from, to}.unfit();
}

void carry_over(v1::TaskRecord& record, const workflow& from, const workflow& to, const workflow_engine& engine) {
  v1::TaskRecord fresh;
  engine.begin(to, fresh);
  for (auto& step : *fresh.mutable_steps()) {
    const auto was = std::find_if(record.mutable_steps()->begin(), record.mutable_steps()->end(),
                                  [&](const v1::StepRecord& one) { return one.path() == step.path(); });
    if (was == record.mutable_steps()->end() || !has_begun(*was)) {
      if (record.restored_from_unix_ms() != 0) may_have_begun(step, record);
      continue;
    }
    const auto& before = from.step_definition(was->definition());
    const auto place = step.definition();
    step = std::move(*was);
    step.set_definition(place);
    // Attempts are counted by the rules of the version, in their order.
    for (const auto& one : compare(before, to.step_definition(place)))
      if (one.field == fields::kRetryFieldNumber) step.clear_retried();
  }
  record.mutable_steps()->Swap(fresh.mutable_steps());
}

}  // namespace fairlead::core
