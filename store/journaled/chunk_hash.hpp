#pragma once
// By what the bytes of a copy of the state are known on their way to another node.

#include <cstdint>
#include <string_view>

namespace fairlead::store {

/// XXH3_64 of the data; the seed is its offset in the copy, so that a chunk is not taken for another one.
std::uint64_t hash_of_chunk(std::string_view data, std::uint64_t offset);

}  // namespace fairlead::store
