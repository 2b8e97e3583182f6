#include "store/checksum.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace fairlead::store {

std::uint32_t checksum(table where, std::string_view key, std::string_view payload) {
  auto seed = XXH3_64bits_withSeed(key.data(), key.size(), static_cast<XXH64_hash_t>(where));
  return static_cast<std::uint32_t>(XXH3_64bits_withSeed(payload.data(), payload.size(), seed));
}

std::optional<std::string_view> verified_payload(table where, std::string_view key, std::string_view stored) {
  if (stored.size() < checksum_bytes) return std::nullopt;
  auto payload = stored.substr(0, stored.size() - checksum_bytes);
  std::uint32_t found = 0;
  for (std::size_t i = 0; i < checksum_bytes; ++i) {
    found |= static_cast<std::uint32_t>(static_cast<unsigned char>(stored[payload.size() + i])) << (8 * i);
  }
  if (found != checksum(where, key, payload)) return std::nullopt;
  return payload;
}

}  // namespace fairlead::store
