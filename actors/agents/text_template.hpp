#pragma once
// Small text formats for HTTP: `{field}` templates, percent-encoding, header lines.

#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"

namespace fairlead::agents {

/// Text with `{field}` in it, split into pieces once. `{{` and `}}` stand for the braces themselves. `$secret{NAME}` is a reference to a
/// secret in its own piece, so that no text from a field can be taken for a reference.
class field_template {
 public:
  /// A literal, then (unless empty) the name of a field, or a reference.
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

/// Appends all characters except RFC 3986's unreserved ones as %XX.
void append_percent_encoded(std::string& out, std::string_view text);

/// Whether the name is a token of RFC 9110.
bool valid_header_name(std::string_view name);

/// False: the value would break its header line or is illegal: CR, LF, NUL and other control characters except tab.
bool valid_header_value(std::string_view value);

std::string lower_case(std::string_view text);

}  // namespace fairlead::agents
