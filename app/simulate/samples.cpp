#include "app/simulate/samples.hpp"

#include <algorithm>
#include <cctype>
#include <functional>
#include <utility>

namespace fairlead::app::simulate {

namespace {

using json = nlohmann::json;
using path_of_keys = std::vector<std::string>;

constexpr const char* list_mark = "[]";  // a path that ends so is read as a list
constexpr int most_depth = 8;
constexpr std::int64_t most_items = 100;

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

void each_expression(const json& value, const std::function<void(const std::string&)>& found) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text.size() > 3 && text.starts_with("${") && text.back() == '}') found(text.substr(2, text.size() - 3));
  } else if (value.is_structured()) {
    for (const auto& one : value) each_expression(one, found);
  }
}

void each_expression_of(const std::string& with, const std::function<void(const std::string&)>& found) {
  if (with.empty()) return;
  const auto parsed = json::parse(with, nullptr, false);
  if (!parsed.is_discarded()) each_expression(parsed, found);
}

std::string trimmed(const std::string& text) {
  const auto from = text.find_first_not_of(' ');
  return from == std::string::npos ? std::string{} : text.substr(from, text.find_last_not_of(' ') - from + 1);
}

/// Values on both sides of what a path is compared with. `rest` begins behind the path.
std::vector<json> compared(const std::string& rest) {
  const auto at = rest.find_first_not_of(' ');
  if (at == std::string::npos) return {};
  for (const auto* sign : {"==", "!=", ">=", "<=", ">", "<"}) {
    if (rest.compare(at, std::char_traits<char>::length(sign), sign) != 0) continue;
    auto literal = trimmed(rest.substr(at + std::char_traits<char>::length(sign)));
    if (literal.starts_with('"')) {
      const auto end = literal.find('"', 1);
      return end == std::string::npos ? std::vector<json>{} : std::vector<json>{literal.substr(1, end - 1)};
    }
    const auto end = literal.find_first_not_of("-0123456789");
    literal = literal.substr(0, end);
    if (literal.empty() || literal == "-" || literal.size() > 15) return {};
    const auto number = std::stoll(literal);
    return {number, number + 1, number > 0 ? number - 1 : number};
  }
  return {};
}

}  // namespace

samples::samples(const v1::WorkflowDefinition& of) {
  if (!of.input_schema_json().empty()) {
    auto parsed = json::parse(of.input_schema_json(), nullptr, false);
    if (!parsed.is_discarded()) schema_ = std::move(parsed);
  }
  const auto note = [this](const std::string& text) { note_reads(text, false); };
  for (const auto& step : of.steps()) {
    if (step.kind() == v1::STEP_KIND_VALUE)
      each_expression_of(step.with_json(), [&](const std::string& text) {
        for (auto at = text.find(".steps."); at != std::string::npos; at = text.find(".steps.", at + 1)) {
          auto end = at + 7;
          while (end < text.size() && in_name(text[end])) ++end;
          passes_on_[step.name()].push_back(text.substr(at + 7, end - at - 7));
        }
      });
    if (step.kind() == v1::STEP_KIND_WAIT)
      each_expression_of(step.with_json(), [this](const std::string& text) {
        const auto read = trimmed(text);
        if (!read.starts_with(".input.") || !std::all_of(read.begin() + 7, read.end(), in_name)) return;
        note_path({"", read.substr(7)}, {"2s", "1h"});
      });
  }
  for (const auto& step : of.steps()) {
    each_expression_of(step.with_json(), note);
    each_expression_of(step.undo().with_json(), note);
    each_expression_of(step.when_json(), [this](const std::string& text) { note_reads(text, true); });
    each_expression_of(step.repeat().until_json(), [this](const std::string& text) { note_reads(text, true); });
  }
  each_expression_of(of.output_json(), note);
}

/// `path`: the step, empty for the input, and what is read below.
void samples::note_path(path_of_keys path, const std::vector<json>& values) {
  const auto whose = path.front();
  path.erase(path.begin());
  const auto note = [&](const std::string& name) {
    auto& known = reads_[name][path];
    for (const auto& one : values)
      if (std::find(known.begin(), known.end(), one) == known.end()) known.push_back(one);
  };
  note(whose);
  if (const auto found = passes_on_.find(whose); found != passes_on_.end())
    for (const auto& name : found->second) note(name);
}

/// `whole`: the expression is a condition, so a path that is all of it is true or false.
void samples::note_reads(const std::string& expression, bool whole) {
  for (const std::string root : {".input", ".steps."}) {
    for (auto at = expression.find(root); at != std::string::npos; at = expression.find(root, at + 1)) {
      if (at > 0 && (in_name(expression[at - 1]) || expression[at - 1] == ']')) continue;
      auto end = at + root.size();
      path_of_keys path;
      const auto take_name = [&] {
        const auto from = end;
        while (end < expression.size() && in_name(expression[end])) ++end;
        path.push_back(expression.substr(from, end - from));
      };
      if (root == ".input") {
        if (end < expression.size() && in_name(expression[end])) continue;
        path.emplace_back();
      } else {
        take_name();
      }
      while (end + 1 < expression.size() && expression[end] == '.' && in_name(expression[end + 1])) {
        ++end;
        take_name();
      }
      auto values = compared(expression.substr(end));
      if (end < expression.size() && expression[end] == '[')
        path.emplace_back(list_mark);
      else if (values.empty() && whole && trimmed(expression) == expression.substr(at, end - at))
        values = {true, false};
      if (path.size() > 1) note_path(std::move(path), values);
    }
  }
}

json samples::made(const std::map<path_of_keys, std::vector<json>>& leaves, dice& roll) {
  json out = json::object();
  for (const auto& [path, values] : leaves) {
    auto* at = &out;
    for (std::size_t i = 0; i + 1 < path.size() && path[i + 1] != list_mark; ++i) {
      auto& next = (*at)[path[i]];
      if (!next.is_object()) next = json::object();
      at = &next;
    }
    const bool list = path.back() == list_mark;
    if (list && path.size() == 1) return json::array({"a", "b"});
    auto& leaf = (*at)[path[path.size() - (list ? 2 : 1)]];
    if (list)
      leaf = json::array({"a", "b"});
    else if (!values.empty())
      leaf = values[roll.below(values.size())];
    else if (leaf.is_null())
      leaf = "x";
  }
  return out;
}

json samples::by_schema(const json& schema, const json& defs, const path_of_keys& path, dice& roll, int depth) const {
  if (!schema.is_object() || depth > most_depth) return nullptr;
  if (schema.contains("const")) return schema["const"];
  if (schema.contains("enum") && !schema["enum"].empty()) return schema["enum"][roll.below(schema["enum"].size())];
  if (schema.contains("$ref")) {
    const auto name = schema["$ref"].get<std::string>();
    const auto from = name.rfind('/') + 1;
    return defs.contains(name.substr(from)) ? by_schema(defs[name.substr(from)], defs, path, roll, depth + 1) : json{};
  }
  if (const auto whose = reads_.find(""); whose != reads_.end())
    if (const auto known = whose->second.find(path); known != whose->second.end() && !known->second.empty())
      return known->second[roll.below(known->second.size())];
  const auto type = schema.contains("type") && schema["type"].is_string() ? schema["type"].get<std::string>() : std::string{"object"};
  const auto number = [&schema](const char* key, std::int64_t otherwise) {
    return schema.contains(key) && schema[key].is_number() ? schema[key].get<std::int64_t>() : otherwise;
  };
  if (type == "string") return std::string(static_cast<std::size_t>(std::max<std::int64_t>(number("minLength", 1), 1)), 'x');
  if (type == "boolean") return roll.chance(50);
  if (type == "integer" || type == "number") return number("minimum", number("exclusiveMinimum", 0) + 1);
  if (type == "null") return nullptr;
  if (type == "array") {
    auto out = json::array();
    for (auto left = std::clamp<std::int64_t>(number("minItems", 1), 1, most_items); left > 0; --left)
      out.push_back(by_schema(schema.value("items", json::object()), defs, {}, roll, depth + 1));
    return out;
  }
  json out = json::object();
  if (schema.contains("properties"))
    for (const auto& [name, one] : schema["properties"].items()) {
      auto below = path;
      below.push_back(name);
      out[name] = by_schema(one, defs, below, roll, depth + 1);
    }
  // Of what it does not say anything about, anything will do.
  if (schema.contains("required"))
    for (const auto& one : schema["required"])
      if (!out.contains(one.get<std::string>())) out[one.get<std::string>()] = "x";
  return out;
}

void samples::read(const test_file& from) {
  const auto take = [this](const std::vector<answer_script>& scripts) {
    for (const auto& one : scripts) {
      if (one.key.starts_with(undo_of) || one.key.starts_with(lookup_of)) continue;
      for (const auto& answer : one.answers) {
        if (!answer.fault && !answer.callback) outputs_[one.key].push_back(answer.output);
        if (answer.callback && !answer.callback->fault) outputs_[one.key].push_back(answer.callback->output);
      }
    }
  };
  take(from.agents);
  for (const auto& one : from.cases) {
    if (one.expect.end.value == refused_word) continue;
    take(one.agents);
    if (std::find(inputs_.begin(), inputs_.end(), one.input) == inputs_.end()) inputs_.push_back(one.input);
  }
}

std::string samples::input(dice roll) const {
  if (!inputs_.empty()) return inputs_[roll.below(inputs_.size())];
  if (schema_) return by_schema(*schema_, schema_->value("$defs", json::object()), {}, roll, 0).dump();
  const auto found = reads_.find("");
  return found == reads_.end() ? "{}" : made(found->second, roll).dump();
}

std::string samples::output(const v1::StepDefinition& of, dice roll) const {
  for (const auto& key : {of.name(), of.agent() + "." + of.call()})
    if (const auto found = outputs_.find(key); found != outputs_.end() && !found->second.empty())
      return found->second[roll.below(found->second.size())];
  const auto found = reads_.find(of.name());
  return found == reads_.end() ? "{}" : made(found->second, roll).dump();
}

}  // namespace fairlead::app::simulate
