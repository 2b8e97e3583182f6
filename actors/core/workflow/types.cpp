#include "actors/core/workflow/types.hpp"

#include <algorithm>

#include "actors/core/expression/expression.hpp"
#include "actors/core/text/json.hpp"
#include "actors/core/text/json_cursor.hpp"
#include "actors/core/text/nearest.hpp"
#include "actors/core/text/text.hpp"
#include "actors/core/types/message_types.hpp"
#include "actors/core/types/typed_json.hpp"

namespace fairlead::core {

namespace {

constexpr std::size_t max_shown = 128;
constexpr std::size_t max_mismatches = 20;  // of one step

std::string shown(const std::string& name) {
  auto out = clean_text(name, max_shown);
  for (auto& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return out;
}

class type_checker {
 public:
  explicit type_checker(const v1::WorkflowDefinition& definition) : definition_(definition) {}

  std::vector<definition_problem> run() {
    const auto named = std::any_of(definition_.steps().begin(), definition_.steps().end(), [](const v1::StepDefinition& step) {
      return !step.input_type().empty() || !step.output_type().empty();
    });
    if (!definition_.types().empty()) {
      auto types = message_types::read(definition_.types());
      if (!types) {
        add("", "types", types.failure().sentence, types.failure().remedy);
        return std::move(found_);
      }
      types_ = std::move(*types);
      if (!named) add("", "types", "no step uses a type, so types has no effect", "set input_type or output_type on a step");
    }
    for (const auto& step : definition_.steps()) {
      if (found_.size() >= max_problems) break;
      if (const auto* type = find(step.name(), "input_type", step.input_type())) check_with(step, *type);
      find(step.name(), "output_type", step.output_type());
    }
    return std::move(found_);
  }

 private:
  void add(std::string step, std::string field, std::string sentence, std::string remedy) {
    found_.push_back({std::move(step), std::move(field), std::move(sentence), std::move(remedy)});
  }

  const google::protobuf::Descriptor* find(const std::string& step, const std::string& field, const std::string& name) {
    if (name.empty()) return nullptr;
    if (!types_) {
      add(step, field, "the workflow has no types", "list descriptor sets of protoc under types of the workflow: [FILE.binpb]");
      return nullptr;
    }
    if (const auto* found = types_->find(name)) return found;
    const auto close = nearest(name, types_->names());
    add(step, field, "there is no message " + shown(name) + " in the workflow's types",
        close.empty() ? std::string{} : "did you mean " + close + "?");
    return nullptr;
  }

  void check_with(const v1::StepDefinition& step, const google::protobuf::Descriptor& type) {
    // Without `with` the step gets the task's input, or an item, of which only a list in the file tells. Invalid JSON is reported elsewhere.
    if (!step.with_json().empty()) {
      if (check_json(step.with_json()).ok()) check_value(step.name(), "with", step.with_json(), type, max_mismatches);
      return;
    }
    const auto list = trim_json(step.for_each().list_json());
    if (!list.starts_with('[') || !check_json(list).ok()) return;
    auto left = max_mismatches;
    std::size_t index = 0;
    std::string_view item;
    for (json_cursor all{list}; left > 0 && all.next_element(item); ++index)
      left -= check_value(step.name(), "for_each.items[" + std::to_string(index) + "]", item, type, left);
  }

  /// How many problems there are, at most `most`.
  std::size_t check_value(const std::string& step, const std::string& field, std::string_view json,
                          const google::protobuf::Descriptor& type, std::size_t most) {
    auto wrong = check_typed_json(json, type, json_holes::expressions, most);
    for (auto& one : wrong) {
      const auto* between = one.path.empty() || one.path.front() == '[' ? "" : ".";
      add(step, field + between + one.path, std::move(one.sentence), std::move(one.remedy));
    }
    return wrong.size();
  }

  const v1::WorkflowDefinition& definition_;
  std::shared_ptr<const message_types> types_;
  std::vector<definition_problem> found_;
};

}  // namespace

std::vector<definition_problem> check_types(const v1::WorkflowDefinition& definition) { return type_checker{definition}.run(); }

}  // namespace fairlead::core
