#pragma once
// Writes JSON for programs. Payloads are put in as the text they are: read into numbers and written again, integers beyond 2^53 and
// the spelling of numbers would not survive.

#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead::app {

class json_writer {
 public:
  json_writer& begin_object();
  json_writer& end_object();
  json_writer& begin_array();
  json_writer& end_array();
  /// Inside an object, before each value.
  json_writer& key(std::string_view name);

  json_writer& string(std::string_view text);
  json_writer& number(std::int64_t value);
  json_writer& number(std::uint64_t value);
  json_writer& number(std::uint32_t value) { return number(std::uint64_t{value}); }
  json_writer& number(std::int32_t value) { return number(std::int64_t{value}); }
  json_writer& seconds(double value);  // three decimals
  json_writer& boolean(bool value);
  json_writer& null();
  /// `json` is a valid JSON text and is not looked at; empty gives null.
  json_writer& raw(std::string_view json);
  /// A moment as UTC text, null for 0.
  json_writer& moment(std::int64_t unix_ms);

  const std::string& text() const { return out_; }

 private:
  void separate();
  std::string out_;
  bool first_ = true;  // nothing stands before in this object or array, or a key does
};

}  // namespace fairlead::app
