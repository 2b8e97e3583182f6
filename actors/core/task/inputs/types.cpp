// Checks a step's input before its hand-over, and its output on arrival, against the Protobuf types that the step names.

#include "actors/core/task/machine.hpp"
#include "actors/core/text/text.hpp"
#include "actors/core/types/typed_json.hpp"

namespace fairlead::core {

namespace {

constexpr std::size_t sentence_limit = 1024;

v1::Fault fault_of_misfit(const std::string& sentence) {
  v1::Fault out;
  out.set_kind(v1::FAULT_KIND_IN_DOUBT);
  out.set_code(std::string{output_type_code});
  out.set_message(sentence);
  return out;
}

}  // namespace

std::optional<std::string> task_machine::misfit_of(const google::protobuf::Descriptor* type, std::string_view json) {
  if (type == nullptr) return std::nullopt;
  const auto found = check_typed_json(json, *type);
  if (found.empty()) return std::nullopt;
  const auto& first = found.front();
  return clean_text((first.path.empty() ? "" : ", " + first.path) + ": " + first.sentence, sentence_limit);
}

/// Whether the step, whose slot is taken, may be performed with the input in its record. If not the step has failed, and no attempt was
/// made.
bool task_machine::input_fits(std::uint32_t index) {
  auto& step = at(index);
  const auto* type = ctx_.definition->compiled(step.definition()).input_type;
  // A step in doubt was handed over with this same input.
  if (type == nullptr || step.doubtful()) return true;
  const auto text = text_of(step.input());
  if (!text) return false;
  const auto misfit = misfit_of(type, *text);
  if (!misfit) return true;
  ctx_.agents->release(holder_of(index), {});
  step.set_direction(v1::DIRECTION_PERFORM);
  step.clear_not_before_unix_ms();
  fail_for_good(index, input_type_code, "the step's input" + *misfit);
  return false;
}

/// For an attempt that ended well. The work was done, but its output cannot be used: the step is in doubt, and no further attempt helps.
std::optional<v1::Fault> task_machine::fault_of_type(const v1::StepRecord& step, const attempt_ended& e) const {
  if (!usable()) return std::nullopt;
  const auto* type = ctx_.definition->compiled(step.definition()).output_type;
  const auto gives_output =
      e.direction == v1::DIRECTION_PERFORM || (e.direction == v1::DIRECTION_LOOKUP && e.verdict == v1::LOOKUP_VERDICT_DONE);
  if (!gives_output) return std::nullopt;
  const auto misfit = misfit_of(type, e.output.empty() ? "null" : std::string_view{e.output});
  if (!misfit) return std::nullopt;
  return fault_of_misfit("the step's output" + *misfit);
}

}  // namespace fairlead::core
