#include "actors/core/workflow/values/known_values.hpp"

#include <google/protobuf/descriptor.h>

#include <optional>

#include "actors/core/schema/references.hpp"
#include "actors/core/text/json.hpp"
#include "actors/core/text/json_cursor.hpp"
#include "actors/core/text/nearest.hpp"

namespace fairlead::core {

namespace {

constexpr int deepest = 128;

std::string_view kind_of(std::string_view json) {
  switch (json.empty() ? ' ' : json.front()) {
    case '{': return "object";
    case '[': return "array";
    case '"': return "string";
    case 't':
    case 'f': return "boolean";
    case 'n': return "null";
    default: return "number";
  }
}

std::string_view wanted_by(const path_part& part) { return part.is_key ? "object" : "array"; }

/// The only type that a schema's `type` allows; empty: several, or none is given.
std::string single_type(std::string_view type) {
  auto one = type;
  if (type.front() == '[') {
    if (json_element(type, 1)) return "";
    const auto first = json_element(type, 0);
    if (!first) return "";
    one = *first;
  }
  if (one.front() != '"') return "";
  auto out = decode_json_string(one);
  return out == "integer" ? "number" : out;
}

bool allows(std::string_view type, std::string_view wanted) {
  if (type.front() == '"') return decode_json_string(type) == wanted;
  if (type.front() != '[') return true;
  std::string_view one;
  for (json_cursor all{type}; all.next_element(one);)
    if (one.front() == '"' && decode_json_string(one) == wanted) return true;
  return false;
}

}  // namespace

std::string json_type_words(std::string_view type) {
  if (type == "string") return "text";
  if (type == "object" || type == "array") return "an " + std::string{type};
  return type == "null" ? "null" : "a " + std::string{type};
}

schema_reader::schema_reader(std::string_view schema) : schema_(trim_json(schema)) {}

known_value schema_reader::look_up(const std::vector<path_part>& parts) { return walk(schema_, parts, 1, 0); }

// All keywords of a schema count at once, so what one of them forbids is forbidden, whatever the others say. Of alternatives (anyOf, oneOf,
// if) nothing is certain.
known_value schema_reader::walk(std::string_view schema, const std::vector<path_part>& parts, std::size_t at, int depth) {
  bytes_left_ -= static_cast<std::int64_t>(schema.size()) + 1;
  if (bytes_left_ < 0 || depth > deepest || schema.empty() || schema.front() != '{') return {};
  if (const auto named = json_member(schema, "$ref"); named && named->front() == '"') {
    bytes_left_ -= static_cast<std::int64_t>(schema_.size());
    const auto of = read_reference(decode_json_string(*named));
    const auto all = json_member(schema_, of.keyword);
    const auto found = all ? json_member(*all, of.name) : std::nullopt;
    return found ? walk(*found, parts, at, depth + 1) : known_value{};
  }
  const auto type = json_member(schema, "type");
  if (at == parts.size()) return {type ? single_type(*type) : "", "", ""};
  const auto& part = parts[at];
  if (type && !allows(*type, wanted_by(part))) {
    const auto only = single_type(*type);
    return {"",
            "but by the schema of the input " + spell_path(parts, at) +
                (only.empty() ? " is no " + std::string{wanted_by(part)} : " is " + json_type_words(only)),
            "read another path, or change the schema"};
  }
  known_value out;
  if (part.is_key) {
    const auto properties = json_member(schema, "properties");
    const auto found = properties ? json_member(*properties, part.key) : std::nullopt;
    const auto others = json_member(schema, "additionalProperties");
    if (found)
      out = walk(*found, parts, at + 1, depth + 1);
    else if (others && *others == "false")
      return no_property(properties ? *properties : "{}", parts, at);
    else if (others)
      out = walk(*others, parts, at + 1, depth + 1);
  } else if (const auto items = json_member(schema, "items")) {
    out = walk(*items, parts, at + 1, depth + 1);
  }
  if (!out.refusal.empty()) return out;
  std::string_view one;
  if (const auto all = json_member(schema, "allOf"); all && all->front() == '[') {
    for (json_cursor each{*all}; each.next_element(one);) {
      auto more = walk(one, parts, at, depth + 1);
      if (!more.refusal.empty()) return more;
      if (out.type.empty()) out.type = std::move(more.type);
    }
  }
  return out;
}

known_value schema_reader::no_property(std::string_view properties, const std::vector<path_part>& parts, std::size_t at) {
  std::vector<std::string> known;
  std::string_view key, value;
  if (properties.front() == '{')
    for (json_cursor all{properties}; all.next_member(key, value);) known.push_back(decode_json_string(key));
  const auto close = nearest(parts[at].key, known);
  return {"", "which the schema of the input does not allow",
          close.empty() ? "add the property to the schema, or read another path" : "did you mean " + close + "?"};
}

known_value look_up_typed(const google::protobuf::Descriptor& outermost, const std::vector<path_part>& parts, std::size_t at) {
  using google::protobuf::FieldDescriptor;
  constexpr auto remedy = "read another path, or change output_type of the step";
  const auto not_of = [&](const char* what) {
    return known_value{"", "but by output_type of the step " + spell_path(parts, at) + " is " + what, remedy};
  };
  for (const auto* type = &outermost;;) {
    // Their JSON has a form of its own.
    if (type->full_name().starts_with("google.protobuf.")) return {};
    if (at == parts.size()) return {"object", "", ""};
    if (!parts[at].is_key) return not_of("an object");
    const FieldDescriptor* field = nullptr;
    std::vector<std::string> names;
    for (int i = 0; i < type->field_count() && field == nullptr; ++i) {
      const auto* one = type->field(i);
      if (one->name() == parts[at].key || one->json_name() == parts[at].key) field = one;
      names.push_back(one->name());
    }
    if (field == nullptr) {
      const auto close = nearest(parts[at].key, names);
      return {"", "but " + type->full_name() + " has no field " + parts[at].key, close.empty() ? remedy : "did you mean " + close + "?"};
    }
    ++at;
    if (field->is_map()) return {};
    if (field->is_repeated()) {
      if (at == parts.size()) return {"array", "", ""};
      if (parts[at].is_key) return not_of("an array");
      ++at;
    }
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      type = field->message_type();
      continue;
    }
    if (at < parts.size()) return not_of("a single value");
    // Numbers and words may stand in more than one form.
    const auto is_text = field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
    return {is_text ? "string" : field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL ? "boolean" : "", "", ""};
  }
}

known_value look_up_literal(std::string_view json, const std::vector<path_part>& parts, std::size_t at) {
  auto value = trim_json(json);
  for (; !value.empty(); ++at) {
    const auto kind = kind_of(value);
    if (kind == "string" && decode_json_string(value).find("${") != std::string::npos) return {};
    if (at == parts.size()) return {std::string{kind}, "", ""};
    const auto& part = parts[at];
    if (kind != wanted_by(part))
      return {"", "but " + spell_path(parts, at) + " is " + json_type_words(kind), "change the value of the step, or read another path"};
    const auto below = part.is_key ? json_member(value, part.key) : json_element(value, part.index);
    if (below) {
      value = *below;
      continue;
    }
    std::vector<std::string> known;
    std::string_view key, member;
    if (part.is_key)
      for (json_cursor all{value}; all.next_member(key, member);) known.push_back(decode_json_string(key));
    const auto close = nearest(part.key, known);
    return {"", "which the value of the step does not have",
            close.empty() ? "add it to the value, or read another path" : "did you mean " + close + "?"};
  }
  return {};
}

}  // namespace fairlead::core
