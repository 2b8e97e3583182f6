#pragma once
// Lines from a file or a pipe, without waiting for ever in either and without keeping more than one of them.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "messages/error.hpp"

namespace fairlead::app {

enum class line_read { line, too_long, end, stopped, failed };

class line_reader {
 public:
  static constexpr std::size_t max_line_bytes = 1'048'576;

  /// `path` or `-` for stdin. Error: invalid_argument, with the system's reason.
  static result<line_reader> open(const std::string& path);
  line_reader(line_reader&& other) noexcept;
  line_reader& operator=(line_reader&&) = delete;
  ~line_reader();

  /// The next line without its end. A line that is too long is passed over whole. `stop` is asked while nothing comes.
  line_read next(std::string& line, const std::function<bool()>& stop);

  /// Lines of a regular file from its beginning, blank ones not counted; 0 for anything else. Leaves the position where it was.
  std::uint64_t count_lines() const;

 private:
  explicit line_reader(int fd) : fd_(fd) {}
  int fd_;
  std::string buffer_;
  std::size_t begin_ = 0;
  bool ended_ = false;
};

}  // namespace fairlead::app
