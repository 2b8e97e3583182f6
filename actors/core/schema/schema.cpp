// The only file that includes valijson. valijson applies a subschema to the values inside a value and to alternatives; the facts of a
// single value are ours, because valijson 1.0 compares numbers as doubles, ends a text at U+0000 and compares elements one by one.
//
// For this the schema is rewritten. Each subschema becomes a definition, which others refer to by its number, and its facts become a
// keyword of our own, which valijson evaluates first. The input becomes a tree whose texts, numbers and words are all texts.

#define VALIJSON_USE_EXCEPTIONS 1

#include "actors/core/schema/schema.hpp"

#include <deque>
#include <exception>
#include <map>
#include <utility>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/constraints/concrete_constraints.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "actors/core/schema/facts.hpp"
#include "actors/core/schema/input_tree.hpp"
#include "actors/core/schema/keywords.hpp"
#include "actors/core/schema/misfits.hpp"
#include "actors/core/text/json.hpp"
#include "actors/core/text/json_cursor.hpp"
#include "actors/core/text/text.hpp"

namespace fairlead::core {

namespace {

using tree = nlohmann::json;
using valijson::ValidationResults;
using valijson::adapters::Adapter;
using valijson::adapters::NlohmannJsonAdapter;

constexpr const char* own_keyword = "facts";
constexpr std::size_t most_input_bytes = 262'144;
// A step is the look at a value by one subschema, or something that takes about as long. An input of the largest size, all of it small
// numbers in one array, takes a quarter of them.
constexpr std::int64_t most_steps = 600'000;
// An explanation keeps what it finds, each with its path, and nobody reads more than a few misfits.
constexpr std::size_t most_errors = 500;

// Beginnings of descriptions that are ours.
constexpr char own_mark = '\x02';
constexpr char begin_mark = '\x03';

struct out_of_steps {};
struct enough_found {};

/// What the check that this thread is in may still do, and what it has found. valijson passes nothing of ours through.
struct progress {
  std::int64_t steps_left;
  const ValidationResults* top;  // null: nobody wants to know what does not fit
  std::size_t found = 0;         // at the top, outside of alternatives
};
thread_local progress* under_way = nullptr;

class check_under_way {
 public:
  explicit check_under_way(progress& what) { under_way = &what; }
  ~check_under_way() { under_way = nullptr; }
  check_under_way(const check_under_way&) = delete;
  check_under_way& operator=(const check_under_way&) = delete;
};

void spend(std::size_t steps) {
  if (under_way == nullptr) return;
  under_way->steps_left -= static_cast<std::int64_t>(steps);
  if (under_way->steps_left < 0) throw out_of_steps{};
}

// ---- values of the tree ----

void append_canonical(std::string& out, const Adapter& value) {
  const auto append_sized = [&out](const std::string& text) {
    spend(1 + text.size() / 16);
    out += std::to_string(text.size()) + ':' + text;
  };
  if (value.isObject()) {
    out += '{';
    value.applyToObject([&](const std::string& name, const Adapter& member) {
      append_sized(name);
      append_canonical(out, member);
      return true;
    });
    out += '}';
  } else if (value.isArray()) {
    out += '[';
    value.applyToArray([&](const Adapter& element) {
      append_canonical(out, element);
      return true;
    });
    out += ']';
  } else {
    append_sized(value.getString());
  }
}

std::string canonical_of(const Adapter& value) {
  std::string out;
  append_canonical(out, value);
  return out;
}

std::string canonical_of(std::string_view json) {
  const auto read = read_tree(json);
  return canonical_of(NlohmannJsonAdapter{read});
}

class tree_value final : public seen_value {
 public:
  explicit tree_value(const Adapter& value) : value_(value) {
    if (value.isObject()) {
      kind_ = value_kind::object;
    } else if (value.isArray()) {
      kind_ = value_kind::array;
    } else {
      value.getString(text_);
      kind_ = kind_of(text_.front());
      text_.erase(0, 1);
      spend(text_.size() / 64);
    }
  }

  value_kind kind() const override { return kind_; }
  const std::string& text() const override { return text_; }
  std::size_t size() const override { return kind_ == value_kind::object ? value_.getObjectSize() : value_.getArraySize(); }
  std::string canonical() const override { return canonical_of(value_); }

  std::vector<std::string> names() const override {
    spend(size());
    std::vector<std::string> out;
    value_.applyToObject([&](const std::string& name, const Adapter&) {
      out.push_back(name);
      return true;
    });
    return out;
  }

  std::vector<std::string> canonical_elements() const override {
    std::vector<std::string> out;
    value_.applyToArray([&](const Adapter& element) {
      out.push_back(canonical_of(element));
      return true;
    });
    return out;
  }

 private:
  static value_kind kind_of(char first) {
    switch (first) {
      case tag_null: return value_kind::null;
      case tag_number: return value_kind::number;
      case tag_text: return value_kind::text;
      default: return value_kind::boolean;
    }
  }

  const Adapter& value_;
  value_kind kind_ = value_kind::null;
  std::string text_;
};

// ---- the keyword of our own ----

std::size_t length_of(const std::vector<std::string>& path) {
  std::size_t bytes = 0;
  for (const auto& name : path) bytes += name.size();
  return bytes;
}

class facts_constraint final : public valijson::constraints::PolyConstraint {
 public:
  /// Without facts nothing fits: such a subschema is the first of alternatives, and marks where what is said of them begins.
  explicit facts_constraint(const value_facts* facts) : facts_(facts) {}

  bool validate(const Adapter& target, const std::vector<std::string>& path, ValidationResults* results) const override {
    // valijson copies the path for each value, and for each error.
    spend(1 + path.size() / 8 + length_of(path) / (results == nullptr ? 64 : 8));
    if (facts_ != nullptr && target.isObject()) spend(facts_->weight() / 4);
    if (results != nullptr && results->numErrors() > most_errors) give_up(*results);
    if (facts_ == nullptr) {
      if (results != nullptr) results->pushError(path, std::string{begin_mark});
      return false;
    }
    const tree_value value{target};
    if (results == nullptr) return facts_->fit(value, nullptr);
    std::vector<misfit> found;
    const auto fits = facts_->fit(value, &found);
    for (const auto& one : found) report(one, path, *results);
    return fits;
  }

 private:
  [[noreturn]] static void give_up(const ValidationResults& results) {
    if (under_way != nullptr && &results == under_way->top) throw enough_found{};
    throw out_of_steps{};
  }

  static void report(const misfit& what, const std::vector<std::string>& path, ValidationResults& results) {
    auto at = path;
    if (!what.name.empty()) at.push_back("[" + what.name + "]");
    results.pushError(at, own_mark + what.sentence);
    if (under_way != nullptr && &results == under_way->top && ++under_way->found >= most_misfits_of_a_value) throw enough_found{};
  }

  valijson::constraints::Constraint* cloneInto(void* place) const override { return new (place) facts_constraint{*this}; }
  std::size_t sizeOf() const override { return sizeof(facts_constraint); }

  const value_facts* facts_;
};

/// valijson deletes it.
class facts_builder final : public valijson::ConstraintBuilder {
 public:
  explicit facts_builder(const std::deque<value_facts>& all) : all_(all) {}

  valijson::constraints::Constraint* make(const Adapter& number) const override {
    const auto index = number.getInteger();
    return new facts_constraint{index < 0 ? nullptr : &all_.at(static_cast<std::size_t>(index))};
  }

 private:
  const std::deque<value_facts>& all_;
};

// ---- the schema, rewritten ----

class rewriter {
 public:
  rewriter(std::string_view schema, std::deque<value_facts>& facts) : facts_(facts) {
    for (const char* keyword : {"$defs", "definitions"}) {
      const auto all = json_member(schema, keyword);
      std::string_view name, value;
      if (all)
        for (json_cursor members{*all}; members.next_member(name, value);) definitions_[{keyword, decode_json_string(name)}] = {value, {}};
    }
    const auto top = reference_to(schema);
    document_[own_definitions] = std::move(rewritten_);
    document_["allOf"] = tree::array({top});
  }

  const tree& document() const { return document_; }

 private:
  static constexpr const char* own_definitions = "definitions";

  struct definition {
    std::string_view schema;
    std::optional<tree> reference;
  };

  tree reference_to(std::string_view schema) {
    if (schema.front() == '{') {
      if (const auto named = json_member(schema, "$ref")) {
        const auto name = read_reference(decode_json_string(*named));
        auto& found = definitions_.at({name.keyword, name.name});
        if (!found.reference) found.reference = rewrite(found.schema);
        return *found.reference;
      }
    }
    return rewrite(schema);
  }

  tree rewrite(std::string_view schema) {
    const auto number = facts_.size();
    facts_.push_back(value_facts::read(schema, [](std::string_view json) { return canonical_of(json); }));
    tree inside = tree::object();
    tree all = tree::array();
    if (schema.front() == '{') {
      std::string_view name, value;
      for (json_cursor members{schema}; members.next_member(name, value);) keyword(decode_json_string(name), value, inside, all);
    }
    const tree own{{own_keyword, number}};
    if (inside.empty() && all.empty()) return define(number, own);
    all.insert(all.begin(), own);
    inside["allOf"] = std::move(all);
    return define(number, std::move(inside));
  }

  tree define(std::size_t number, tree what) {
    const auto name = std::to_string(number);
    rewritten_[name] = std::move(what);
    return tree{{"$ref", "#/" + std::string{own_definitions} + "/" + name}};
  }

  void keyword(const std::string& name, std::string_view value, tree& inside, tree& all) {
    if (name == "allOf") {
      add_each(value, all);
    } else if (name == "anyOf" || name == "oneOf") {
      auto list = tree::array({tree{{own_keyword, -1}}});
      add_each(value, list);
      inside[name] = std::move(list);
    } else if (name == "properties" || name == "dependencies") {
      auto members = tree::object();
      std::string_view key, one;
      for (json_cursor each{value}; each.next_member(key, one);)
        if (one.front() != '[') members[decode_json_string(key)] = reference_to(one);
      inside[name] = std::move(members);
    } else if (name == "items" || name == "contains" || name == "not" || name == "if" || name == "then" || name == "else" ||
               (name == "additionalProperties" && value.front() == '{')) {
      inside[name] = reference_to(value);
    }
  }

  void add_each(std::string_view list, tree& out) {
    std::string_view one;
    for (json_cursor each{list}; each.next_element(one);) out.push_back(reference_to(one));
  }

  std::deque<value_facts>& facts_;
  std::map<std::pair<std::string, std::string>, definition> definitions_;
  tree rewritten_ = tree::object();
  tree document_ = tree::object();
};

// ---- what valijson says, in words ----

bool begins(const std::string& text, std::string_view with) { return std::string_view{text}.starts_with(with); }

std::vector<std::string> path_of(const ValidationResults::Error& of) {
  std::vector<std::string> out;
  // The first is the root. Each other one is a name in brackets.
  for (std::size_t i = 1; i < of.context.size(); ++i) out.push_back(of.context[i].substr(1, of.context[i].size() - 2));
  return out;
}

/// In the order in which they were found. What is said of alternatives is left out for what is said of all of them.
std::vector<misfit_place> places_in(const ValidationResults& results) {
  std::vector<misfit_place> out;
  std::vector<std::size_t> alternatives;  // where what is said of each begins in `out`
  for (const auto& one : results) {
    const auto& said = one.description;
    const auto add = [&](std::string sentence) { out.push_back({pointer_of(path_of(one)), std::move(sentence)}); };
    const auto none_of = [&](const char* keyword) {
      std::string example;
      if (!alternatives.empty()) {
        if (alternatives.back() < out.size()) {
          const auto& first = out[alternatives.back()];
          example = " (the first: " + (first.pointer.empty() ? "the input" : first.pointer) + " " + first.sentence + ")";
        }
        out.resize(alternatives.back());
        alternatives.pop_back();
      }
      add(std::string{"fits no alternative of "} + keyword + example);
    };
    if (said.front() == own_mark)
      add(said.substr(1));
    else if (said.front() == begin_mark)
      alternatives.push_back(out.size());
    else if (begins(said, "Failed to validate against any schemas allowed by anyOf"))
      none_of("anyOf");
    else if (begins(said, "Failed to validate against any child schemas allowed by oneOf"))
      none_of("oneOf");
    else if (begins(said, "Failed to validate against exactly one child schema"))
      add("fits more than one alternative of oneOf");
    else if (begins(said, "Target should not validate against schema"))
      add("fits what `not` excludes");
    else if (said.find("'contains' constraint") != std::string::npos)
      add("has no element that fits `contains`");
  }
  return out;
}

}  // namespace

struct input_schema::compiled {
  std::deque<value_facts> facts;  // outlives the constraints that point to it
  valijson::Schema schema;

  bool fits(const tree& input, ValidationResults* results) const {
    valijson::Validator validator{valijson::Validator::kStrongTypes};
    return validator.validate(schema, NlohmannJsonAdapter{input}, results);
  }
};

input_schema::input_schema(std::unique_ptr<const compiled> what) : compiled_(std::move(what)) {}
input_schema::~input_schema() = default;

result<std::shared_ptr<const input_schema>> input_schema::compile(std::string_view json) {
  if (const auto problems = check_schema(json, "input"); !problems.empty())
    return invalid(problems.front().place + ": " + problems.front().sentence, problems.front().remedy);
  auto out = std::make_unique<compiled>();
  try {
    const rewriter rewritten{trim_json(json), out->facts};
    valijson::SchemaParser parser{valijson::SchemaParser::kDraft7};
    parser.addConstraintBuilder(own_keyword, new facts_builder{out->facts});
    parser.populateSchema(NlohmannJsonAdapter{rewritten.document()}, out->schema);
  } catch (const std::exception& bug) {
    return error{v1::ERROR_CODE_INTERNAL, std::string{"the schema of the input cannot be compiled: "} + bug.what(), ""};
  }
  return std::shared_ptr<const input_schema>{new input_schema{std::move(out)}};
}

std::optional<std::string> input_schema::misfit_of(std::string_view input) const {
  if (input.size() > most_input_bytes)
    return misfits_text({{"", "has " + std::to_string(input.size()) + " bytes, but at most " + std::to_string(most_input_bytes) +
                                  " can be compared with a schema"}});
  if (const auto valid = check_json(input); !valid.ok()) return misfits_text({{"", "is " + valid.failure().sentence}});
  try {
    const auto read = read_tree(input);
    try {
      progress verdict{most_steps, nullptr};
      const check_under_way now{verdict};
      if (compiled_->fits(read, nullptr)) return std::nullopt;
    } catch (const out_of_steps&) {
      return misfits_text({{"", "takes more than " + std::to_string(most_steps) + " steps to compare with the schema"}});
    }
    ValidationResults results;
    progress explanation{most_steps, &results};
    try {
      const check_under_way now{explanation};
      compiled_->fits(read, &results);
    } catch (const out_of_steps&) {
    } catch (const enough_found&) {
    }
    auto places = places_in(results);
    if (places.empty()) places.push_back({"", "does not fit, in a way that takes too many steps to describe"});
    return misfits_text(places);
  } catch (const std::exception& bug) {
    return misfits_text({{"", "cannot be compared with the schema: " + clean_text(bug.what(), 200)}});
  }
}

}  // namespace fairlead::core
