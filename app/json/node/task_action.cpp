#include "app/json/node/task_action.hpp"

#include <algorithm>
#include <optional>

#include "actors/core/request_limits.hpp"
#include "actors/core/task/task.hpp"
#include "messages/task_states.hpp"
#include "store/content_hash.hpp"

namespace fairlead::app {

namespace {

const task_verb* find_asked_verb(const std::string& word, v1::OperatorVerb& verb) {
  if (word == "settle") return nullptr;
  const auto settles = word == "settle_completed" || word == "settle_never_happened";
  const auto* const row = find_task_verb(settles ? "settle" : word);
  if (row != nullptr && row->of_one_task) return nullptr;
  if (row != nullptr) verb = word == "settle_never_happened" ? v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED : row->verb;
  return row;
}

std::string asked_verb_words() {
  std::string out;
  for (const auto& one : task_verbs) {
    if (one.of_one_task) continue;
    out += (out.empty() ? "" : ", ") +
           (one.verb == v1::OPERATOR_VERB_SETTLE_COMPLETED ? "settle_completed, settle_never_happened" : std::string{one.word});
  }
  return out;
}

bool is_part_of_id(char c) { return c == '_' || c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

std::vector<json_field> asked_action::fields() {
  return {{"verb", text_into(verb), true}, {"step", text_into(step)},     {"input", json_into(input)}, {"output", json_into(output)},
          {"now", flag_into(now)},         {"reason", text_into(reason)}, {"from", text_into(from)},   {"to", text_into(to)}};
}

result<v1::OperatorAction> asked_action::read(std::string& pointer) const {
  v1::OperatorAction out;
  v1::OperatorVerb which{};
  const auto* const row = find_asked_verb(verb, which);
  const auto base = pointer;
  const auto refuse = [&](const std::string& field, const std::string& sentence, const std::string& remedy) {
    pointer = base + field;
    return invalid(sentence, remedy);
  };
  if (row == nullptr) return refuse("/verb", "There is no verb '" + verb + "'.", "Verbs are " + asked_verb_words() + ".");
  std::optional<error> misplaced;
  const auto only_of = [&](const std::string& field, bool given, v1::OperatorVerb whose) {
    if (given && which != whose && !misplaced)
      misplaced = refuse("/" + field, "Field '" + field + "' is not one of '" + verb + "'.", "Leave it out.");
  };
  only_of("input", !input.empty(), v1::OPERATOR_VERB_RETRY);
  only_of("output", !output.empty(), v1::OPERATOR_VERB_SETTLE_COMPLETED);
  only_of("now", now, v1::OPERATOR_VERB_TERMINATE);
  only_of("from", from.has_value(), v1::OPERATOR_VERB_MIGRATE);
  only_of("to", to.has_value(), v1::OPERATOR_VERB_MIGRATE);
  if (misplaced) return *misplaced;
  if (row->step == task_verb::step::none && !step.empty())
    return refuse("/step", "'" + verb + "' is about the whole task.", "Leave the step out.");
  const auto must_name = row->step == task_verb::step::must_be_named || which == v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED;
  if ((must_name || !input.empty()) && step.empty())
    return refuse("/step", "No step is given.", "Name one; the task itself lists its steps.");
  if (which == v1::OPERATOR_VERB_SETTLE_COMPLETED && output.empty())
    return step.empty() ? refuse("/step", "Neither a step nor an output is given.",
                                 "Name a step, and give its output; or give the output of the task alone.")
                        : refuse("/output", "The output of the step is missing.", "Give it as JSON, null for none.");
  if (row->needs_reason && reason.find_first_not_of(" \t\r\n") == std::string::npos)
    return refuse("/reason", "'" + verb + "' needs a reason, and no reason is given.", "Give one; the task's history keeps it.");
  if (reason.size() > reason_limit)
    return refuse("/reason", "The reason is longer than " + std::to_string(reason_limit) + " bytes.", "Give a shorter reason.");
  if (which == v1::OPERATOR_VERB_MIGRATE)
    for (const auto is_from : {true, false}) {
      auto hash = store::from_hex((is_from ? from : to).value_or(""));
      if (!hash || hash->size() != store::content_hash_bytes)
        return refuse(is_from ? "/from" : "/to", "'migrate' needs two versions of the workflow, and this is none.",
                      "Give the whole content_hash, 32 hexadecimal digits; GET /v1/workflows lists those that tasks go by.");
      is_from ? out.set_from_hash(std::move(*hash)) : out.set_to_hash(std::move(*hash));
    }
  out.set_verb(which);
  out.set_step(step);
  if (!input.empty() || !output.empty()) out.set_json(input.empty() ? output : input);
  out.set_at_once(now);
  out.set_reason(reason);
  return out;
}

bool concerns(v1::OperatorVerb verb, const v1::TaskSummary& task) {
  if (verb == v1::OPERATOR_VERB_RESUME) return task.paused();
  if (verb == v1::OPERATOR_VERB_MIGRATE) return !has_ended(task.state());
  if (verb == v1::OPERATOR_VERB_DELETE) return has_ended(task.state());
  return true;
}

std::string misfit_of(v1::OperatorVerb verb, v1::TaskState state, bool parked, std::optional<bool> paused) {
  if (verb == v1::OPERATOR_VERB_DELETE) return has_ended(state) ? "" : "the task has not ended";
  const auto undoes_again = verb == v1::OPERATOR_VERB_UNDO && state != v1::TASK_STATE_UNDONE;
  if (has_ended(state) && !undoes_again) return std::string{"the task is "} + core::state_word(state) + " already";
  switch (verb) {
    case v1::OPERATOR_VERB_RETRY: return state == v1::TASK_STATE_PENDING ? "the task is pending: no step has been tried yet" : "";
    case v1::OPERATOR_VERB_UNDO:
    case v1::OPERATOR_VERB_CANCEL: return state == v1::TASK_STATE_UNDOING ? "the task is being undone already" : "";
    case v1::OPERATOR_VERB_MIGRATE: return state == v1::TASK_STATE_UNDOING ? "the task is being undone" : "";
    case v1::OPERATOR_VERB_PAUSE: return paused.value_or(false) ? "the task is paused already" : "";
    case v1::OPERATOR_VERB_RESUME:
      if (paused.value_or(true)) return "";
      return parked ? "the task is parked, not paused" : "the task is not paused";
    default: return "";
  }
}

bool left_to_parent(v1::OperatorVerb verb, const std::string& task_id) {
  switch (verb) {
    case v1::OPERATOR_VERB_UNDO:
    case v1::OPERATOR_VERB_CANCEL:
    case v1::OPERATOR_VERB_TERMINATE:
    case v1::OPERATOR_VERB_PAUSE:
    case v1::OPERATOR_VERB_RESUME: return level_of(task_id) > 0;
    default: return false;
  }
}

std::size_t level_of(const std::string& task_id) { return static_cast<std::size_t>(std::count(task_id.begin(), task_id.end(), '~')); }

std::string without_id(const std::string& sentence, const std::string& id) {
  std::string out;
  std::size_t from = 0;
  for (auto at = sentence.find(id); !id.empty() && at != std::string::npos; at = sentence.find(id, at + 1)) {
    if (at < from) continue;
    const auto after = at + id.size();
    if ((at > 0 && is_part_of_id(sentence[at - 1])) || (after < sentence.size() && is_part_of_id(sentence[after]))) continue;
    out += sentence.substr(from, at - from) + "ID";
    from = after;
  }
  return out + sentence.substr(from);
}

}  // namespace fairlead::app
