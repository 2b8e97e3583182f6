#pragma once
// What jq has to be asked to know that many expressions compile, without making it resolve the names of each.

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace fairlead::core {

/// strict_body() of an expression that passes its check; none for others.
std::optional<std::string> checked_body(std::string_view expression);

/// True: the expression has no variables, functions or labels of its own, so the only names in it are those of built-in functions.
/// Rather false than wrong.
bool binds_nothing(std::string_view expression);

/// The calls of an expression that passes its check and binds nothing, each once and with `.` for its arguments: `length`, `sub(.;.)`.
std::set<std::string> calls_of(std::string_view expression);

}  // namespace fairlead::core
