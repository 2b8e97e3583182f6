#pragma once
// A call's `rules`: the meaning of an answer by its status and its body.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/agents/http/config.hpp"
#include "actors/agents/http/document.hpp"
#include "messages/error.hpp"

namespace fairlead::agents {

struct http_prepared_rule {
  http_rule written;
  std::optional<response_path> path;
  std::optional<response_template> code;
  std::optional<response_template> message;
};

/// The place of a rule, which limits its meanings.
enum class rule_place { call, lookup };

/// Checks and compiles one rule. The error (invalid_argument) names the problem; `where` begins its sentence.
result<http_prepared_rule> prepare_rule(const std::string& where, const http_rule& rule, rule_place place);

/// Whether a rule needs the body.
bool needs_body(const http_prepared_rule& rule);

/// Whether the rule fits the answer; `doc` is only read if the rule has a path.
bool fits(const http_prepared_rule& rule, int status, const core::document& doc);

/// The rule's code or message for the fault; nullopt: it has none, or the answer lacks the value. A code has letters, digits, `_`, `.` and
/// `-`, at most 64; all other characters of a service become `_`.
std::optional<std::string> code_of(const http_prepared_rule& rule, const core::document& doc);
std::optional<std::string> message_of(const http_prepared_rule& rule, const core::document& doc);

}  // namespace fairlead::agents
