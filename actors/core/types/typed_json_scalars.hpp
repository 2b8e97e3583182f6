#pragma once
// What proto3's JSON mapping says of single values. Each gives a sentence about what does not fit, or nothing.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace google::protobuf {
class Descriptor;
class FieldDescriptor;
}  // namespace google::protobuf

namespace fairlead::core {

/// Keys, values and names come from anyone: shown short and without control characters.
std::string shown(std::string_view text, std::size_t most_bytes = 48);

/// `int32`, `acme.v1.Item`: the type of one value of `field`.
std::string type_words(const google::protobuf::FieldDescriptor& field);

/// `json` is any JSON value, `field` neither message nor group. Empty: it fits.
std::string refuse_scalar(std::string_view json, const google::protobuf::FieldDescriptor& field);

/// `key` is what the member's name says.
std::string refuse_map_key(const std::string& key, const google::protobuf::FieldDescriptor& key_field);

/// google.protobuf.Int32Value and the like.
bool is_wrapper(const google::protobuf::Descriptor& type);

/// Of Timestamp, Duration and FieldMask, which are strings in JSON; nullopt: `full_name` is none of these.
std::optional<std::string> refuse_known_text(std::string_view json, const std::string& full_name);

}  // namespace fairlead::core
