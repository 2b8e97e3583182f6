#pragma once
// What the checker knows of JSON and of the expressions that generated workflows hold, written apart from the product's: whole numbers, texts,
// lists and objects; paths, sums, products, lists of these and what is greater.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::simulation {

struct value {
  enum class kind { null, truth, number, text, list, object };
  kind is = kind::null;
  bool truth = false;
  std::int64_t number = 0;
  std::string text;
  std::vector<value> items;
  std::map<std::string, value> members;

  friend bool operator==(const value&, const value&) = default;
};

/// nullopt: it is no JSON, or holds what generated texts never do.
std::optional<value> parse_value(std::string_view text);

value text_value(std::string text);
value number_value(std::int64_t number);
value truth_value(bool truth);

/// What `expression` gives over `document`, an object of the roots; nullopt: a path is missing, or it cannot be counted with.
std::optional<value> evaluate_expression(std::string_view expression, const value& document);

/// The template with each `${ EXPRESSION }` in its place; an empty template stands for the whole input. nullopt: one of them gives nothing.
std::optional<value> fill_template(const std::string& with_json, const value& document);

}  // namespace fairlead::simulation
