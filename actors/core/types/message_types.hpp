#pragma once
// The Protobuf types that a workflow carries: a FileDescriptorSet of the files that its steps' types need, and nothing else. Sets come from
// any client: reading is bounded, and an error names the file at fault.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"

namespace google::protobuf {
class Descriptor;
}

namespace fairlead::core {

inline constexpr std::size_t max_types_bytes = 262'144;
inline constexpr int max_type_files = 1'000;

/// Immutable; descriptors live as long as the object.
class message_types {
 public:
  /// `bytes` is a serialized google.protobuf.FileDescriptorSet, as `protoc --include_imports --descriptor_set_out` writes it, files in any
  /// order.
  static result<std::shared_ptr<const message_types>> read(std::string_view bytes);
  /// Reads several sets together. A file in more than one set must be the same in each.
  static result<std::shared_ptr<const message_types>> read(const std::vector<std::string>& sets);

  ~message_types();
  message_types(const message_types&) = delete;
  message_types& operator=(const message_types&) = delete;

  /// nullptr: there is no type of that name.
  const google::protobuf::Descriptor* find(const std::string& full_name) const;
  /// The messages' full names, sorted.
  std::vector<std::string> names() const;

 private:
  struct state;
  explicit message_types(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

/// The set that a definition carries for `wanted`: the files that declare the types and the files that these import, in order of
/// dependency, then of name, without comments and their places. The same types give the same bytes, whether they come from generated code
/// or from a set. Empty for no types. Error invalid_argument: the set exceeds max_types_bytes.
result<std::string> describe_types(const std::vector<const google::protobuf::Descriptor*>& wanted);

}  // namespace fairlead::core
