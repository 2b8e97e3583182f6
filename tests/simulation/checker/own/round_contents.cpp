// Steps that are repeated, round by round, and what tasks give in the end.

#include "store/rows/task_rows.hpp"
#include "tests/simulation/checker/content_checker.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::size_t most_shown = 200;

std::string payload_of(const store::snapshot& durable, const v1::TaskRecord& record, const v1::Payload& payload) {
  auto out = store::load_payload(durable, record.number(), payload);
  if (!out.ok()) world::broken("store_check", "a payload of " + record.id() + " cannot be read: " + out.failure().sentence);
  return std::move(*out);
}

/// After how many rounds the step has failed since `before` because its `until` was never true.
std::vector<std::uint32_t> failures_of(const v1::TaskRecord* before, const v1::TaskRecord& now, std::uint32_t index) {
  std::vector<std::uint32_t> out;
  auto rounds = now.steps(static_cast<int>(index)).rounds();
  for (auto at = now.recent().rbegin(); at != now.recent().rend() && at->sequence() > (before == nullptr ? 0 : before->history_size());
       ++at) {
    if (at->step() != index + 1) continue;
    if (at->kind() == v1::EVENT_KIND_STEP_FAILED && at->detail().starts_with("repeat_exhausted:")) out.insert(out.begin(), rounds);
    if (at->kind() == v1::EVENT_KIND_STEP_REPEATED) --rounds;
  }
  return out;
}

}  // namespace

void content_checker::judge_rounds(const v1::TaskRecord* before, const v1::TaskRecord& now, const store::snapshot& durable,
                                   const shape& plan) {
  for (std::uint32_t i = 0; i < plan.size(); ++i) {
    const auto& step = now.steps(static_cast<int>(i));
    const auto* was = before == nullptr ? nullptr : &before->steps(static_cast<int>(i));
    const auto text = "step " + step.path() + " of " + now.id();
    if (!plan.repeats(i)) {
      if (step.rounds() != 0) world::broken("until", text + " has rounds, and is not repeated");
      continue;
    }
    const auto& repeat = plan.step(i).repeat();
    const step_name name{now.id(), i};
    auto& its = rounds_[name];
    if (step.rounds() > (was == nullptr ? 0 : was->rounds())) {
      world_.count("rounds");
      const auto stored = payload_of(durable, now, step.output());
      const auto* output = given(name);
      world_.judges("output");
      if (output == nullptr || *output != stored)
        world::broken("output", text + " is stored with the output " + stored.substr(0, most_shown) + " of a round, and its service gave " +
                                    (output == nullptr ? "nothing" : output->substr(0, most_shown)));
      its.keys.insert(newest_key_(name));
      its.output = stored;
      // The next round has an input of its own.
      if (const auto edited = edits_.find({now.id(), step.path()}); edited != edits_.end()) edited->second.sure.reset();
    }
    for (const auto rounds : failures_of(before, now, i)) {
      world_.count("steps repeated in vain");
      if (rounds - its.granted < repeat.most())
        world::broken("until", text + " has failed after " + std::to_string(rounds - its.granted) + " rounds, and may have " +
                                   std::to_string(repeat.most()));
      its.granted = rounds;
    }
    const auto completed = step.state() == v1::STEP_STATE_COMPLETED && (was == nullptr || was->state() != v1::STEP_STATE_COMPLETED);
    if (!completed || its.keys.empty() || payload_of(durable, now, step.output()) != its.output) continue;
    world_.judges("until");
    if (fill_template(repeat.until_json(), document_for(now, i, plan.of_end(i))) != truth_value(true) &&
        settled_.count({now.id(), step.path()}) == 0)
      world::broken("until", text + " is completed, and " + repeat.until_json() + " does not give true");
  }
}

void content_checker::judge_round_begins(const v1::Perform& what, const v1::TaskRecord& record, const shape& plan, const value& document) {
  const step_name name{what.task_id(), what.step()};
  const auto known = rounds_.find(name);
  if (what.direction() != v1::DIRECTION_PERFORM || known == rounds_.end() || known->second.keys.empty()) return;
  const auto text = "step " + what.step_path() + " of " + what.task_id() + " was handed over for another round";
  const auto& repeat = plan.step(what.step()).repeat();
  world_.judges("round_key");
  if (known->second.keys.count(what.idempotency_key()) != 0)
    world::broken("round_key", text + " under " + what.idempotency_key() + ", the key of an earlier one");
  // An operator may have had another round performed, or granted more of them.
  if (edits_.count({what.task_id(), what.step_path()}) != 0 || settled_.count({what.task_id(), what.step_path()}) != 0) return;
  world_.judges("until");
  if (fill_template(repeat.until_json(), document) != truth_value(false))
    world::broken("until", text + ", and " + repeat.until_json() + " does not give false");
  const auto rounds = record.steps(static_cast<int>(what.step())).rounds() - known->second.granted;
  if (rounds >= repeat.most())
    world::broken("until", text + ", and has had " + std::to_string(rounds) + " of " + std::to_string(repeat.most()));
}

void content_checker::judge_task_output(const v1::TaskRecord* before, const v1::TaskRecord& now, const store::snapshot& durable,
                                        const shape& plan) const {
  const auto& output = plan.definition().output_json();
  const auto ended_otherwise = now.state() == v1::TASK_STATE_UNDONE || now.state() == v1::TASK_STATE_FAILED;
  if (now.has_output() && (output.empty() || ended_otherwise))
    world::broken("task_output", now.id() + " has an output, and " + (output.empty() ? "its workflow has none" : "is not completed"));
  const auto completed = now.state() == v1::TASK_STATE_COMPLETED && (before == nullptr || before->state() != v1::TASK_STATE_COMPLETED);
  if (!completed || output.empty()) return;
  world_.judges("task_output");
  world_.count("outputs of tasks");
  if (!now.has_output()) world::broken("task_output", now.id() + " is completed without an output");
  const auto stored = payload_of(durable, now, now.output());
  const auto settled = settled_outputs_.find(now.id());
  if (settled != settled_outputs_.end() && settled->second.count(stored) != 0) return;
  const auto expected = fill_template(output, document_of(now));
  const auto known = parse_value(stored);
  if (!expected || !known || *known != *expected)
    world::broken("task_output", now.id() + " has the output " + stored.substr(0, most_shown) + ", which is not what " + output + " gives");
}

}  // namespace fairlead::simulation
