#include "store/journaled/chunk_hash.hpp"

#include <xxhash.h>

namespace fairlead::store {

std::uint64_t hash_of_chunk(std::string_view data, std::uint64_t offset) { return XXH3_64bits_withSeed(data.data(), data.size(), offset); }

}  // namespace fairlead::store
