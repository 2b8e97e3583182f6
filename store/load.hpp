#pragma once
// Reads a row whose value is a Protobuf message.

#include <optional>
#include <string_view>

#include "store/meta_rows.hpp"
#include "store/store.hpp"

namespace fairlead::store {

/// The error for a value with the right checksum that does not parse.
error unreadable_value(table where, std::string_view key);

/// nullopt: there is no such row.
template <class Message>
result<std::optional<Message>> load(const snapshot& from, table where, std::string_view key) {
  auto bytes = from.get(where, key);
  if (!bytes) return bytes.failure();
  if (!bytes->has_value()) return std::optional<Message>{};
  std::optional<Message> out(std::in_place);
  if (!out->ParseFromArray((*bytes)->data(), static_cast<int>((*bytes)->size()))) return unreadable_value(where, key);
  return out;
}

}  // namespace fairlead::store
