#pragma once
// An answer as a document for templates and rules: `.status` (a number), `.headers.NAME` (a string; names in lower case with _ for -,
// repeated headers joined by ", ") and `.body` (JSON).
//
// Internally these are paths over `.input.status` and so on, with the answer as the input, since `.status` has another meaning in a
// workflow.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/core/expression/expression.hpp"
#include "actors/core/expression/path.hpp"

namespace fairlead::agents {

class response_document final : public core::document {
 public:
  /// `body_json` is JSON text; nullopt: the body is not JSON, and no path into it exists.
  response_document(int status, const std::vector<std::pair<std::string, std::string>>& headers, std::optional<std::string_view> body_json);

  std::optional<std::string_view> root(std::string_view name, std::string_view) const override;
  std::vector<std::string> members(std::string_view) const override { return {}; }

 private:
  std::string text_;
};

struct response_template {
  core::input_template value;
  bool mentions_body = false;
};

/// Compiles a template whose expressions are plain paths over an answer.
result<response_template> compile_response_template(std::string_view json);

struct response_path {
  core::plain_path path;
  bool in_body = false;
  std::string written;
};

result<response_path> compile_response_path(std::string_view text);

/// A sentence about `.input.body` with the path as the user wrote it, `.body`.
std::string as_written(std::string sentence);

}  // namespace fairlead::agents
