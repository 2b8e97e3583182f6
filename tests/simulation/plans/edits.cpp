#include "tests/simulation/plans/edits.hpp"

#include <algorithm>
#include <string>

#include "actors/core/workflow/check.hpp"
#include "store/content_hash.hpp"

namespace fairlead::simulation {

namespace {

class editor {
 public:
  editor(random_stream& luck, v1::WorkflowDefinition of) : luck_(luck), made_(std::move(of)) {}

  /// Something may come of it that is not lawful; then nothing is changed.
  void edit() {
    const auto before = made_;
    switch (luck_.below(4)) {
      case 0: be_patient(); break;
      case 1: add(); break;
      case 2: remove(); break;
      default: change_places();
    }
    if (!core::check_definition(made_, nullptr).empty()) made_ = before;
  }
  const v1::WorkflowDefinition& made() const { return made_; }

 private:
  int any() { return static_cast<int>(luck_.below(static_cast<std::uint64_t>(made_.steps_size()))); }

  void be_patient() {
    auto& step = *made_.mutable_steps(any());
    if (step.attempts() != 0) step.set_attempts(step.attempts() + 1);
    if (step.retry_for_ms() != 0) step.set_retry_for_ms(step.retry_for_ms() * 2);
    if (step.kind() != v1::STEP_KIND_WORKFLOW) return;
    if (step.timeout_ms() != 0) step.set_timeout_ms(step.timeout_ms() * 2);
    // What has begun keeps its workflow.
    if (luck_.chance(400)) step.set_workflow(step.workflow() == "c0" ? "c1" : "c0");
  }

  void add() {
    const auto& like = made_.steps(any());
    if (like.kind() != v1::STEP_KIND_CALL || like.callback_ms() != 0 || like.has_repeat()) return;
    v1::StepDefinition step;
    step.set_name("x" + std::to_string(luck_.below(1'000)));
    step.set_agent(like.agent());
    step.set_call(like.call());
    *step.mutable_labels() = like.labels();
    step.set_timeout_ms(like.timeout_ms());
    step.set_attempts(like.attempts());
    step.set_retry_for_ms(like.retry_for_ms());
    *step.mutable_backoff() = like.backoff();
    step.set_with_json(R"({"n":"${ .input.n }"})");
    step.mutable_undo()->set_none(true);
    // What it needs stands before it.
    const auto place = luck_.chance(500) ? made_.steps_size() : any();
    if (place > 0 && luck_.chance(700))
      step.add_needs(made_.steps(static_cast<int>(luck_.below(static_cast<std::uint64_t>(place)))).name());
    *made_.add_steps() = step;
    for (auto at = made_.steps_size() - 1; at > place; --at) made_.mutable_steps()->SwapElements(at, at - 1);
  }

  void remove() {
    if (made_.steps_size() > 1) made_.mutable_steps()->DeleteSubrange(any(), 1);
  }

  void change_places() {
    if (made_.steps_size() < 2) return;
    const auto at = static_cast<int>(luck_.below(static_cast<std::uint64_t>(made_.steps_size() - 1)));
    const auto& needs = made_.steps(at + 1).needs();
    if (std::find(needs.begin(), needs.end(), made_.steps(at).name()) == needs.end()) made_.mutable_steps()->SwapElements(at, at + 1);
  }

  random_stream& luck_;
  v1::WorkflowDefinition made_;
};

}  // namespace

std::vector<v1::WorkflowDefinition> make_edits(const world& in, const v1::WorkflowDefinition& of) {
  std::vector<v1::WorkflowDefinition> out;
  random_stream luck{in.settings.seed, 950};
  if (!luck.chance(150) || !in.settings.has(concern::versions)) return out;
  for (auto left = luck.between(1, 2); left > 0; --left) {
    editor one{luck, of};
    for (auto edits = luck.between(1, 3); edits > 0; --edits) one.edit();
    if (store::definition_hash(one.made()) != store::definition_hash(of)) out.push_back(one.made());
  }
  return out;
}

}  // namespace fairlead::simulation
