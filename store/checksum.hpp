#pragma once
// The checksum at the end of every stored value. LMDB has none of its own, so only this checksum reveals a damaged value.
//
// Stored value: payload | 4 bytes. The 4 bytes are the low half, little-endian, of XXH3_64 over the payload, seeded with XXH3_64 over the
// key, which is seeded with the table's number. So a value under another key or in another table counts as damaged, too.

#include <cstdint>
#include <optional>
#include <string_view>

#include "store/batch.hpp"

namespace fairlead::store {

inline constexpr std::size_t checksum_bytes = 4;

std::uint32_t checksum(table where, std::string_view key, std::string_view payload);

/// The payload of a stored value; nullopt: the value is damaged.
std::optional<std::string_view> verified_payload(table where, std::string_view key, std::string_view stored);

}  // namespace fairlead::store
