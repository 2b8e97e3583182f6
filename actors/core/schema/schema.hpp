#pragma once
// A schema compiled once, with which many inputs are compared.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"

namespace fairlead::core {

/// What comparing all inputs of one request may take together. The limit of a single input counts as well.
struct comparison_budget {
  std::int64_t steps_left = 2'000'000;  // less than 0: they did not suffice for the latest input

  bool is_used_up() const { return steps_left < 0; }
};

/// Immutable; several threads may use it at once.
class input_schema {
 public:
  /// The error names the first problem that check_schema finds.
  static result<std::shared_ptr<const input_schema>> compile(std::string_view json);

  /// What in `input` does not fit, at most five things: `/amount_cents: must be an integer, found a string; /address: is missing`.
  /// nullopt: it fits. Total, and bounded in time and memory, for any text. If `budget` is used up afterwards, nothing is known of the input.
  std::optional<std::string> misfit_of(std::string_view input, comparison_budget* budget = nullptr) const;

  ~input_schema();
  input_schema(const input_schema&) = delete;
  input_schema& operator=(const input_schema&) = delete;

 private:
  struct compiled;
  explicit input_schema(std::unique_ptr<const compiled> what);

  std::unique_ptr<const compiled> compiled_;
};

/// A part of a sentence that misfit_of has made.
struct misfit_place {
  std::string pointer;  // empty: the input as a whole
  std::string sentence;
};

/// `sentence` may have other words before the first part. Empty: it is none of misfit_of.
std::vector<misfit_place> misfit_places(std::string_view sentence);

/// What refuses an input: `the input does not fit the schema of workflow NAME: …`.
error refused_input(const std::string& workflow, const std::string& misfits);

}  // namespace fairlead::core
