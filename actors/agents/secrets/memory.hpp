#pragma once
// Memory for secrets: left out of core files, and wiped before it is given back.

#include <cstddef>
#include <string>
#include <string_view>

#include "messages/error.hpp"

namespace fairlead::agents {

/// A fixed number of bytes in their own pages.
class secret_memory {
 public:
  /// Throws std::bad_alloc.
  explicit secret_memory(std::size_t size);
  ~secret_memory();
  secret_memory(secret_memory&& other) noexcept;
  secret_memory& operator=(secret_memory&& other) noexcept;
  secret_memory(const secret_memory&) = delete;
  secret_memory& operator=(const secret_memory&) = delete;

  static secret_memory copy_of(std::string_view text);

  char* data() noexcept { return data_; }
  std::string_view view() const noexcept { return {data_, size_}; }

 private:
  void release() noexcept;

  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t mapped_ = 0;
};

/// Overwrites the string's bytes, including its spare capacity, in a way that no optimiser removes.
void wipe(std::string& text) noexcept;

/// As `text += more`; if the text moves, its old place is wiped.
void append_wiping(std::string& text, std::string_view more);

/// Wipes a string at the end of a scope, however it ends.
class wiped_at_end {
 public:
  explicit wiped_at_end(std::string& text) : text_(text) {}
  ~wiped_at_end() { wipe(text_); }
  wiped_at_end(const wiped_at_end&) = delete;
  wiped_at_end& operator=(const wiped_at_end&) = delete;

 private:
  std::string& text_;
};

/// From now on the kernel writes no core file of this process, and no other process of the same user may read its memory. This covers
/// values that libraries have copied (a transfer's headers, an environment), which cannot be wiped.
status forbid_core_files();

}  // namespace fairlead::agents
