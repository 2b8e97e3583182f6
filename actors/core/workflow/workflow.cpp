#include "actors/core/workflow/workflow.hpp"

#include <algorithm>
#include <unordered_map>

#include "actors/core/items/item_call.hpp"
#include "messages/task_states.hpp"

namespace fairlead::core {

namespace {

/// All steps except `pivot`, its descendants, and those of the end.
std::vector<std::uint32_t> not_descending_from(std::uint32_t pivot, const std::vector<workflow::step>& steps,
                                               const v1::WorkflowDefinition& definition) {
  std::vector<bool> descends(steps.size(), false);
  descends[pivot] = true;
  // Steps may be in any order, so each pass may find descendants that the pass before could not; the graph has no cycle.
  for (bool found = true; found;) {
    found = false;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto& needs = steps[i].needs;
      if (descends[i] || std::none_of(needs.begin(), needs.end(), [&](std::uint32_t need) { return descends[need]; })) continue;
      descends[i] = true;
      found = true;
    }
  }
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < steps.size(); ++i)
    if (!descends[i] && definition.steps(static_cast<int>(i)).finally() == v1::FINALLY_NO) out.push_back(i);
  return out;
}

/// Each step after all steps that it needs; shorter than `steps` if steps wait for each other.
std::vector<std::uint32_t> ordered(const std::vector<workflow::step>& steps) {
  std::vector<std::size_t> open(steps.size());
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    open[i] = steps[i].needs.size();
    if (open[i] == 0) out.push_back(i);
  }
  for (std::size_t at = 0; at < out.size(); ++at)
    for (const auto next : steps[out[at]].needed_by)
      if (--open[next] == 0) out.push_back(next);
  return out;
}

/// The error says `where` the template stands.
result<input_template> template_of(const std::string& where, const std::string& json) {
  auto out = input_template::compile(json);
  if (out) return out;
  auto failure = out.failure();
  failure.sentence = where + ": " + failure.sentence;
  return failure;
}

/// A stored step may be of a later release, and its input must not become the whole input of the task, as that of an agent or of a
/// sub-workflow may.
std::optional<error> unusable_kind(const v1::StepDefinition& step) {
  if (!v1::StepKind_IsValid(step.kind()))
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "step " + step.name() + " is of a kind that this release does not know", ""};
  if (!v1::Finally_IsValid(step.finally()))
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "step " + step.name() + " has a `finally` that this release does not know", ""};
  if (step.kind() == v1::STEP_KIND_WORKFLOW && step.workflow().empty())
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "step " + step.name() + " names no sub-workflow", ""};
  if (!carried_out_elsewhere(step.kind()) && step.with_json().empty())
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "step " + step.name() + " has no agent and no value", ""};
  return std::nullopt;
}

/// The type of that name; the error says that the workflow does not carry it.
result<const google::protobuf::Descriptor*> type_of(const message_types* types, const std::string& step, const std::string& name) {
  if (name.empty()) return static_cast<const google::protobuf::Descriptor*>(nullptr);
  if (const auto* found = types == nullptr ? nullptr : types->find(name)) return found;
  return error{v1::ERROR_CODE_INVALID_ARGUMENT, "step " + step + " names the type " + name + ", which the workflow does not carry", ""};
}

}  // namespace

const input_template* workflow::step::part(v1::ExpressionPart which) const {
  if (which == v1::EXPRESSION_PART_WITH) return &with;
  const auto& one = which == v1::EXPRESSION_PART_WHEN    ? when
                    : which == v1::EXPRESSION_PART_UNTIL ? until
                    : which == v1::EXPRESSION_PART_LIST  ? list
                                                         : undo_with;
  return one ? &*one : nullptr;
}

result<std::shared_ptr<const workflow>> workflow::compile(v1::WorkflowDefinition definition, std::string content_hash) {
  std::shared_ptr<workflow> out{new workflow};
  std::unordered_map<std::string, std::uint32_t> index;
  for (int i = 0; i < definition.steps_size(); ++i) index.emplace(definition.steps(i).name(), static_cast<std::uint32_t>(i));
  if (!definition.types().empty()) {
    auto types = message_types::read(definition.types());
    if (!types) return types.failure();
    out->types_ = std::move(*types);
  }
  for (const auto& source : definition.steps()) {
    if (auto why = unusable_kind(source)) return std::move(*why);
    const auto whole_item = source.has_for_each() && source.with_json().empty();
    auto with = template_of("step " + source.name(), whole_item ? R"("${ .item }")" : source.with_json());
    if (!with) return with.failure();
    const auto of_list = source.has_for_each();
    const auto input_type = type_of(out->types_.get(), source.name(), source.input_type());
    if (!input_type) return input_type.failure();
    const auto output_type = type_of(out->types_.get(), source.name(), source.output_type());
    if (!output_type) return output_type.failure();
    step compiled{std::move(*with),
                  {},
                  {},
                  {},
                  {},
                  std::nullopt,
                  std::nullopt,
                  std::nullopt,
                  std::nullopt,
                  false,
                  of_list ? nullptr : *input_type,
                  of_list ? nullptr : *output_type};
    if (!source.when_json().empty()) {
      auto when = template_of("step " + source.name() + ", when", source.when_json());
      if (!when) return when.failure();
      compiled.when = std::move(*when);
    }
    if (source.has_repeat()) {
      auto until = template_of("step " + source.name() + ", repeat.until", source.repeat().until_json());
      if (!until) return until.failure();
      compiled.until = std::move(*until);
    }
    if (source.has_for_each()) {
      auto list = template_of("step " + source.name() + ", for_each", source.for_each().list_json());
      if (!list) return list.failure();
      compiled.list = std::move(*list);
    }
    // Items are undone by their own tasks.
    if (source.has_undo() && !source.undo().none() && !source.has_for_each()) {
      auto undo_with = template_of("step " + source.name() + ", undo", source.undo().with_json());
      if (!undo_with) return undo_with.failure();
      const auto& reads = undo_with->mentioned_steps();
      compiled.undo_reads_output = std::find(reads.begin(), reads.end(), source.name()) != reads.end();
      compiled.undo_with = std::move(*undo_with);
    }
    for (const auto& need : source.needs()) {
      const auto found = index.find(need);
      if (found == index.end())
        return error{v1::ERROR_CODE_INVALID_ARGUMENT, "step " + source.name() + " needs " + need + ", which is not a step", ""};
      compiled.needs.push_back(found->second);
    }
    out->has_end_ = out->has_end_ || source.finally() != v1::FINALLY_NO;
    out->steps_.push_back(std::move(compiled));
  }
  out->has_joins_ = std::any_of(definition.steps().begin(), definition.steps().end(), [](const auto& one) { return one.join() > 0; });
  if (out->has_joins_)
    for (std::uint32_t i = 0; i < out->steps_.size(); ++i) {
      out->steps_[i].named = out->steps_[i].needs;
      for (const auto need : out->steps_[i].named) out->steps_[need].named_by.push_back(i);
    }
  for (int i = 0; i < definition.steps_size(); ++i)
    if (definition.steps(i).pivot())
      out->steps_[static_cast<std::size_t>(i)].needs = not_descending_from(static_cast<std::uint32_t>(i), out->steps_, definition);
  for (std::uint32_t i = 0; i < out->steps_.size(); ++i)
    for (const auto need : out->steps_[i].needs) out->steps_[need].needed_by.push_back(i);
  out->order_ = ordered(out->steps_);
  if (out->order_.size() != out->steps_.size())
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "steps of workflow " + definition.name() + " wait for each other", ""};
  if (!definition.output_json().empty()) {
    auto output = template_of("output", definition.output_json());
    if (!output) return output.failure();
    out->output_ = std::move(*output);
  }
  if (!definition.input_schema_json().empty()) {
    auto input = input_schema::compile(definition.input_schema_json());
    if (input)
      out->input_ = std::move(*input);
    else
      out->input_refusal_ = error{input.failure().code, input.failure().sentence, "deploy the workflow again"};
  }
  out->definition_ = std::move(definition);
  out->content_hash_ = std::move(content_hash);
  return std::shared_ptr<const workflow>{std::move(out)};
}

result<std::shared_ptr<const workflow>> workflow::call_of(std::uint32_t index) const {
  return compile(definition_of_call(definition_, index), content_hash_);
}

std::optional<error> workflow::refuse_input(std::string_view input, comparison_budget* budget) const {
  if (!input_) return input_refusal_;
  const auto misfit = input_->misfit_of(input, budget);
  if (budget != nullptr && budget->is_used_up())
    return error{v1::ERROR_CODE_OVERLOADED, "the request has used up what comparing inputs may take", "submit the rest again"};
  if (!misfit) return std::nullopt;
  return refused_input(definition_.name(), *misfit);
}

std::shared_ptr<const workflow> workflow::unusable(v1::WorkflowDefinition definition, std::string content_hash, error why) {
  std::shared_ptr<workflow> out{new workflow};
  out->definition_ = std::move(definition);
  out->content_hash_ = std::move(content_hash);
  out->refusal_ = std::move(why);
  return out;
}

void workflow::lacks(std::uint32_t index) const {
  throw odd_record{"its record names step " + std::to_string(index + 1) + " of workflow " + definition_.name() + ", which has " +
                   std::to_string(definition_.steps_size())};
}

}  // namespace fairlead::core
