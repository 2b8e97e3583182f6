// What operators do to tasks of steps, and to tasks that wait for one.

#include "messages/items.hpp"
#include "tests/simulation/people/operators.hpp"

namespace fairlead::simulation {

/// Of those that clients have submitted, or, where there are some, that carry out a step of another.
std::string operators::any_task(random_stream& luck) const {
  const auto& submitted = luck.pick(clients_.ids());
  std::vector<std::string> children;
  for (const auto& [number, record] : checker_.seen())
    if (record.has_parent()) children.push_back(record.id());
  return children.empty() || luck.chance(500) ? submitted : luck.pick(children);
}

/// In place of the list of a step, seldom one that is none.
std::string operators::other_list() const {
  if (orders_ % 7 == 6) return R"({"n":)" + std::to_string(100 + orders_) + "}";
  std::string out = "[";
  for (std::uint64_t i = 0; i < 1 + orders_ % 4; ++i) out += (i == 0 ? R"({"n":)" : R"(,{"n":)") + std::to_string(100 + orders_ + i) + "}";
  return out + "]";
}

/// Of a step with a list, which has failed. True: an order has been given.
bool operators::see_to_items(const v1::TaskRecord& record, const v1::StepRecord& step, int round) {
  auto& luck = world_.operators;
  if (luck.chance(round < 6 ? 100 : 350)) {
    auto how = action(v1::OPERATOR_VERB_SETTLE_COMPLETED, step.path());
    how.set_json("[" + std::to_string(orders_) + "]");
    order(record.id(), how, true);
    return true;
  }
  for (std::uint32_t i = 0; i < begun_items(step.items()); ++i) {
    if (item_state_of(step.items(), i) != item_state::left_behind || !luck.chance(700)) continue;
    order(item_id(record, step, i), action(v1::OPERATOR_VERB_UNDO));
    return true;
  }
  return false;
}

/// True: an order has been given, or the task goes on once somebody has seen to another one.
bool operators::see_to_children(const v1::TaskRecord& record, int round) {
  auto& luck = world_.operators;
  for (const auto& step : record.steps()) {
    // What its undo reads is not in the input that a parent gave.
    if (step.given_up() && step.fault().code() == "undo_input" && luck.chance(500)) {
      order(record.id(), action(v1::OPERATOR_VERB_SKIP, step.path()));
      return true;
    }
    if (step.kind() != v1::STEP_KIND_WORKFLOW) continue;
    // Its task refuses to be undone.
    if (step.state() == v1::STEP_STATE_UNDOING && step.given_up()) {
      order(record.id(), action(luck.chance(round < 3 ? 300 : 800) ? v1::OPERATOR_VERB_SKIP : v1::OPERATOR_VERB_RETRY, step.path()));
      return true;
    }
    // After a restore, where nobody knows whether it had begun.
    if (step.state() == v1::STEP_STATE_IN_DOUBT) {
      order(record.id(), action(luck.chance(500) ? v1::OPERATOR_VERB_SKIP : v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED, step.path()));
      return true;
    }
    if (step.has_items() && step.state() == v1::STEP_STATE_FAILED && !step.passed_over()) {
      if (see_to_items(record, step, round)) return true;
      continue;
    }
    // No other begins before what it has left is undone.
    if (step.state() == v1::STEP_STATE_FAILED && !step.passed_over() && step.child().stands() && luck.chance(round < 6 ? 700 : 250)) {
      // One that is past its pivot is gone on with as it is.
      auto how = action(v1::OPERATOR_VERB_UNDO);
      if (luck.chance(round < 4 ? 250 : 600)) {
        how = action(v1::OPERATOR_VERB_SETTLE_COMPLETED, step.path());
        how.set_json(R"({"v":1})");
      }
      const auto settles = !how.step().empty();
      order(settles ? record.id() : step.child().id(), how, settles);
      return true;
    }
  }
  if (!record.parked_for_child()) return false;
  const auto how = luck.below(100);
  if (how < 5) terminate(record.id());
  if (how >= 5 && how < 12) order(record.id(), action(v1::OPERATOR_VERB_CANCEL));
  if (how >= 12 && how < 20) order(record.id(), action(luck.chance(500) ? v1::OPERATOR_VERB_RETRY : v1::OPERATOR_VERB_RESUME));
  return true;
}

}  // namespace fairlead::simulation
