#pragma once
// Integers as bytes. Keys, and rows that are compared, are big-endian, so that byte order is numeric order; the rest is little-endian.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead::store {

inline void append_u32(std::string& out, std::uint32_t value) {
  const char bytes[4] = {static_cast<char>(value), static_cast<char>(value >> 8), static_cast<char>(value >> 16),
                         static_cast<char>(value >> 24)};
  out.append(bytes, sizeof bytes);
}

template <class T>
void append_big_endian(std::string& out, T value) {
  for (std::size_t i = sizeof(T); i-- > 0;) out += static_cast<char>(value >> (8 * i));
}

/// `bytes` must have at least the size of a T.
template <class T>
T read_big_endian(std::string_view bytes) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value = static_cast<T>(value << 8 | static_cast<unsigned char>(bytes[i]));
  return value;
}

}  // namespace fairlead::store
