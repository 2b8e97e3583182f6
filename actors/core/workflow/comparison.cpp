#include "actors/core/workflow/comparison.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string_view>
#include <utility>

#include "messages/time.hpp"

namespace fairlead::core {

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

/// Fields whose keys in a workflow file have another name; of all others the key is the name without its unit.
constexpr std::pair<std::string_view, std::string_view> other_names[] = {
    {"goes_on_untimely", "on_timeout"}, {"ends_failed", "end"}, {"input_schema_json", "input"}, {"most", "max"},
    {"keep_days", "retention"},         {"list_json", "items"}, {"collect", "failures"}};

bool take_end(std::string& name, std::string_view end) {
  if (!name.ends_with(end)) return false;
  name.resize(name.size() - end.size());
  return true;
}

std::string key_of(const FieldDescriptor& field) {
  const auto* known =
      std::find_if(std::begin(other_names), std::end(other_names), [&](const auto& one) { return one.first == field.name(); });
  if (known != std::end(other_names)) return std::string{known->second};
  std::string name{field.name()};
  if (!take_end(name, "_ms")) take_end(name, "_json");
  return name;
}

/// `cool_off` of ON_FAILURE_COOL_OFF: what follows the name of the enum.
std::string word_of(const google::protobuf::EnumValueDescriptor& value) {
  std::string prefix;
  for (const char c : std::string{value.type()->name()}) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0 && !prefix.empty()) prefix += '_';
    prefix += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  std::string word{value.name()};
  if (word.starts_with(prefix + "_")) word.erase(0, prefix.size() + 1);
  for (auto& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word;
}

/// Nobody reads the descriptors of types: it is enough to see whether they are the same.
std::string sum_of(const std::string& bytes) {
  std::uint64_t sum = 14'695'981'039'346'656'037ULL;
  for (const char c : bytes) sum = (sum ^ static_cast<unsigned char>(c)) * 1'099'511'628'211ULL;
  char text[48];
  std::snprintf(text, sizeof text, "%zu bytes, %016llx", bytes.size(), static_cast<unsigned long long>(sum));
  return text;
}

std::string number_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string text_of(const Message& message);

/// What a flag is in a workflow file, where it is not `true` there.
std::string flag_text(const FieldDescriptor& field, bool value) {
  if (value && field.name() == "ends_failed") return "failed";
  if (value && field.name() == "goes_on_untimely") return "continue";
  if (value && field.name() == "collect") return "collect";
  return value ? "true" : "false";
}

/// `at`: of a repeated field; -1: of a single one.
std::string text_of(const Message& in, const FieldDescriptor& field, int at) {
  const auto& of = *in.GetReflection();
  const bool many = at >= 0;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE: return text_of(many ? of.GetRepeatedMessage(in, &field, at) : of.GetMessage(in, &field));
    case FieldDescriptor::CPPTYPE_ENUM: return word_of(*(many ? of.GetRepeatedEnum(in, &field, at) : of.GetEnum(in, &field)));
    case FieldDescriptor::CPPTYPE_BOOL: return flag_text(field, many ? of.GetRepeatedBool(in, &field, at) : of.GetBool(in, &field));
    case FieldDescriptor::CPPTYPE_DOUBLE: return number_text(many ? of.GetRepeatedDouble(in, &field, at) : of.GetDouble(in, &field));
    case FieldDescriptor::CPPTYPE_UINT32: {
      const auto text = std::to_string(many ? of.GetRepeatedUInt32(in, &field, at) : of.GetUInt32(in, &field));
      return std::string{field.name()}.ends_with("_days") ? text + "d" : text;
    }
    case FieldDescriptor::CPPTYPE_INT64: {
      const auto value = many ? of.GetRepeatedInt64(in, &field, at) : of.GetInt64(in, &field);
      return std::string{field.name()}.ends_with("_ms") ? format_duration(value) : std::to_string(value);
    }
    case FieldDescriptor::CPPTYPE_STRING: {
      const auto text = many ? of.GetRepeatedString(in, &field, at) : of.GetString(in, &field);
      return field.type() == FieldDescriptor::TYPE_BYTES ? sum_of(text) : text;
    }
    default: {
      // No message of a workflow has another type yet; text_format shows any.
      std::string text;
      google::protobuf::TextFormat::PrintFieldValueToString(in, &field, at, &text);
      return text;
    }
  }
}

bool is_there(const Message& in, const FieldDescriptor& field) {
  return field.is_repeated() ? in.GetReflection()->FieldSize(in, &field) > 0 : in.GetReflection()->HasField(in, &field);
}

std::string text_of(const Message& in, const FieldDescriptor& field) {
  if (!field.is_repeated()) return text_of(in, field, -1);
  std::string out = "[";
  for (int i = 0; i < in.GetReflection()->FieldSize(in, &field); ++i) out += (i > 0 ? ", " : "") + text_of(in, field, i);
  return out + "]";
}

/// `{call: cancel, timeout: 30s}`, in the order of the file's keys.
std::string text_of(const Message& message) {
  std::string out;
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const auto& field = *message.GetDescriptor()->field(i);
    if (is_there(message, field)) out += (out.empty() ? "" : ", ") + key_of(field) + ": " + text_of(message, field);
  }
  return "{" + out + "}";
}

std::optional<std::string> text_if_there(const Message& in, const FieldDescriptor& field) {
  if (!is_there(in, field)) return std::nullopt;
  return text_of(in, field);
}

/// Adds what differs in one field. A message that both have is compared key by key.
void compare_field(const Message& before, const Message& after, const FieldDescriptor& field, const std::string& prefix,
                   std::vector<difference>& out) {
  const auto key = prefix + key_of(field);
  const auto both = is_there(before, field) && is_there(after, field);
  if (both && !field.is_repeated() && field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    const auto& left = before.GetReflection()->GetMessage(before, &field);
    const auto& right = after.GetReflection()->GetMessage(after, &field);
    for (int i = 0; i < left.GetDescriptor()->field_count(); ++i)
      compare_field(left, right, *left.GetDescriptor()->field(i), key + ".", out);
    return;
  }
  auto left = text_if_there(before, field);
  auto right = text_if_there(after, field);
  if (left != right) out.push_back({difference::kind::changed, {}, key, std::move(left), std::move(right)});
}

/// The names of the steps that `other` has too, in the order of `of`.
std::vector<std::string> shared_steps(const v1::WorkflowDefinition& of, const std::map<std::string, const v1::StepDefinition*>& other) {
  std::vector<std::string> out;
  for (const auto& step : of.steps())
    if (other.contains(step.name())) out.push_back(step.name());
  return out;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ", ") + name;
  return "[" + out + "]";
}

std::map<std::string, const v1::StepDefinition*> steps_of(const v1::WorkflowDefinition& definition) {
  std::map<std::string, const v1::StepDefinition*> out;
  for (const auto& step : definition.steps()) out.emplace(step.name(), &step);
  return out;
}

/// Without the name, which is told beside it.
std::string whole(v1::StepDefinition step) {
  step.clear_name();
  return text_of(step);
}

}  // namespace

std::vector<difference> compare(const v1::StepDefinition& before, const v1::StepDefinition& after) {
  std::vector<difference> out;
  const auto& all = *v1::StepDefinition::descriptor();
  const auto both_wait = before.kind() == v1::STEP_KIND_WAIT && after.kind() == v1::STEP_KIND_WAIT;
  for (int i = 0; i < all.field_count(); ++i) {
    const auto from = out.size();
    compare_field(before, after, *all.field(i), {}, out);
    for (auto at = from; at < out.size(); ++at) {
      out[at].step = after.name();
      out[at].field = all.field(i)->number();
      if (both_wait && out[at].key == "with") out[at].key = "wait";
      if (out[at].key == "callback") out[at].key = "callback.timeout";
    }
  }
  return out;
}

std::vector<difference> compare(const v1::WorkflowDefinition& before, const v1::WorkflowDefinition& after) {
  std::vector<difference> out;
  const auto& all = *v1::WorkflowDefinition::descriptor();
  for (int i = 0; i < all.field_count(); ++i)
    if (all.field(i)->number() != v1::WorkflowDefinition::kStepsFieldNumber) compare_field(before, after, *all.field(i), {}, out);
  const auto old_steps = steps_of(before);
  const auto new_steps = steps_of(after);
  auto old_order = joined(shared_steps(before, new_steps));
  auto new_order = joined(shared_steps(after, old_steps));
  if (old_order != new_order) out.push_back({difference::kind::changed, {}, "order", std::move(old_order), std::move(new_order)});
  for (const auto& step : after.steps()) {
    const auto found = old_steps.find(step.name());
    if (found == old_steps.end()) {
      out.push_back({difference::kind::added, step.name(), {}, std::nullopt, whole(step)});
      continue;
    }
    for (auto& one : compare(*found->second, step)) out.push_back(std::move(one));
  }
  for (const auto& step : before.steps())
    if (!new_steps.contains(step.name())) out.push_back({difference::kind::removed, step.name(), {}, whole(step), std::nullopt});
  // Where new steps stand among the others decides nothing but which of them are handed over first.
  return out;
}

}  // namespace fairlead::core
