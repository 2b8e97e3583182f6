#pragma once
// Secrets by reference. `$secret{NAME}` in an agent's configuration, or in a step's input, stands for a value that only the agent's process
// knows: the value is put in at the last moment and never stored, logged or shown.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"

namespace fairlead::agents {

/// Thread-safe.
class secrets {
 public:
  virtual ~secrets() = default;

  /// `text` with every reference replaced by its value. Errors (not_found, invalid_argument) name the secret, never a value.
  virtual result<std::string> resolve(std::string_view text) const = 0;

  /// The same inside the strings of a JSON text: values are escaped. References to names outside `allowed` are refused.
  virtual result<std::string> resolve_json(std::string_view json, const std::vector<std::string>& allowed) const = 0;

  /// `text` with every value that was ever given out, in any usual encoding, replaced by `[secret NAME]`.
  virtual std::string redact(std::string text) const = 0;

  /// Whether `text` has a reference.
  static bool mentioned(std::string_view text);

  /// Every name that `text` refers to, once each, in order of appearance. An error gives the position of a reference that is not closed or
  /// has an invalid name (A-Z a-z 0-9 _ . -, at most 64).
  static result<std::vector<std::string>> names_in(std::string_view text);
};

}  // namespace fairlead::agents
