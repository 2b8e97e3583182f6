#include "tests/simulation/plans/item_plans.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "tests/simulation/plans/child_plans.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::uint64_t stream_of_items = 1'900;
constexpr std::int64_t most_listed = 12;
constexpr std::int64_t most_listed_by_a_child = 3;

std::int64_t size_of_list(std::int64_t most, random_stream& luck) {
  const auto how = luck.below(100);
  const auto few = luck.between(0, 1);
  const auto some = luck.between(2, 4);
  const auto many = luck.between(5, most_listed);
  return std::min(most, how < 15 ? few : how < 70 ? some : many);
}

/// Numbers, or objects with a number.
std::string literal_list(std::int64_t most, random_stream& luck) {
  const auto objects = luck.chance(600);
  const auto from = luck.between(1, 60);
  const auto size = size_of_list(most, luck);
  std::string out = "[";
  for (std::int64_t i = 0; i < size; ++i) {
    const auto number = std::to_string(from + 7 * i);
    out += (i == 0 ? "" : ",") + (objects ? R"({"n":)" + number + "}" : number);
  }
  return out + "]";
}

bool may_have_items(const v1::StepDefinition& step, const std::string& workflow) {
  if (step.pivot() || step.has_repeat() || step.has_for_each()) return false;
  // A task that begins several of its own kind would begin more and more.
  return step.kind() == v1::STEP_KIND_CALL || (step.kind() == v1::STEP_KIND_WORKFLOW && step.workflow() != workflow);
}

/// What read a number of the step reads the list of its outputs, or, where that is counted with, a number of the task's input.
std::string without_number_of(const std::string& step, std::string json) {
  const auto path = ".steps." + step + ".v";
  for (auto at = json.find(path); at != std::string::npos; at = json.find(path, at + 1)) {
    const auto behind = at + path.size();
    const auto begin = json.rfind("${", at);
    const auto end = json.find('}', behind);
    const auto counts = json.substr(begin, end - begin).find_first_of("+*>") != std::string::npos;
    const auto optional = json[behind] == '?';
    json.replace(at, path.size() + (optional ? 1 : 0), counts ? std::string{".input.n"} : ".steps." + step);
  }
  return json;
}

}  // namespace

item_plan::item_plan(const options& settings, bool has_children) : settings_(settings) {
  random_stream luck{settings.seed, stream_of_items};
  any_ = (luck.chance(300) || settings.always_items) && has_children && settings.has(concern::items);
}

std::string item_plan::given_list(random_stream& luck) {
  const auto how = luck.below(100);
  auto list = literal_list(most_listed, luck);
  return how < 92 ? list : how < 96 ? R"({"n":3})" : "null";
}

std::string item_plan::list_of(const v1::WorkflowDefinition& in, const v1::StepDefinition& step, random_stream& luck) const {
  const auto is_child = child_plan::is_one(in.name());
  const auto sums = settings_.has(concern::expressions);
  const auto how = luck.below(100);
  const auto literal = literal_list(is_child ? most_listed_by_a_child : most_listed, luck);
  const auto any_need = [&] { return step.needs(static_cast<int>(luck.below(static_cast<std::uint64_t>(step.needs_size())))); };
  for (const auto& other : in.steps())
    if (how < 30 && other.has_for_each() && std::find(step.needs().begin(), step.needs().end(), other.name()) != step.needs().end())
      return R"("${ .steps.)" + other.name() + R"( }")";
  if (how < 30 && step.needs_size() > 0 && sums) {
    const auto one = any_need();
    const auto other = any_need();
    return R"("${ [.steps.)" + one + ".v, .steps." + other + R"(.v + 1, .input.n] }")";
  }
  // A parent gives none.
  if (how >= 30 && how < 60 && !is_child) return R"("${ .input.list }")";
  if (how >= 60 && how < 64) return how < 62 ? R"("${ .input.n }")" : R"("${ .input.list? }")";
  return literal;
}

/// `with` of a call or of a sub-workflow; empty: the item itself.
std::string item_plan::input_of(const v1::StepDefinition& step, random_stream& luck) const {
  const auto sums = settings_.has(concern::expressions);
  const auto how = luck.below(100);
  const auto need = step.needs_size() == 0 ? std::string{} : step.needs(0);
  if (how < 15) return {};
  if (step.kind() == v1::STEP_KIND_WORKFLOW && how < 20) return unfit_input;
  if (how < 32 && !need.empty()) return R"({"n":"${ .index }","of":"${ .item }","at":"${ .steps.)" + need + R"(? }"})";
  if (how < 55 && sums) return R"({"n":"${ .index + 1 }","of":"${ .item }"})";
  if (how < 62 && sums) return R"({"m":"${ .index * 2 + .input.n }","of":["${ .item }"]})";
  if (how < 75) return R"({"n":"${ .input.n }","i":"${ .index }","of":"${ .item }","at":"${ .task.id }"})";
  if (how < 78) return R"({"n":"${ .item.n }"})";
  return R"({"n":"${ .index }","of":"${ .item }"})";
}

std::string item_plan::undo_input_of(const v1::StepDefinition& step, random_stream& luck) const {
  const auto how = luck.below(100);
  const auto& before = step.undo().with_json();
  const auto own = before.find(".steps." + step.name()) != std::string::npos;
  if (own && settings_.has(concern::expressions) && how < 40)
    return R"({"back":"${ .steps.)" + step.name() + R"(.v * 2 + .index }","of":"${ .item }"})";
  if (own) return R"({"v":"${ .steps.)" + step.name() + R"(.v }","of":["${ .item }","${ .index }"]})";
  if (how < 20) return before;
  if (how < 50 && settings_.has(concern::expressions)) return R"({"m":"${ .index + .input.n }","of":"${ .item }"})";
  return R"({"n":"${ .input.n }","of":"${ .item }","i":"${ .index }"})";
}

void item_plan::make_one(v1::WorkflowDefinition& in, int index, random_stream& luck) const {
  auto& step = *in.mutable_steps(index);
  auto list = list_of(in, step, luck);
  auto& each = *step.mutable_for_each();
  each.set_list_json(std::move(list));
  each.set_at_once(static_cast<std::uint32_t>(luck.between(1, 5)));
  each.set_collect(luck.chance(450));
  step.set_with_json(input_of(step, luck));
  const auto undo_with = step.has_undo() && !step.undo().none() ? undo_input_of(step, luck) : std::string{};
  if (!undo_with.empty()) step.mutable_undo()->set_with_json(undo_with);
  // No step with items cools off.
  const auto says = step.on_failure() == v1::ON_FAILURE_UNSPECIFIED ? in.on_failure() : step.on_failure();
  constexpr v1::OnFailure all[] = {v1::ON_FAILURE_PARK, v1::ON_FAILURE_PARK, v1::ON_FAILURE_UNDO, v1::ON_FAILURE_FAIL,
                                   v1::ON_FAILURE_CONTINUE};
  const auto other = all[luck.below(std::size(all))];
  if (says == v1::ON_FAILURE_COOL_OFF || luck.chance(600)) step.set_on_failure(other);
  // So that some items fail.
  if (luck.chance(500) && step.kind() == v1::STEP_KIND_CALL) step.set_attempts(1);
  step.clear_cool_off_ms();
  if (!luck.chance(900)) return;
  for (auto& one : *in.mutable_steps()) {
    if (one.name() == step.name()) continue;
    one.set_with_json(without_number_of(step.name(), one.with_json()));
    one.set_when_json(without_number_of(step.name(), one.when_json()));
    if (one.has_undo() && !one.undo().none()) one.mutable_undo()->set_with_json(without_number_of(step.name(), one.undo().with_json()));
  }
  in.set_output_json(without_number_of(step.name(), in.output_json()));
}

void item_plan::add_to(v1::WorkflowDefinition& to, random_stream luck) const {
  if (!any_) return;
  const auto wanted = luck.chance(child_plan::is_one(to.name()) ? 300 : 850);
  auto left = luck.chance(300) ? 2 : 1;
  const auto first = luck.below(static_cast<std::uint64_t>(to.steps_size()));
  for (int i = 0; i < to.steps_size() && wanted && left > 0; ++i) {
    const auto index = static_cast<int>((first + static_cast<std::uint64_t>(i)) % static_cast<std::uint64_t>(to.steps_size()));
    if (!may_have_items(to.steps(index), to.name())) continue;
    make_one(to, index, luck);
    --left;
  }
}

}  // namespace fairlead::simulation
