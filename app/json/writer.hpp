#pragma once
// Writes JSON for programs. Payloads are copied as text: parsing would change integers beyond 2^53
// and the spelling of numbers.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/common.pb.h"

namespace fairlead::app {

class json_writer {
 public:
  json_writer& begin_object();
  json_writer& end_object();
  json_writer& begin_array();
  json_writer& end_array();
  /// Call before each value inside an object.
  json_writer& key(std::string_view name);

  json_writer& string(std::string_view text);
  /// null for an empty text.
  json_writer& text_or_null(std::string_view text);
  /// An array; null for none.
  json_writer& texts_or_null(const std::optional<std::vector<std::string>>& texts);
  json_writer& number(std::int64_t value);
  json_writer& number(std::uint64_t value);
  json_writer& number(std::uint32_t value) { return number(std::uint64_t{value}); }
  json_writer& number(std::int32_t value) { return number(std::int64_t{value}); }
  json_writer& seconds(double value);  // three decimals
  json_writer& boolean(bool value);
  json_writer& null();
  /// `json` must be valid JSON, which is not checked. Empty: null.
  json_writer& raw(std::string_view json);
  /// A time as UTC text; null for 0.
  json_writer& moment(std::int64_t unix_ms);

  const std::string& text() const { return out_; }

 private:
  void separate();
  void add_escaped(char special);
  std::string out_;
  bool first_ = true;  // the next value needs no comma: it is the first one, or follows a key
};

/// Writes the member `labels` into an object: an object of its own, a member for each label.
void write_labels(json_writer& out, const google::protobuf::RepeatedPtrField<v1::Label>& labels);

/// The sentences of the shards that a list lacks, as an array.
std::string missing_json(const google::protobuf::RepeatedPtrField<v1::Error>& missing);

/// One JSON value as one YAML document (YAML 1.2, which has JSON's strings): `---`, then a line for each key or item.
std::string yaml_of_json(const std::string& json);

}  // namespace fairlead::app
