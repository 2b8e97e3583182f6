#pragma once
// Expressions behind a small interface. A step's `with` is a template: JSON in which a string that is wholly "${ EXPRESSION }" stands for a
// result. Plain paths (`.input.items[0].sku`, `.steps.reserve.id`, `.task.id`, optionally ended by `?`) are copied here, verbatim, so
// integers beyond 2^53 and number spellings survive. All else is jq. It is evaluated in a process that can be killed (EvaluateRequest in
// agent.proto); this file only says what to request.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"

namespace fairlead::core {

/// Of what a template gives, such as the input of a step, in bytes: it may name one large output thousands of times.
inline constexpr std::size_t max_rendered_bytes = 4'194'304;
/// Of what the jq expressions of a template read together, in bytes.
inline constexpr std::size_t max_worker_document_bytes = 50'331'648;

/// The data that expressions may read. Each root is a JSON text; the views are valid as long as the document.
class document {
 public:
  virtual ~document() = default;
  /// The JSON text of a root without its dot: `input`, `task`, `launch`, `item`, `index`, or `NAME` under `steps`, `status`, `errors`.
  /// `steps.ship` is root("steps", "ship"), `input` is root("input", ""). nullopt: there is no such root. An error: the read failed (a payload in the store
  /// is damaged).
  virtual std::optional<std::string_view> root(std::string_view name, std::string_view member) const = 0;
  /// The names that exist now under `steps`, `status` or `errors`, for building a whole document.
  virtual std::vector<std::string> members(std::string_view name) const = 0;
};

/// A template, compiled once for each workflow version.
class input_template {
 public:
  /// Parses `with_json`; the error names the expression at fault. An empty text is the template `"${ .input }"`. Static checks only: syntax
  /// of plain paths, allowed roots, and, for jq expressions, the checked subset (no env, $ENV, now, input, inputs, debug, stderr, halt,
  /// halt_error, input_line_number, $__prog_args, get_search_list, import, include, modulemeta, localtime, strflocaltime, …). Only the
  /// worker finds out whether jq can compile an expression.
  static result<input_template> compile(std::string_view with_json);

  input_template(input_template&&) noexcept;
  input_template& operator=(input_template&&) noexcept;
  ~input_template();

  /// True when no expression needs the worker: `render` with no results is enough.
  bool plain() const;

  /// Every expression in order of appearance, as written, without `${` and `}`.
  const std::vector<std::string>& expressions() const;

  /// The expressions that need the worker, in the same order.
  const std::vector<std::string>& worker_expressions() const;

  /// The names of the steps whose output, status or errors the expressions mention (`.steps.NAME…`).
  const std::vector<std::string>& mentioned_steps() const;

  /// Some expression reads `.task.end`, which only steps of the end have.
  bool reads_end() const;

  /// `item` or `index`, the first of them that an expression reads: only a step with `for_each` has them. Empty: none reads one.
  std::string_view item_root() const;

  /// The JSON object over which the worker evaluates: only the roots (narrowed to `.steps.NAME` and the like) that the worker's expressions
  /// mention; everything if an expression mentions `.` itself. An error (code expression) names an integer that jq would round.
  result<std::string> worker_document(const document& doc) const;

  /// The rendered JSON text. `worker_results` holds a JSON text for each of worker_expressions(). A missing path is an error (code
  /// expression, naming expression and path) unless the path ends in `?`, which gives null.
  result<std::string> render(const document& doc, const std::vector<std::string>& worker_results) const;

 private:
  struct state;
  explicit input_template(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace fairlead::core
