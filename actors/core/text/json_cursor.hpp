#pragma once
// Iterates over the members of an object or the elements of an array, as slices of the text.

#include <string_view>

#include "actors/core/text/json.hpp"

namespace fairlead::core {

/// `container` has passed check_json and has no white space around it.
class json_cursor {
 public:
  explicit json_cursor(std::string_view container) : p_(container.data()), end_(container.data() + container.size()) {
    if (p_ < end_) ++p_;  // the bracket
  }

  /// The key with its quotes, and the value.
  bool next_member(std::string_view& key, std::string_view& value) {
    if (!begins()) return false;
    const char* const start = p_;
    p_ = skip_json_string(p_, end_);
    key = {start, static_cast<std::size_t>(p_ - start)};
    skip_space();
    if (p_ < end_) ++p_;  // the colon
    skip_space();
    value = take_value();
    return true;
  }

  bool next_element(std::string_view& value) {
    if (!begins()) return false;
    value = take_value();
    return true;
  }

 private:
  void skip_space() {
    while (p_ < end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\t' || *p_ == '\r')) ++p_;
  }

  /// Moves to the next member or element, past the comma before it.
  bool begins() {
    skip_space();
    if (p_ < end_ && *p_ == ',') {
      ++p_;
      skip_space();
    }
    return p_ < end_ && *p_ != '}' && *p_ != ']';
  }

  std::string_view take_value() {
    const char* const start = p_;
    int depth = 0;
    while (p_ < end_) {
      const char c = *p_;
      if (c == '"') {
        p_ = skip_json_string(p_, end_);
        if (depth == 0) break;
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') {
        if (depth == 0) break;  // the container's own bracket ends its last number or word
        ++p_;
        if (--depth == 0) break;
        continue;
      }
      if (depth == 0 && (c == ',' || c == ' ' || c == '\n' || c == '\t' || c == '\r')) break;
      ++p_;
    }
    return {start, static_cast<std::size_t>(p_ - start)};
  }

  const char* p_;
  const char* end_;
};

}  // namespace fairlead::core
