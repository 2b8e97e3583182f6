#pragma once
// The Protobuf types that a workflow carries with it: a FileDescriptorSet of the files that its steps' types need, and nothing else. Sets come
// from anyone: reading one is bounded, and what is wrong with it is an error that names the file.

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

/// Immutable; descriptors live as long as this.
class message_types {
 public:
  /// `bytes` is a serialized google.protobuf.FileDescriptorSet, such as `protoc --include_imports --descriptor_set_out` writes, its files in any
  /// order.
  static result<std::shared_ptr<const message_types>> read(std::string_view bytes);
  /// Of several sets together. Files that stand in more than one must be the same in each.
  static result<std::shared_ptr<const message_types>> read(const std::vector<std::string>& sets);

  ~message_types();
  message_types(const message_types&) = delete;
  message_types& operator=(const message_types&) = delete;

  /// nullptr: there is none of that name.
  const google::protobuf::Descriptor* find(const std::string& full_name) const;
  /// The messages' full names, sorted.
  std::vector<std::string> names() const;

 private:
  struct state;
  explicit message_types(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

/// What a definition carries for `wanted`: the files that declare them and those that these import, in order of dependency, then of name,
/// without what only people read (comments and their places). The same types give the same bytes, whether they come from generated code or
/// from a set. Empty for none. The error (invalid_argument) says that they take more than max_types_bytes.
result<std::string> describe_types(const std::vector<const google::protobuf::Descriptor*>& wanted);

}  // namespace fairlead::core
