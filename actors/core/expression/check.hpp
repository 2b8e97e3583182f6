#pragma once
// The checked subset of jq: which names may be called, what an expression reads of the document, and which of its paths must be there.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/expression/path.hpp"
#include "messages/error.hpp"

namespace fairlead::core {

inline constexpr std::size_t max_expression_bytes = 4096;

/// A path that starts at the document's top and is an error when it is missing.
struct required_path {
  std::size_t begin = 0;  // bytes of the expression
  std::size_t end = 0;
  std::vector<path_part> parts;
};

struct checked_expression {
  /// It may look at all of the document (`.`, `keys`, a path that is computed).
  bool reads_everything = false;
  /// Else: the members it reads, from the top down to the first index. Too many rather than too few.
  std::vector<std::vector<std::string>> reads;
  std::vector<required_path> required;
};

/// Refuses what is outside the subset; the sentence names it and its position, but not the expression.
result<checked_expression> check_expression(std::string_view expression);

/// What the worker compiles: the expression with every required path replaced by one that fails when it is missing (jq alone would
/// give null). The expression must have passed the check.
std::string strict_expression(std::string_view expression);

/// Whether the subset has a function of this name.
bool is_allowed_function(std::string_view name);

/// Why `name` is refused, for the names people may expect; empty for others.
std::string refuse_name(std::string_view name);

/// True for functions that look at nothing but what their arguments give, so that `.` means the same in them.
bool passes_input_on(std::string_view name, bool arguments);

}  // namespace fairlead::core
