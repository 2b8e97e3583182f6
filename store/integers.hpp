#pragma once
// Integers as bytes. Keys, and rows that are compared, are big-endian, so that byte order is numeric order; the rest is little-endian.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead::store {

/// `out` must have room for a T.
template <class T>
void write_little_endian(char* out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) out[i] = static_cast<char>(value >> (8 * i));
}

template <class T>
void append_little_endian(std::string& out, T value) {
  char bytes[sizeof(T)];
  write_little_endian(bytes, value);
  out.append(bytes, sizeof bytes);
}

/// `in` must have at least the size of a T.
template <class T>
T read_little_endian(const char* in) {
  T value = 0;
  for (std::size_t i = sizeof(T); i-- > 0;) value = static_cast<T>(value << 8 | static_cast<unsigned char>(in[i]));
  return value;
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
