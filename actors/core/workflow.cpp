#include "actors/core/workflow.hpp"

#include <unordered_map>

namespace fairlead::core {

result<std::shared_ptr<const workflow>> workflow::compile(v1::WorkflowDefinition definition, std::string content_hash) {
  std::shared_ptr<workflow> out{new workflow};
  std::unordered_map<std::string, std::uint32_t> index;
  for (int i = 0; i < definition.steps_size(); ++i) index.emplace(definition.steps(i).name(), static_cast<std::uint32_t>(i));
  for (const auto& source : definition.steps()) {
    auto with = input_template::compile(source.with_json());
    if (!with) {
      auto failure = with.failure();
      failure.sentence = "step " + source.name() + ": " + failure.sentence;
      return failure;
    }
    step compiled{std::move(*with), {}};
    for (const auto& need : source.needs()) {
      const auto found = index.find(need);
      if (found == index.end())
        return error{v1::ERROR_CODE_INVALID_ARGUMENT, "step " + source.name() + " needs " + need + ", which is not a step", ""};
      compiled.needs.push_back(found->second);
    }
    out->steps_.push_back(std::move(compiled));
  }
  out->definition_ = std::move(definition);
  out->content_hash_ = std::move(content_hash);
  return std::shared_ptr<const workflow>{std::move(out)};
}

}  // namespace fairlead::core
