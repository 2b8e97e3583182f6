#include "actors/core/schema/keywords.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "actors/core/schema/decimal.hpp"
#include "actors/core/schema/references.hpp"
#include "actors/core/text/json.hpp"
#include "actors/core/text/json_cursor.hpp"
#include "actors/core/text/nearest.hpp"
#include "actors/core/text/text.hpp"

namespace fairlead::core {

namespace {

constexpr std::size_t most_problems = 20;

/// What the value of a keyword must be.
enum class form {
  any,
  text,
  boolean,
  number,
  divisor,
  count,
  type,
  values,
  list,
  names,
  schema,
  item_schema,
  schemas,
  named_schemas,
  definitions,
  dependencies,
  reference,
  version,
};

constexpr std::pair<std::string_view, form> keywords[] = {
    {"type", form::type},
    {"properties", form::named_schemas},
    {"required", form::names},
    {"additionalProperties", form::schema},
    {"items", form::item_schema},
    {"minItems", form::count},
    {"maxItems", form::count},
    {"uniqueItems", form::boolean},
    {"contains", form::schema},
    {"enum", form::values},
    {"const", form::any},
    {"minimum", form::number},
    {"maximum", form::number},
    {"exclusiveMinimum", form::number},
    {"exclusiveMaximum", form::number},
    {"multipleOf", form::divisor},
    {"minLength", form::count},
    {"maxLength", form::count},
    {"minProperties", form::count},
    {"maxProperties", form::count},
    {"anyOf", form::schemas},
    {"oneOf", form::schemas},
    {"allOf", form::schemas},
    {"not", form::schema},
    {"if", form::schema},
    {"then", form::schema},
    {"else", form::schema},
    {"dependencies", form::dependencies},
    {"$ref", form::reference},
    {"$defs", form::definitions},
    {"definitions", form::definitions},
    {"title", form::text},
    {"description", form::text},
    {"$comment", form::text},
    {"format", form::text},
    {"default", form::any},
    {"examples", form::list},
    {"$schema", form::version},
};

struct refused_keyword {
  std::string_view name;
  const char* sentence;
  const char* remedy;
};

constexpr const char* no_bound = "the time that a regular expression takes has no bound, so this keyword is not supported";
constexpr const char* other_draft = "this keyword is not in the supported part of draft 7";

constexpr std::array<refused_keyword, 10> refused_keywords{{
    {"pattern", no_bound, "list the texts with enum, or check the text in a first step"},
    {"patternProperties", no_bound, "list the names with properties, or use additionalProperties for all other names"},
    {"propertyNames", other_draft, "list the names with properties, and add additionalProperties: false"},
    {"additionalItems", other_draft, "use one schema for all elements, with items"},
    {"prefixItems", other_draft, "use one schema for all elements, with items"},
    {"dependentRequired", other_draft, "use dependencies"},
    {"dependentSchemas", other_draft, "use dependencies"},
    {"unevaluatedProperties", other_draft, "use additionalProperties"},
    {"$id", "a schema here is never known by an address, so this keyword has no effect", "remove it"},
    {"id", "a schema here is never known by an address, so this keyword has no effect",
     "remove it; a property that has this name belongs below properties"},
}};

constexpr std::array<std::string_view, 7> types{"string", "integer", "number", "boolean", "object", "array", "null"};

/// What may stand beside `$ref`: notes, and at the top the definitions.
constexpr std::array<std::string_view, 9> beside_reference{"$ref",     "title",   "description", "default",    "examples",
                                                           "$comment", "$schema", "$defs",       "definitions"};

std::string below(const std::string& at, std::string_view key) { return at + "." + shown_key(key); }
std::string element(const std::string& at, std::size_t index) { return at + "[" + std::to_string(index) + "]"; }

bool is_object(std::string_view json) { return json.front() == '{'; }
bool is_array(std::string_view json) { return json.front() == '['; }
bool is_text(std::string_view json) { return json.front() == '"'; }
bool is_boolean(std::string_view json) { return json == "true" || json == "false"; }
bool is_number(std::string_view json) { return json.front() == '-' || (json.front() >= '0' && json.front() <= '9'); }

class checker {
 public:
  std::vector<schema_problem> run(std::string_view json, const std::string& at) {
    if (json.size() > max_schema_bytes) {
      add(at, "the schema has " + std::to_string(json.size()) + " bytes; at most " + std::to_string(max_schema_bytes) + " are allowed", "");
      return std::move(found_);
    }
    if (const auto valid = check_json(json); !valid.ok()) {
      add(at, "the schema is " + valid.failure().sentence, valid.failure().remedy);
      return std::move(found_);
    }
    const auto text = trim_json(json);
    if (!is_object(text)) {
      add(at, std::string{"expected a schema, found "} + json_kind(text), "write a map, such as { type: object }");
      return std::move(found_);
    }
    note_definitions(text, at);
    schema(text, at, 1);
    for (auto& one : references_.missing(most_problems)) add(one.place, std::move(one.sentence), std::move(one.remedy));
    if (found_.empty()) found_ = references_.follow(at);
    return std::move(found_);
  }

 private:
  bool full() const { return found_.size() >= most_problems; }

  void add(const std::string& at, std::string sentence, std::string remedy) {
    if (!full()) found_.push_back({at, std::move(sentence), std::move(remedy)});
  }

  void expected(const std::string& at, const std::string& what, std::string_view json, std::string remedy = {}) {
    add(at, "expected " + what + ", found " + json_kind(json), std::move(remedy));
  }

  void note_definitions(std::string_view top, const std::string& at) {
    for (const char* keyword : {"$defs", "definitions"}) {
      const auto all = json_member(top, keyword);
      if (!all || !is_object(*all)) continue;
      std::string_view name, value;
      for (json_cursor members{*all}; members.next_member(name, value);) {
        const auto text = decode_json_string(name);
        references_.define(keyword, text, below(below(at, keyword), text));
      }
    }
  }

  // The recursion is as deep as the JSON, which check_json bounds.
  void schema(std::string_view json, const std::string& at, std::size_t depth) {
    if (full()) return;
    if (++subschemas_ == max_subschemas + 1)
      add(at, "the schema has more than " + std::to_string(max_subschemas) + " subschemas", "describe less of the input");
    if (subschemas_ > max_subschemas) return;
    references_.reach(depth);
    if (is_boolean(json)) return;
    if (!is_object(json)) return expected(at, "a schema", json, "write a map, such as { type: string }");
    std::map<std::string, std::string_view> members;
    std::string_view name, value;
    for (json_cursor all{json}; all.next_member(name, value) && !full();) {
      const auto text = decode_json_string(name);
      if (!members.emplace(text, value).second)
        add(below(at, text), "the keyword is given twice", "");
      else
        keyword(text, value, below(at, text), depth);
    }
    check_together(members, at);
  }

  void keyword(const std::string& name, std::string_view value, const std::string& at, std::size_t depth) {
    const auto found = std::find_if(std::begin(keywords), std::end(keywords), [&](const auto& one) { return one.first == name; });
    if (name.empty() || found == std::end(keywords)) return unknown(name, at);
    switch (found->second) {
      case form::any: return;
      case form::text:
        if (!is_text(value)) expected(at, "a text", value);
        return;
      case form::boolean:
        if (!is_boolean(value)) expected(at, "true or false", value);
        return;
      case form::number:
        if (!is_number(value)) expected(at, "a number", value);
        return;
      case form::divisor: return divisor(value, at);
      case form::count:
        if (!is_number(value) || !decimal::read(value).count()) add(at, "expected a whole number from 0 to 999999999999999", "");
        return;
      case form::type: return type(value, at);
      case form::values:
        if (!is_array(value) || !json_element(value, 0)) add(at, "expected a list of at least one value", "");
        return;
      case form::list:
        if (!is_array(value)) expected(at, "a list", value);
        return;
      case form::names: return names(value, at);
      case form::schema: return schema(value, at, depth + 1);
      case form::item_schema:
        if (is_array(value))
          return add(at, "a list of schemas, one for each element, is not supported", "use one schema for all elements, or an object");
        return schema(value, at, depth + 1);
      case form::schemas: return schemas(value, at, depth);
      case form::named_schemas: return named_schemas(value, at, depth);
      case form::definitions: return definitions(name, value, at, depth);
      case form::dependencies: return dependencies(value, at, depth);
      case form::reference: return note_reference(value, at, depth);
      case form::version:
        if (!is_text(value) || decode_json_string(value).find("json-schema.org/draft-07/schema") == std::string::npos)
          add(at, "this is not draft 7, of which a part is supported", "write http://json-schema.org/draft-07/schema#, or remove it");
        return;
    }
  }

  void unknown(const std::string& name, const std::string& at) {
    const auto found = std::find_if(refused_keywords.begin(), refused_keywords.end(), [&](const auto& one) { return one.name == name; });
    if (found != refused_keywords.end()) return add(at, found->sentence, found->remedy);
    std::vector<std::string> known;
    for (const auto& one : keywords) known.emplace_back(one.first);
    auto remedy = did_you_mean(name, known);
    if (remedy.empty()) remedy = "the names of properties belong below properties; docs/workflows.md lists the keywords";
    add(at, shown_keyword(name) + " is not a keyword of the supported part of draft 7", std::move(remedy));
  }

  void divisor(std::string_view value, const std::string& at) {
    if (!is_number(value)) return expected(at, "a number above 0", value);
    const auto number = decimal::read(value);
    if (!number.is_positive()) return add(at, "expected a number above 0", "");
    if (!number.fits_divisor()) add(at, "the number has more than " + std::to_string(decimal::most_divisor_digits) + " digits", "");
  }

  void type(std::string_view value, const std::string& at) {
    if (is_text(value)) return one_type(value, at);
    if (!is_array(value)) return expected(at, "the name of a type, or a list of them", value);
    std::set<std::string> seen;
    std::size_t index = 0;
    std::string_view one;
    for (json_cursor all{value}; all.next_element(one); ++index) {
      one_type(one, element(at, index));
      if (!seen.insert(std::string{one}).second) add(element(at, index), "the type is given twice", "");
    }
    if (index == 0) add(at, "expected at least one type", "");
  }

  void one_type(std::string_view value, const std::string& at) {
    if (!is_text(value)) return expected(at, "the name of a type", value);
    const auto name = decode_json_string(value);
    if (std::find(types.begin(), types.end(), name) != types.end()) return;
    const std::vector<std::string> known{types.begin(), types.end()};
    auto remedy = did_you_mean(name, known);
    if (remedy.empty()) remedy = "the types are string, integer, number, boolean, object, array and null";
    add(at, shown_keyword(name) + " is not a type", std::move(remedy));
  }

  void names(std::string_view value, const std::string& at) {
    if (!is_array(value)) return expected(at, "a list of names", value);
    std::set<std::string> seen;
    std::size_t index = 0;
    std::string_view one;
    for (json_cursor all{value}; all.next_element(one); ++index) {
      if (!is_text(one)) {
        expected(element(at, index), "a name", one);
        continue;
      }
      const auto name = decode_json_string(one);
      check_name(name, element(at, index));
      if (!seen.insert(name).second) add(element(at, index), shown_keyword(name) + " is given twice", "");
    }
  }

  /// The time and the memory that a check takes grow with the length of the names.
  void check_name(const std::string& name, const std::string& at) {
    if (name.size() > max_property_name_bytes)
      add(at, "the name has more than " + std::to_string(max_property_name_bytes) + " bytes", "");
    else if (name.find('\0') != std::string::npos)
      add(at, "the name has the character U+0000", "");
  }

  void schemas(std::string_view value, const std::string& at, std::size_t depth) {
    if (!is_array(value)) return expected(at, "a list of schemas", value);
    std::size_t index = 0;
    std::string_view one;
    for (json_cursor all{value}; all.next_element(one); ++index) schema(one, element(at, index), depth + 1);
    if (index == 0) add(at, "expected at least one schema", "");
  }

  template <class Visit>
  void members(std::string_view value, const std::string& at, Visit visit) {
    std::set<std::string> seen;
    std::string_view name, one;
    for (json_cursor all{value}; all.next_member(name, one);) {
      const auto text = decode_json_string(name);
      check_name(text, below(at, text));
      if (!seen.insert(text).second) add(below(at, text), "the name is given twice", "");
      visit(text, one);
    }
  }

  void named_schemas(std::string_view value, const std::string& at, std::size_t depth) {
    if (!is_object(value)) return expected(at, "a map of schemas by name", value);
    members(value, at, [&](const std::string& name, std::string_view one) { schema(one, below(at, name), depth + 1); });
  }

  void definitions(const std::string& keyword, std::string_view value, const std::string& at, std::size_t depth) {
    if (depth != 1 || references_.is_in_definition())
      return add(at, "definitions are only read at the top of the schema", "move them to the top");
    if (!is_object(value)) return expected(at, "a map of schemas by name", value);
    members(value, at, [&](const std::string& name, std::string_view one) {
      references_.enter(keyword, name);
      schema(one, below(at, name), 1);
    });
    references_.leave();
  }

  void dependencies(std::string_view value, const std::string& at, std::size_t depth) {
    if (!is_object(value)) return expected(at, "a map of lists of names, or of schemas", value);
    members(value, at, [&](const std::string& name, std::string_view one) {
      if (is_array(one))
        names(one, below(at, name));
      else
        schema(one, below(at, name), depth + 1);
    });
  }

  void note_reference(std::string_view value, const std::string& at, std::size_t depth) {
    auto to = read_reference(is_text(value) ? decode_json_string(value) : std::string{});
    if (to.keyword.empty())
      return add(at, "only definitions of the same schema can be referred to",
                 R"(write "#/$defs/NAME", and describe NAME below $defs at the top of the schema)");
    references_.refer(std::move(to), depth, at);
  }

  void check_together(const std::map<std::string, std::string_view>& all, const std::string& at) {
    const auto has = [&](const char* name) { return all.count(name) != 0; };
    if (has("$ref"))
      for (const auto& one : all)
        if (std::find(beside_reference.begin(), beside_reference.end(), one.first) == beside_reference.end())
          add(below(at, one.first), "draft 7 ignores this keyword beside $ref", "write allOf: [{ $ref: … }, { … }]");
    for (const char* name : {"then", "else"})
      if (has(name) && !has("if")) add(below(at, name), std::string{name} + " has no effect without if", "");
    for (const auto& [least, most] : {std::pair{"minimum", "maximum"}, std::pair{"minLength", "maxLength"},
                                      std::pair{"minItems", "maxItems"}, std::pair{"minProperties", "maxProperties"}}) {
      if (!has(least) || !has(most) || !is_number(all.at(least)) || !is_number(all.at(most))) continue;
      if (decimal::read(all.at(least)) > decimal::read(all.at(most)))
        add(below(at, least), std::string{least} + " is larger than " + most + ", so nothing fits", "");
    }
    check_required(all, at);
  }

  /// A required name that additionalProperties excludes is a typing error.
  void check_required(const std::map<std::string, std::string_view>& all, const std::string& at) {
    const auto required = all.find("required");
    const auto others = all.find("additionalProperties");
    if (required == all.end() || !is_array(required->second) || others == all.end() || others->second != "false") return;
    std::vector<std::string> known;
    const auto properties = all.find("properties");
    std::string_view name, value;
    if (properties != all.end() && is_object(properties->second))
      for (json_cursor members{properties->second}; members.next_member(name, value);) known.push_back(decode_json_string(name));
    const std::set<std::string> sorted{known.begin(), known.end()};
    std::size_t index = 0;
    for (json_cursor names{required->second}; !full() && names.next_element(value); ++index) {
      if (!is_text(value)) continue;
      const auto wanted = decode_json_string(value);
      if (sorted.count(wanted) == 0)
        add(element(below(at, "required"), index), shown_keyword(wanted) + " is required, but additionalProperties: false excludes it",
            did_you_mean(wanted, known));
    }
  }

  std::vector<schema_problem> found_;
  schema_references references_;
  std::size_t subschemas_ = 0;
};

}  // namespace

std::string shown_keyword(std::string_view text) {
  std::string out;
  append_json_string(out, clean_text(text, 80));
  return out;
}

std::vector<schema_problem> check_schema(std::string_view json, const std::string& at) { return checker{}.run(json, at); }

}  // namespace fairlead::core
