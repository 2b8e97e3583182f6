#pragma once
// Many expressions at a time: what jq has to be asked to know that they compile, without making it resolve the names of each, and what has been
// found about each of them before.

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "actors/core/expression/check.hpp"

namespace fairlead::core {

/// While one lives, check_expression() on its thread looks at each expression once: a workflow is checked in several passes.
class remembered_checks {
 public:
  using map = std::unordered_map<std::string, result<checked_expression>>;

  remembered_checks();
  ~remembered_checks();
  remembered_checks(const remembered_checks&) = delete;
  remembered_checks& operator=(const remembered_checks&) = delete;

 private:
  map known_;
  map* before_;
};

/// strict_body() of an expression that passes its check; none for others.
std::optional<std::string> checked_body(std::string_view expression);

/// True: the expression has no variables, functions or labels of its own, so the only names in it are those of built-in functions.
/// Rather false than wrong.
bool binds_nothing(std::string_view expression);

/// The calls of an expression that passes its check and binds nothing, each once and with `.` for its arguments: `length`, `sub(.;.)`.
std::set<std::string> calls_of(std::string_view expression);

}  // namespace fairlead::core
