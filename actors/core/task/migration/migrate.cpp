// An operator lets a task go on by another version of its workflow.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/planted_faults.hpp"
#include "actors/core/task/machine.hpp"
#include "actors/core/task/migration/migration.hpp"
#include "actors/core/task/task.hpp"

namespace fairlead::core {

namespace {

constexpr std::size_t most_named = 5;

/// The beginning of a content hash, as people know it.
std::string short_hash(std::string_view hash) {
  static const char digits[] = "0123456789abcdef";
  std::string out;
  for (const unsigned char byte : hash.substr(0, 6)) {
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

std::string words_of(const std::vector<unfit_step>& all) {
  std::string out;
  for (std::size_t i = 0; i < std::min(all.size(), most_named); ++i) out += (i > 0 ? "; step " : "step ") + all[i].step + " " + all[i].why;
  if (all.size() > most_named) out += "; and " + std::to_string(all.size() - most_named) + " more";
  return out;
}

}  // namespace

std::optional<error> task_machine::refuse_version(const operated& e) {
  const auto& action = e.action;
  const auto wrong = [](std::string sentence, std::string remedy) {
    return error{v1::ERROR_CODE_WRONG_STATE, std::move(sentence), std::move(remedy)};
  };
  if (record_.workflow_hash() != action.from_hash())
    return error{
        v1::ERROR_CODE_CHANGED,
        "task " + record_.id() + " goes by version " + short_hash(record_.workflow_hash()) + ", not by " + short_hash(action.from_hash()),
        "fairlead workflow list shows the versions that tasks go by"};
  if (!e.target || e.target->definition().name() != record_.workflow())
    return error{v1::ERROR_CODE_NOT_FOUND, "there is no version " + short_hash(action.to_hash()) + " of workflow " + record_.workflow(),
                 "deploy it: fairlead workflow deploy FILE"};
  if (!e.target->usable()) return wrong(e.target->refusal().sentence, e.target->refusal().remedy);
  if (record_.parent().call_of() != 0)
    return wrong("task " + record_.id() + " carries out one item of task " + record_.parent().id() + ", by the version by which it began",
                 "wait for its end: fairlead task watch " + record_.id());
  if (record_.state() == v1::TASK_STATE_UNDOING)
    return wrong("task " + record_.id() + " is being undone, by the version that its steps were carried out by",
                 "wait for its end: fairlead task watch " + record_.id());
  if (record_.failing())
    return wrong("task " + record_.id() + " is to fail, and nothing of it begins any more",
                 "fairlead task retry " + record_.id() + " lets it go on; after that it can go by another version");
  const auto input = text_of(record_.input());
  if (!input) return error{v1::ERROR_CODE_INTERNAL, "the input of task " + record_.id() + " could not be read", "read the node's log"};
  if (auto why = e.target->refuse_input(*input))
    return wrong("the input of task " + record_.id() + " does not fit version " + short_hash(action.to_hash()) + ": " + why->sentence,
                 "let the new version take inputs of the old one");
  const auto unfit =
      planted(&planted_faults::migrate_begun) ? std::vector<unfit_step>{} : unfit_steps(record_, *ctx_.definition, *e.target);
  if (unfit.empty()) return std::nullopt;
  return wrong("task " + record_.id() + " cannot go on by version " + short_hash(action.to_hash()) + ": " + words_of(unfit),
               "leave what has begun as it is, with new steps behind it, or let the task end by its own version");
}

void task_machine::operator_migrate(const operated& e) {
  const auto& action = e.action;
  if (record_.workflow_hash() == action.to_hash()) {
    out_.repeated = true;
    return;
  }
  auto why = refuse_version(e);
  if (out_.fatal) return;
  if (why) {
    out_.refused = std::move(why);
    return;
  }
  if (action.dry_run()) return;
  note_operator(v1::EVENT_KIND_OPERATOR_MIGRATE, action, 0);
  auto& detail = *record_.mutable_recent(record_.recent_size() - 1)->mutable_detail();
  detail = "from version " + short_hash(action.from_hash()) + " to " + short_hash(action.to_hash()) + (detail.empty() ? "" : ": ") + detail;
  if (!planted(&planted_faults::migrate_keeps_order)) carry_over(record_, *ctx_.definition, *e.target, *ctx_.engine);
  record_.set_workflow_hash(action.to_hash());
  out_.migrated = true;
  out_.forget_asked = true;
}

}  // namespace fairlead::core
