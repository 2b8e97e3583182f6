#include "app/simulate/samples.hpp"

#include <algorithm>
#include <cctype>
#include <functional>
#include <string_view>
#include <utility>

namespace fairlead::app::simulate {

namespace {

using json = nlohmann::json;
using path_of_keys = std::vector<std::string>;

constexpr const char* list_mark = "[]";  // a path that ends so is read as a list
constexpr int most_depth = 8;
constexpr std::int64_t most_items = 100;
constexpr std::int64_t most_length = 1'000'000;  // of a text: more than any input may have
constexpr std::int64_t most_sampled = 3;         // of a list whose items are carried out, if nothing wants more

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

struct read_path {
  path_of_keys path;  // of `.input` the first key is empty, of `.steps.` it is the step; of `.item` there is no such key
  std::size_t begin = 0, end = 0;
};

/// `.input.a.b` and the like. `root` is one of `.input`, `.steps.` and `.item`.
std::vector<read_path> paths_in(const std::string& expression, std::string_view root) {
  std::vector<read_path> out;
  for (auto at = expression.find(root); at != std::string::npos; at = expression.find(root, at + 1)) {
    if (at > 0 && (in_name(expression[at - 1]) || expression[at - 1] == ']')) continue;
    auto end = at + root.size();
    read_path one;
    const auto take_name = [&] {
      const auto from = end;
      while (end < expression.size() && in_name(expression[end])) ++end;
      one.path.push_back(expression.substr(from, end - from));
    };
    if (root.back() == '.') {
      take_name();
    } else {
      if (end < expression.size() && in_name(expression[end])) continue;
      if (root == ".input") one.path.emplace_back();
    }
    while (end + 1 < expression.size() && expression[end] == '.' && in_name(expression[end + 1])) {
      ++end;
      take_name();
    }
    one.begin = at;
    one.end = end;
    out.push_back(std::move(one));
  }
  return out;
}

/// What stands on the way and is no object gives way.
json& place_of(json& in, const path_of_keys& path) {
  auto* at = &in;
  for (const auto& key : path) {
    if (!at->is_object()) *at = json::object();
    at = &(*at)[key];
  }
  return *at;
}

}  // namespace

samples::samples(const v1::WorkflowDefinition& of) {
  if (!of.input_schema_json().empty()) {
    auto parsed = json::parse(of.input_schema_json(), nullptr, false);
    if (!parsed.is_discarded()) schema_ = std::move(parsed);
  }
  for (const auto& step : of.steps()) {
    if (step.has_for_each()) with_items_.insert(step.name());
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
        note_path({"", read.substr(7)}, {"2s", "1h"}, {});
      });
  }
  for (const auto& step : of.steps()) note_step(step);
  each_expression_of(of.output_json(), [this](const std::string& text) { note_reads(text, false); });
}

void samples::note_step(const v1::StepDefinition& step) {
  const auto condition = [this](const std::string& text) { note_reads(text, true); };
  each_expression_of(step.with_json(), [this](const std::string& text) { note_reads(text, false); });
  each_expression_of(step.undo().with_json(), [&](const std::string& text) { note_reads(text, false, step.name()); });
  each_expression_of(step.when_json(), condition);
  each_expression_of(step.repeat().until_json(), condition);
  if (step.has_for_each()) note_list(step);
}

/// What its list is made from is a list, with items of which its expressions can be read.
void samples::note_list(const v1::StepDefinition& step) {
  leaves_by_path element;
  const auto note_item = [&](const std::string& text) {
    for (auto& one : paths_in(text, ".item")) {
      if (one.path.empty()) continue;
      auto& known = element[one.path];
      const auto values = compared(text.substr(one.end));
      known.insert(known.end(), values.begin(), values.end());
    }
  };
  each_expression_of(step.with_json(), note_item);
  each_expression_of(step.undo().with_json(), note_item);
  each_expression_of(step.for_each().list_json(), [&](const std::string& text) {
    for (const auto* root : {".input", ".steps."})
      for (auto& one : paths_in(text, root)) {
        const auto whose = one.path.front();
        one.path.erase(one.path.begin());
        constexpr std::string_view range = "range(";
        if (one.begin >= range.size() && text.compare(one.begin - range.size(), range.size(), range) == 0) {
          one.path.insert(one.path.begin(), whose);
          note_path(std::move(one.path), {0, 1, 3}, {});
          continue;
        }
        std::vector<std::string> all{whose};
        if (const auto found = passes_on_.find(whose); found != passes_on_.end())
          all.insert(all.end(), found->second.begin(), found->second.end());
        for (const auto& name : all)
          if (with_items_.count(name) == 0) lists_[name][one.path].insert(element.begin(), element.end());
      }
  });
}

/// `path`: the step, empty for the input, and what is read below. `own_output`: the step whose undo reads it.
void samples::note_path(path_of_keys path, const std::vector<json>& values, const std::string& own_output) {
  const auto whose = path.front();
  path.erase(path.begin());
  const auto note = [&](const std::string& name) {
    // Of a step with items only its undo reads what a call gives; others read a list that the step makes.
    if (with_items_.count(name) != 0 && name != own_output) return;
    auto& known = reads_[name][path];
    for (const auto& one : values)
      if (std::find(known.begin(), known.end(), one) == known.end()) known.push_back(one);
  };
  note(whose);
  if (const auto found = passes_on_.find(whose); found != passes_on_.end())
    for (const auto& name : found->second) note(name);
}

/// `whole`: the expression is a condition, so a path that is all of it is true or false.
void samples::note_reads(const std::string& expression, bool whole, const std::string& own_output) {
  for (const auto* root : {".input", ".steps."}) {
    for (auto& one : paths_in(expression, root)) {
      auto values = compared(expression.substr(one.end));
      if (one.end < expression.size() && expression[one.end] == '[')
        one.path.emplace_back(list_mark);
      else if (values.empty() && whole && trimmed(expression) == expression.substr(one.begin, one.end - one.begin))
        values = {true, false};
      if (one.path.size() > 1) note_path(std::move(one.path), values, own_output);
    }
  }
}

json samples::made(const leaves_by_path& leaves, dice& roll) {
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

/// null: nothing is carried out for each item of what stands there.
const samples::leaves_by_path* samples::list_at(const std::string& whose, const path_of_keys& path) const {
  const auto found = lists_.find(whose);
  if (found == lists_.end()) return nullptr;
  const auto list = found->second.find(path);
  return list == found->second.end() ? nullptr : &list->second;
}

/// Now and then an empty one, if that is allowed.
std::int64_t samples::size_of_list(std::int64_t least, std::int64_t most, dice& roll) {
  most = std::clamp(most, least, std::max(least, most_sampled));
  if (least == 0 && (most == 0 || roll.chance(10))) return 0;
  least = std::max<std::int64_t>(least, 1);
  return least + static_cast<std::int64_t>(roll.below(static_cast<std::uint64_t>(most - least + 1)));
}

json samples::list_of(const leaves_by_path& element, dice& roll) {
  auto out = json::array();
  for (auto left = size_of_list(0, most_sampled, roll); left > 0; --left)
    out.push_back(element.empty() ? json(std::string(1, static_cast<char>('a' + out.size()))) : made(element, roll));
  return out;
}

void samples::put_lists(const std::string& whose, json& into, bool only_missing, dice& roll) const {
  const auto found = lists_.find(whose);
  if (found == lists_.end()) return;
  for (const auto& [path, element] : found->second) {
    auto& at = place_of(into, path);
    if (!only_missing || !at.is_array()) at = list_of(element, roll);
  }
}

/// By what is read of it.
json samples::value_of(const std::string& whose, dice& roll) const {
  const auto found = reads_.find(whose);
  auto out = found == reads_.end() ? json::object() : made(found->second, roll);
  put_lists(whose, out, false, roll);
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
  if (type == "string") return std::string(static_cast<std::size_t>(std::clamp<std::int64_t>(number("minLength", 1), 1, most_length)), 'x');
  if (type == "boolean") return roll.chance(50);
  if (type == "integer" || type == "number") return number("minimum", number("exclusiveMinimum", 0) + 1);
  if (type == "null") return nullptr;
  if (type == "array") {
    const auto* carried_out = list_at("", path);
    auto left = std::clamp<std::int64_t>(number("minItems", 1), 1, most_items);
    if (carried_out != nullptr) left = size_of_list(std::min(number("minItems", 0), most_items), number("maxItems", most_sampled), roll);
    auto out = json::array();
    for (; left > 0; --left) {
      const auto anything = carried_out != nullptr && !schema.contains("items");
      out.push_back(anything && !carried_out->empty() ? made(*carried_out, roll)
                                                      : by_schema(schema.value("items", json::object()), defs, {}, roll, depth + 1));
    }
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
      const auto& key = one.item ? one.step : one.key;
      // Where nothing is answered, and where no callback comes, there is no output: null would be one.
      for (const auto& answer : one.answers) {
        if (!answer.fault && !answer.callback && !answer.never) outputs_[key].push_back(answer.output);
        if (answer.callback && !answer.callback->fault) called_back_[key].push_back(answer.callback->output);
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
  if (!schema_) return value_of("", roll).dump();
  auto out = by_schema(*schema_, schema_->value("$defs", json::object()), {}, roll, 0);
  // Of what the schema does not speak of.
  put_lists("", out, true, roll);
  return out.dump();
}

std::string samples::output(const v1::StepDefinition& of, dice roll) const {
  const auto& given = of.callback_ms() > 0 ? called_back_ : outputs_;
  for (const auto& key : {of.name(), of.agent() + "." + of.call()})
    if (const auto found = given.find(key); found != given.end() && !found->second.empty())
      return found->second[roll.below(found->second.size())];
  return value_of(of.name(), roll).dump();
}

}  // namespace fairlead::app::simulate
