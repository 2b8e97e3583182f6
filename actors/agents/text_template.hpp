#pragma once
// Small text forms that HTTP needs: `{field}` templates, percent-encoding, header lines.

#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"

namespace fairlead::agents {

/// Text with `{field}` in it, cut into pieces once. `{{` and `}}` stand for the braces themselves; `$secret{NAME}` is a reference to a secret
/// and stands in a piece of its own, so that nothing that comes in through a field can ever be taken for one.
class field_template {
 public:
  /// A literal, then (unless it is empty) the name of a field, or a reference.
  struct piece {
    std::string literal;
    std::string field;
    std::string secret;  // the whole reference, `$secret{NAME}`
  };

  /// Field names are [A-Za-z_][A-Za-z0-9_]*. `what` names the text in the error.
  static result<field_template> compile(std::string_view text, std::string_view what);

  const std::vector<piece>& pieces() const { return pieces_; }
  bool has_secrets() const { return has_secrets_; }

 private:
  std::vector<piece> pieces_;
  bool has_secrets_ = false;
};

/// Everything but RFC 3986's unreserved characters as %XX.
void append_percent_encoded(std::string& out, std::string_view text);

/// A header name as RFC 9110 has it (a token).
bool valid_header_name(std::string_view name);

/// False when the value would break out of its header line or is no legal value: CR, LF, NUL and other control characters but tab.
bool valid_header_value(std::string_view value);

std::string lower_case(std::string_view text);

}  // namespace fairlead::agents
