#pragma once
// What a subschema says of a value itself: its type, its size, its range. Values inside it have subschemas of their own.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/core/schema/decimal.hpp"

namespace fairlead::core {

inline constexpr std::size_t most_misfits_of_a_value = 6;

/// Something in an input that does not fit.
struct misfit {
  std::string name;      // of a property that is missing or not allowed; empty: the value itself
  std::string sentence;  // without its place: `must be an integer, found a string`
};

struct misfits {
  std::vector<misfit> all;
  std::size_t most = most_misfits_of_a_value;  // that are looked for
  bool suggests = true;                        // a sentence may name the property that was probably meant
};

/// The text of a JSON value that is the same for equal values, whatever their spelling and the order of their properties.
std::string canonical_json(std::string_view json);

class value_facts {
 public:
  /// `schema` has passed check_schema.
  static value_facts read(std::string_view schema);

  /// Whether the value, JSON without space around it, fits. Without `out` nothing after the first misfit is looked at, and with it nothing
  /// after as many as it is to have.
  bool fit(std::string_view value, misfits* out) const;

  /// How often `fit` looks at the whole of a value, and how many names it may look for in an object.
  std::size_t looks() const { return looks_; }
  std::size_t weight() const { return weight_; }

 private:
  class verdict;

  struct bound {
    decimal value;
    std::string shown;
  };
  struct sizes {
    std::optional<std::uint64_t> least, most;
  };

  void read_keyword(const std::string& name, std::string_view value);
  void fit_type(std::string_view value, verdict& out) const;
  void fit_number(const decimal& number, verdict& out) const;
  static void fit_size(std::uint64_t size, const sizes& allowed, const char* one, const char* many, verdict& out);
  void fit_object(std::string_view value, verdict& out) const;
  static void fit_unique(std::string_view value, verdict& out);

  bool nothing_fits_ = false;
  std::vector<std::string> types_;  // empty: any
  std::set<std::string> values_;    // of enum, canonical
  std::string values_words_;        // empty: there is no enum
  std::string constant_;            // of const, canonical
  std::string constant_words_;      // empty: there is no const
  std::optional<bound> minimum_, maximum_, above_, below_, divisor_;
  sizes length_, items_, properties_;
  bool unique_ = false;
  std::vector<std::string> required_;
  bool closed_ = false;  // no properties but known_
  std::set<std::string> known_;
  std::vector<std::pair<std::string, std::vector<std::string>>> beside_;  // a property, and those that must be there when it is
  std::size_t weight_ = 1, looks_ = 1;
};

}  // namespace fairlead::core
