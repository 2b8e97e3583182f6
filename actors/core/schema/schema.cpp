// Compares an input with a schema. What a subschema says of a value itself is in its facts; this file applies subschemas to the values inside,
// and weighs alternatives. It reads the text of the input as it is: no value becomes a double or a tree.

#include "actors/core/schema/schema.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "actors/core/request_limits.hpp"
#include "actors/core/schema/facts.hpp"
#include "actors/core/schema/keywords.hpp"
#include "actors/core/schema/misfits.hpp"
#include "actors/core/schema/references.hpp"
#include "actors/core/text/json.hpp"
#include "actors/core/text/json_cursor.hpp"
#include "actors/core/text/text.hpp"

namespace fairlead::core {

namespace {

// A step is the look at a value by one subschema, or at some bytes of it. An input of the largest size, all of it small numbers in one array,
// takes a quarter of them.
constexpr std::int64_t most_steps = 600'000;
constexpr std::size_t bytes_of_a_step = 32;
constexpr std::size_t most_example_bytes = 200;  // of the sentence about an alternative

struct subschema;
using subschemas = std::vector<const subschema*>;

/// Null: the schema does not say.
struct subschema {
  value_facts facts;
  std::map<std::string, const subschema*> properties;
  std::vector<std::pair<std::string, const subschema*>> dependencies;
  const subschema *additional = nullptr, *items = nullptr, *contains = nullptr, *excluded = nullptr;
  const subschema *condition = nullptr, *then = nullptr, *otherwise = nullptr;
  subschemas all_of, any_of, one_of;
};

// ---- reading the schema ----

/// `$ref` leads to no circle: check_schema has seen to that.
class reader {
 public:
  reader(std::string_view schema, std::deque<subschema>& out) : out_(out) {
    for (const char* keyword : {"$defs", "definitions"}) {
      std::string_view name, value;
      if (const auto all = json_member(schema, keyword))
        for (json_cursor members{*all}; members.next_member(name, value);)
          definitions_[{keyword, decode_json_string(name)}] = {value, nullptr};
    }
  }

  const subschema* read(std::string_view schema) {
    if (schema.front() == '{') {
      if (const auto named = json_member(schema, "$ref")) {
        const auto name = read_reference(decode_json_string(*named));
        auto& found = definitions_.at({name.keyword, name.name});
        if (found.second == nullptr) found.second = read(found.first);
        return found.second;
      }
    }
    auto& of = out_.emplace_back();
    of.facts = value_facts::read(schema);
    std::string_view name, value;
    if (schema.front() == '{')
      for (json_cursor members{schema}; members.next_member(name, value);) keyword(decode_json_string(name), value, of);
    return &of;
  }

 private:
  void keyword(const std::string& name, std::string_view value, subschema& of) {
    std::string_view key, one;
    if (name == "properties") {
      for (json_cursor each{value}; each.next_member(key, one);) of.properties[decode_json_string(key)] = read(one);
    } else if (name == "dependencies") {
      for (json_cursor each{value}; each.next_member(key, one);)
        if (one.front() != '[') of.dependencies.emplace_back(decode_json_string(key), read(one));
    } else if (auto* list = list_of(name, of)) {
      for (json_cursor each{value}; each.next_element(one);) list->push_back(read(one));
    } else if (auto* inside = part_of(name, of); inside != nullptr && (name != "additionalProperties" || value.front() == '{')) {
      *inside = read(value);
    }
  }

  static subschemas* list_of(const std::string& name, subschema& of) {
    return name == "allOf" ? &of.all_of : name == "anyOf" ? &of.any_of : name == "oneOf" ? &of.one_of : nullptr;
  }

  static const subschema** part_of(const std::string& name, subschema& of) {
    const std::pair<const char*, const subschema**> all[] = {{"additionalProperties", &of.additional},
                                                             {"items", &of.items},
                                                             {"contains", &of.contains},
                                                             {"not", &of.excluded},
                                                             {"if", &of.condition},
                                                             {"then", &of.then},
                                                             {"else", &of.otherwise}};
    for (const auto& [known, part] : all)
      if (name == known) return part;
    return nullptr;
  }

  std::deque<subschema>& out_;
  std::map<std::pair<std::string, std::string>, std::pair<std::string_view, const subschema*>> definitions_;
};

// ---- comparing an input ----

struct out_of_steps {};

struct findings {
  std::vector<misfit_place> all;
  std::size_t most = most_misfits_of_a_value;  // that are looked for
  bool suggests = true;                        // a sentence may name the property that was probably meant

  bool is_full() const { return all.size() >= most; }
};

/// One run over an input. The recursion is as deep as schema and input, which both are bounded.
class comparison {
 public:
  explicit comparison(std::int64_t steps) : steps_left_(steps) {}

  /// Less than 0: they did not suffice.
  std::int64_t steps_left() const { return steps_left_; }

  /// Without `out` nothing after the first misfit is looked at, and with it nothing after as many as it is to have.
  bool fits(const subschema& of, std::string_view value, findings* out) {
    spend(of, value);
    auto good = fits_itself(of, value, out);
    const auto over = [&] { return !good && (out == nullptr || out->is_full()); };
    for (const auto* one : of.all_of)
      if (!over()) good = fits(*one, value, out) && good;
    if (!over()) good = fits_alternatives(of, value, out) && good;
    if (!over() && of.excluded != nullptr && fits(*of.excluded, value, nullptr)) good = refuse(out, "fits what `not` excludes");
    if (!over() && of.condition != nullptr) {
      const auto* then = fits(*of.condition, value, nullptr) ? of.then : of.otherwise;
      if (then != nullptr) good = fits(*then, value, out) && good;
    }
    if (!over() && value.front() == '{') good = fits_members(of, value, out) && good;
    if (!over() && value.front() == '[') good = fits_elements(of, value, out) && good;
    return good;
  }

 private:
  void spend(const subschema& of, std::string_view value) {
    steps_left_ -= static_cast<std::int64_t>(1 + of.facts.looks() * (value.size() / bytes_of_a_step));
    if (value.front() == '{') steps_left_ -= static_cast<std::int64_t>(of.facts.weight() / 4);
    if (steps_left_ < 0) throw out_of_steps{};
  }

  bool refuse(findings* out, std::string sentence) {
    if (out != nullptr) out->all.push_back({pointer_of(path_), std::move(sentence)});
    return false;
  }

  bool fits_itself(const subschema& of, std::string_view value, findings* out) {
    if (out == nullptr) return of.facts.fit(value, nullptr);
    misfits found{{}, out->most, out->suggests};
    const auto good = of.facts.fit(value, &found);
    for (auto& one : found.all) {
      if (!one.name.empty()) path_.push_back(one.name);
      refuse(out, std::move(one.sentence));
      if (!one.name.empty()) path_.pop_back();
    }
    return good;
  }

  bool fits_alternatives(const subschema& of, std::string_view value, findings* out) {
    auto good = true;
    if (!of.any_of.empty() && count_fitting(of.any_of, value, 1) == 0) good = refuse_all(of.any_of, value, "anyOf", out);
    if (of.one_of.empty() || (!good && out == nullptr)) return good;
    const auto fitting = count_fitting(of.one_of, value, 2);
    if (fitting == 0) return refuse_all(of.one_of, value, "oneOf", out);
    return fitting == 1 ? good : refuse(out, "fits more than one alternative of oneOf");
  }

  std::size_t count_fitting(const subschemas& all, std::string_view value, std::size_t most) {
    std::size_t out = 0;
    for (const auto* one : all)
      if (out < most) out += fits(*one, value, nullptr) ? 1 : 0;
    return out;
  }

  bool refuse_all(const subschemas& all, std::string_view value, const char* keyword, findings* out) {
    if (out == nullptr) return false;
    findings first{{}, 1, false};
    fits(*all.front(), value, &first);
    const auto& example = first.all.front();
    const auto& sentence = example.sentence;
    const auto shown = clean_text(sentence, most_example_bytes) + (sentence.size() > most_example_bytes ? "…" : "");
    return refuse(out, std::string{"fits no alternative of "} + keyword +
                           " (the first: " + (example.pointer.empty() ? "the input" : example.pointer) + " " + shown + ")");
  }

  bool fits_inside(const subschema& of, std::string name, std::string_view value, findings* out) {
    path_.push_back(std::move(name));
    const auto good = fits(of, value, out);
    path_.pop_back();
    return good;
  }

  bool fits_members(const subschema& of, std::string_view value, findings* out) {
    if (of.properties.empty() && of.additional == nullptr && of.dependencies.empty()) return true;
    auto good = true;
    std::string_view key, member;
    for (json_cursor all{value}; all.next_member(key, member);) {
      auto name = decode_json_string(key);
      spend_on_member(of);
      for (const auto& [needs, then] : of.dependencies)
        if (needs == name) good = fits(*then, value, out) && good;
      const auto known = of.properties.find(name);
      const auto* inside = known != of.properties.end() ? known->second : of.additional;
      if (inside != nullptr) good = fits_inside(*inside, std::move(name), member, out) && good;
      if (!good && (out == nullptr || out->is_full())) return false;
    }
    return good;
  }

  bool fits_elements(const subschema& of, std::string_view value, findings* out) {
    if (of.items == nullptr && of.contains == nullptr) return true;
    auto good = true, has = of.contains == nullptr;
    std::size_t index = 0;
    std::string_view element;
    for (json_cursor all{value}; all.next_element(element); ++index) {
      if (of.items != nullptr) good = fits_inside(*of.items, std::to_string(index), element, out) && good;
      has = has || fits(*of.contains, element, nullptr);
      if (!good && (out == nullptr || out->is_full())) return false;
    }
    return has ? good : refuse(out, "has no element that fits `contains`");
  }

  void spend_on_member(const subschema& of) {
    steps_left_ -= static_cast<std::int64_t>(1 + of.dependencies.size() / 16);
    if (steps_left_ < 0) throw out_of_steps{};
  }

  std::int64_t steps_left_;
  std::vector<std::string> path_;  // of the value that is looked at; what is tried without `out` leaves it as it is
};

}  // namespace

struct input_schema::compiled {
  std::deque<subschema> all;
  const subschema* top = nullptr;
};

input_schema::input_schema(std::unique_ptr<const compiled> what) : compiled_(std::move(what)) {}
input_schema::~input_schema() = default;

result<std::shared_ptr<const input_schema>> input_schema::compile(std::string_view json) {
  if (const auto problems = check_schema(json, "input"); !problems.empty())
    return invalid(problems.front().place + ": " + problems.front().sentence, problems.front().remedy);
  auto out = std::make_unique<compiled>();
  const auto schema = trim_json(json);
  out->top = reader{schema, out->all}.read(schema);
  return std::shared_ptr<const input_schema>{new input_schema{std::move(out)}};
}

std::optional<std::string> input_schema::misfit_of(std::string_view input, comparison_budget* budget) const {
  if (budget != nullptr && budget->steps_left <= 0) {
    budget->steps_left = -1;
    return misfits_text({{"", "was not compared with the schema"}});
  }
  if (input.size() > max_input_bytes)
    return misfits_text({{"", "has " + std::to_string(input.size()) + " bytes, but at most " + std::to_string(max_input_bytes) +
                                  " can be compared with a schema"}});
  if (const auto valid = check_json(input); !valid.ok()) return misfits_text({{"", "is " + valid.failure().sentence}});
  const auto value = trim_json(input);
  const auto allowed = [&] { return budget == nullptr ? most_steps : std::min(most_steps, budget->steps_left); };
  const auto take = [&](std::int64_t steps) {
    if (budget != nullptr) budget->steps_left -= steps;
  };
  const auto all = allowed();
  comparison first{all};
  try {
    const auto fits = first.fits(*compiled_->top, value, nullptr);
    take(all - first.steps_left());
    if (fits) return std::nullopt;
  } catch (const out_of_steps&) {
    take(all < most_steps ? budget->steps_left + 1 : all);
    return misfits_text({{"", "takes more than " + std::to_string(all) + " steps to compare with the schema"}});
  }
  const auto rest = allowed();
  comparison second{rest};
  findings found;
  try {
    second.fits(*compiled_->top, value, &found);
  } catch (const out_of_steps&) {
    if (found.all.empty()) found.all.push_back({"", "does not fit, in a way that takes too many steps to describe"});
  }
  take(std::min(rest, rest - second.steps_left()));
  return misfits_text(found.all);
}

}  // namespace fairlead::core
