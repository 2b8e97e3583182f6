#pragma once
// A call's `rules`: what an answer means by its status and its body.

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

/// Which meanings a rule may give.
enum class rule_place { call, lookup };

/// Checks and compiles one rule. The error (invalid_argument) names what is wrong with it; `where` begins its sentence.
result<http_prepared_rule> prepare_rule(const std::string& where, const http_rule& rule, rule_place place);

/// Whether a rule can only be judged with the body at hand.
bool needs_body(const http_prepared_rule& rule);

/// The rule's status names the answer's; `doc` is only looked at when there is a path.
bool fits(const http_prepared_rule& rule, int status, const core::document& doc);

/// What the rule says of the fault; nullopt when it says nothing, or the answer does not have it. A code is made of letters, digits, `_`, `.`
/// and `-`, at most 64; whatever else a service puts there becomes `_`.
std::optional<std::string> code_of(const http_prepared_rule& rule, const core::document& doc);
std::optional<std::string> message_of(const http_prepared_rule& rule, const core::document& doc);

}  // namespace fairlead::agents
