#pragma once
// The checked subset of jq: the names that may be called, the parts of the document that an expression reads, and its required paths.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/expression/path.hpp"
#include "messages/error.hpp"

namespace fairlead::core {

inline constexpr std::size_t max_expression_bytes = 4096;

/// A path from the top of the document; if it is missing, the expression fails.
struct required_path {
  std::size_t begin = 0;  // bytes of the expression
  std::size_t end = 0;
  std::vector<path_part> parts;
};

struct checked_expression {
  /// The expression may read all of the document (`.`, `keys`, a computed path).
  bool reads_everything = false;
  /// Otherwise the members that it reads, from the top down to the first index. Rather too many than too few.
  std::vector<std::vector<std::string>> reads;
  std::vector<required_path> required;
  /// `item` or `index`, the first of them that it reads from the top of the document for certain; empty: none.
  std::string item_root;
};

/// Refuses expressions outside the subset; the sentence names the refused part and its position, but not the expression.
result<checked_expression> check_expression(std::string_view expression);

/// The text for the worker: the expression with every required path replaced by one that fails if the path is missing (jq alone would give
/// null). The expression must have passed the check.
std::string strict_expression(std::string_view expression);

/// That text in its two parts: definitions that are the same for all expressions, and the expression itself.
std::string_view strict_definitions();
std::string strict_body(std::string_view expression);

/// Expressions with the same shape all compile, or none of them does: they differ in the names of fields, in texts and in numbers. None for
/// an expression that does not pass the check.
std::optional<std::string> shape_of(std::string_view expression);

/// Whether the subset has a function of this name.
bool is_allowed_function(std::string_view name);

/// Why `name` is refused, for names that users may expect; empty for others.
std::string refuse_name(std::string_view name);

/// True for functions that read nothing beyond their arguments, so that `.` means the same in them.
bool passes_input_on(std::string_view name, bool arguments);

}  // namespace fairlead::core
