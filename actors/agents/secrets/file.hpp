#pragma once
// A secret in a file, and the detection of changes.

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "messages/error.hpp"

namespace fairlead::agents {

inline constexpr std::size_t least_secret_bytes = 4;
inline constexpr std::size_t most_secret_bytes = 64 * 1024;

/// Whether `value` can be a secret. The error never holds it.
status check_secret_value(std::string_view value);

/// Distinguishes contents of a file without reading it.
struct secret_file_mark {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = -1;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;
  bool settled = false;  // false: it was changed so shortly before the reading that another change could look the same

  friend bool operator==(const secret_file_mark& a, const secret_file_mark& b) {
    return a.device == b.device && a.inode == b.inode && a.size == b.size && a.modified_ns == b.modified_ns && a.changed_ns == b.changed_ns;
  }
};

/// Whether the file may have changed since it was read under `mark`.
bool secret_file_changed(const std::string& path, const secret_file_mark& mark);

/// The file's content, at most `most_bytes`; `mark` identifies it. Errors (invalid_argument, with a remedy): it cannot be read, is no plain file, may
/// be read by everybody, or is larger.
result<std::string> read_private_file(const std::string& path, std::size_t most_bytes, secret_file_mark& mark);

/// The file's content without one newline at its end; `mark` identifies this content. Errors (invalid_argument, with a remedy): it cannot
/// be read, is no plain file, may be read by everybody, or holds no valid secret.
result<std::string> read_secret_file(const std::string& path, secret_file_mark& mark);

}  // namespace fairlead::agents
