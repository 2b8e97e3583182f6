#include "tests/simulation/checker/restore_judge.hpp"

#include <algorithm>

#include "actors/core/task/task.hpp"
#include "store/keys.hpp"
#include "store/rows/task_rows.hpp"
#include "tests/simulation/checker/checker.hpp"
#include "tests/simulation/checker/own/child_book.hpp"

namespace fairlead::simulation {

namespace {

constexpr store::table numbered[] = {store::table::task, store::table::alert};

/// A service that has forgotten a key and performs again gives the effect a name of its own (services.cpp).
bool is_of(const std::string& effect, const std::string& key) { return effect == key || effect.rfind(key + "~", 0) == 0; }

std::string text_of(const v1::OutcomeAck& what) {
  return "attempt " + std::to_string(what.attempt()) + " of step " + std::to_string(what.step()) + " of task " +
         std::to_string(what.task_number());
}

void for_each_key(const store::snapshot& view, const std::function<void(store::table, std::string_view, std::string_view)>& visit) {
  for (const auto where : numbered) {
    const auto scanned = view.scan(where, {}, {}, [&](std::string_view key, std::string_view payload) {
      visit(where, key, payload);
      return true;
    });
    if (!scanned.ok()) world::broken("store_check", "a store cannot be read: " + scanned.failure().sentence);
  }
}

}  // namespace

void restore_judge::kept(std::unique_ptr<store::snapshot> view, std::int64_t at_us) {
  kept_us_ = at_us;
  kept_lineage_ = lineages_;
  for_each_key(*view, [&](store::table where, std::string_view key, std::string_view payload) {
    kept_keys_.emplace(where, key);
    if (where != store::table::task) return;
    v1::TaskRecord record;
    if (!record.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return;
    for (const auto& step : record.steps())
      if (step.passed_over() && !step.doubtful()) passed_over_then_.emplace(record.id(), step.path());
    kept_tasks_[record.id()] = std::move(record);
  });
}

void restore_judge::lost(const store::snapshot& view) {
  for_each_key(view, [&](store::table where, std::string_view key, std::string_view payload) {
    if (kept_keys_.count({where, std::string{key}}) != 0) return;
    lost_keys_.emplace(where, key);
    if (where != store::table::task) return;
    v1::TaskRecord record;
    if (record.ParseFromArray(payload.data(), static_cast<int>(payload.size())) && kept_tasks_.count(record.id()) == 0)
      lost_ids_.insert(record.id());
  });
  for (const auto& [at_us, of] : undos_)
    if (at_us >= kept_us_) undone_since_.insert(of);
  for (const auto& one : performs_) {
    const auto* then = known_then(one.of.task);
    if (one.at_us >= kept_us_) performed_since_.insert(one.of);
    const auto* known = then == nullptr ? nullptr : step_then(*then, one.of.path);
    if (one.at_us < kept_us_ || known == nullptr) continue;
    auto step = *known;
    if (one.key == core::idempotency_key(*then, step, v1::DIRECTION_PERFORM)) continue;
    step.set_generation(step.generation() + 1);
    const auto next = one.looks_up && one.key == core::idempotency_key(*then, step, v1::DIRECTION_PERFORM);
    (next ? moved_on_ : moved_far_).insert(one.of);
  }
  for (const auto& [at_us, task] : edits_)
    if (at_us >= kept_us_) edited_since_.insert(task);
  world_.count("steps undone in a lost time", undone_since_.size());
}

void restore_judge::restored(const v1::Lineage& to, const store::snapshot& view) {
  ++lineages_;
  now_ = to;
  lookups_.clear();
  performed_.clear();
  ordered_.clear();
  for_each_key(view, [&](store::table where, std::string_view, std::string_view payload) {
    v1::TaskRecord record;
    if (where != store::table::task || !record.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return;
    for (const auto& step : record.steps()) lookups_[{record.id(), step.path()}] = step.lookup().made();
  });
}

const v1::TaskRecord* restore_judge::known_then(const std::string& task) const {
  const auto found = kept_tasks_.find(task);
  return found == kept_tasks_.end() ? nullptr : &found->second;
}

const v1::TaskRecord* restore_judge::live_then(const std::string& task) const {
  const auto* then = known_then(task);
  return then == nullptr || has_ended(then->state()) ? nullptr : then;
}

const v1::StepRecord* restore_judge::step_then(const v1::TaskRecord& then, const std::string& path) {
  const auto found = std::find_if(then.steps().begin(), then.steps().end(), [&](const v1::StepRecord& one) { return one.path() == path; });
  return found == then.steps().end() ? nullptr : &*found;
}

bool restore_judge::was_undone(const std::string& task) const {
  const auto* then = on() ? known_then(task) : nullptr;
  return then != nullptr && then->state() == v1::TASK_STATE_UNDONE;
}

bool restore_judge::moved_on_unseen(const effect_name& of, std::uint32_t generation) const {
  const auto* then = known_then(of.task);
  // "Never happened" raises the generation once, and so does the undo.
  const auto* step = then == nullptr ? nullptr : step_then(*then, of.path);
  return on() && step != nullptr && moved_on_.count(of) != 0 && generation == step->generation() + 1;
}

void restore_judge::handed_over(const v1::Perform& what, const shape* plan, const v1::TaskRecord& record) {
  const effect_name of{what.task_id(), what.step_path()};
  if (what.direction() == v1::DIRECTION_UNDO) undos_.emplace_back(world_.now_us(), of);
  if (on()) {
    judge_number(what);
    if (plan != nullptr) judge_doubt(of, what, *plan, record);
  }
  if (what.direction() == v1::DIRECTION_PERFORM && plan != nullptr)
    performs_.push_back({world_.now_us(), of, what.idempotency_key(), looks_up(plan->step(what.step()).agent())});
  handed_[name_of(what)].insert(lineages_);
  if (!what.callback().empty()) callbacks_.emplace(what.callback(), lineages_);
}

void restore_judge::answered(std::uint64_t ticket, const v1::OperateResult& what) {
  const auto call = calls_.extract(ticket);
  if (call.empty() || !on() || what.error().code() != v1::ERROR_CODE_OK) return;
  world_.judges("old_lineage");
  const auto found = callbacks_.find(call.mapped());
  if (found != callbacks_.end() && found->second != lineages_)
    world::broken("old_lineage", "a callback about " + what.id() + " was taken, and an earlier lineage has given it out");
}

bool restore_judge::looks_up(const std::string& agent) const {
  const auto& sites = agents_->sites();
  return std::any_of(sites.begin(), sites.end(), [&](const agent_site& one) { return one.agent == agent && one.lookups; });
}

void restore_judge::judge_number(const v1::Perform& what) {
  world_.judges("number_reused");
  const auto before = handed_.find(name_of(what));
  // Attempts of two lineages that go on from one backup are told apart by their lineages alone, and so are those of tasks that had ended
  // by then.
  if (before != handed_.end() && before->second.count(kept_lineage_) != 0 && live_then(what.task_id()) != nullptr)
    world::broken("number_reused", describe(what) + " was handed over, and an earlier lineage has handed over an attempt of that number");
}

void restore_judge::judge_doubt(const effect_name& of, const v1::Perform& what, const shape& plan, const v1::TaskRecord& record) {
  if (kept_tasks_.count(of.task) != 0 && !beyond(of)) {
    world_.judges("two_effects");
    if (ledger_.standing(of) > 1) world::broken("two_effects", of.task + "/" + of.path + " has two standing effects");
  }
  if (known_then(of.task) == nullptr && record.has_parent()) return judge_child_doubt(of, what, plan, record);
  const auto* then = live_then(of.task);
  const auto* known = then == nullptr ? nullptr : step_then(*then, of.path);
  if (what.direction() != v1::DIRECTION_PERFORM || known == nullptr) return;
  const auto& step = *known;
  if (step.state() == v1::STEP_STATE_COMPLETED || step.state() == v1::STEP_STATE_SKIPPED) return;
  // Whoever gives an order has been told of the doubt.
  if (!performed_.insert(of).second || is_ordered(of.task)) return;
  world_.judges("restored_not_doubted");
  // Its look-up may have died with the Scheduler that asked for it.
  if (record.steps(static_cast<int>(what.step())).lookup().made() > lookups_[of]) return;
  if (looks_up(plan.step(what.step()).agent()))
    world::broken("restored_not_doubted",
                  describe(what) + " was handed over without a look-up, and it may have been performed since the backup");
  const auto key = core::idempotency_key(*then, step, v1::DIRECTION_PERFORM);
  if (what.idempotency_key() == key) return;
  if (!step.fault().key_spent())
    world::broken("restored_not_doubted", describe(what) + " was handed over under " + what.idempotency_key() + ", and it had " + key);
  const auto& all = ledger_.all_standing();
  const auto standing = all.find(of);
  if (beyond(of) || standing == all.end()) return;
  for (const auto& effect : standing->second)
    if (!is_of(effect, what.idempotency_key()))
      world::broken("restored_not_doubted",
                    describe(what) + " was handed over under " + what.idempotency_key() + ", and its effect under " + effect + " stands");
}

/// The task has begun after the restore, and may have begun before it under the same id.
void restore_judge::judge_child_doubt(const effect_name& of, const v1::Perform& what, const shape& plan, const v1::TaskRecord& record) {
  if (what.direction() != v1::DIRECTION_PERFORM || live_then(root_of(of.task)) == nullptr || performed_since_.count(of) == 0) return;
  if (!performed_.insert(of).second || is_ordered(of.task)) return;
  world_.judges("restored_not_doubted");
  world_.count("steps of children that a lost time has performed");
  if (record.steps(static_cast<int>(what.step())).lookup().made() == 0 && looks_up(plan.step(what.step()).agent()))
    world::broken("restored_not_doubted",
                  describe(what) + " was handed over without a look-up, and the lost time has performed it in the same task");
}

bool restore_judge::is_ordered(const std::string& task) const {
  return std::any_of(ordered_.begin(), ordered_.end(), [&](const auto& one) { return task == one || task.starts_with(one + "/"); });
}

void restore_judge::reported(const v1::OutcomeBatch& what) {
  if (!on() || what.refused_epoch() != 0) return;
  if (compare(what.lineage(), now_) != lineage_order::same) {
    world_.count("outcomes of an earlier lineage", static_cast<std::uint64_t>(what.items_size()));
    return;
  }
  for (const auto& one : what.items()) {
    world_.judges("old_lineage");
    const auto found = handed_.find(name_of(one));
    if (found != handed_.end() && found->second.count(lineages_) == 0)
      world::broken("old_lineage", what.instance() + " reports attempt " + std::to_string(one.attempt()) + " of step " +
                                       std::to_string(one.step()) + " of task " + std::to_string(one.task_number()) +
                                       ", which an earlier lineage has handed over");
  }
}

void restore_judge::accepted(const v1::OutcomeAck& what) {
  world_.judges("old_lineage");
  const auto found = handed_.find(name_of(what));
  if (found == handed_.end() || found->second.count(lineages_) == 0)
    world::broken("old_lineage", "the outcome of " + text_of(what) + " was taken, and this lineage has not handed it over");
}

void restore_judge::ordered(const v1::OperateRequest& what) {
  for (const auto& id : what.ids()) ordered_.insert(id);
  if (on() && what.action().verb() == v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED) settled_.insert(what.ids().begin(), what.ids().end());
  if (what.action().has_json())
    for (const auto& id : what.ids()) edits_.emplace_back(world_.now_us(), id);
}

void restore_judge::committed(const store::batch& what) {
  what.for_each([&](const store::operation& op) {
    if (op.what != store::operation::kind::put || (op.where != store::table::task && op.where != store::table::alert)) return;
    world_.judges("number_reused");
    if (lost_keys_.count({op.where, std::string{op.key}}) != 0)
      world::broken("number_reused", "the store has taken a row of " + store::keys::describe(op.where, op.key) + " in table " +
                                         store::table_name(op.where) + ", whose number the lost time has given out");
  });
}

}  // namespace fairlead::simulation
