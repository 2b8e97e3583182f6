#pragma once
// The rules of proto3's JSON mapping for single values. A check returns a sentence about the mismatch, or an empty text.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace google::protobuf {
class Descriptor;
class FieldDescriptor;
}  // namespace google::protobuf

namespace fairlead::core {

/// Text of any client for a sentence: short, quoted, without control characters.
std::string shown(std::string_view text, std::size_t most_bytes = 48);

/// `int32`, `acme.v1.Item`: the type of one value of `field`.
std::string type_words(const google::protobuf::FieldDescriptor& field);

/// `json` is any JSON value, `field` neither message nor group. Empty: it fits.
std::string refuse_scalar(std::string_view json, const google::protobuf::FieldDescriptor& field);

/// `key` is the decoded name of the member.
std::string refuse_map_key(const std::string& key, const google::protobuf::FieldDescriptor& key_field);

/// Whether the type is google.protobuf.Int32Value or the like.
bool is_wrapper(const google::protobuf::Descriptor& type);

/// For Timestamp, Duration and FieldMask, which are strings in JSON; nullopt: `full_name` is none of these.
std::optional<std::string> refuse_known_text(std::string_view json, const std::string& full_name);

}  // namespace fairlead::core
