#pragma once
// Reads lines from a file or a pipe. Keeps only one line in memory, and a stop request ends a wait
// for input.

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

  /// Opens `path`, or stdin for `-`. Error: invalid_argument, with the system's reason.
  static result<line_reader> open(const std::string& path);
  line_reader(line_reader&& other) noexcept;
  line_reader& operator=(line_reader&&) = delete;
  ~line_reader();

  /// The next line without its line end. A line that is too long is skipped whole. `stop` is called
  /// repeatedly while no input arrives.
  line_read next(std::string& line, const std::function<bool()>& stop);

  /// Counts the lines of a regular file without blank ones; 0 for anything else. Does not change
  /// the read position.
  std::uint64_t count_lines() const;

 private:
  explicit line_reader(int fd) : fd_(fd) {}
  int fd_;
  std::string buffer_;
  std::size_t begin_ = 0;
  bool ended_ = false;
};

}  // namespace fairlead::app
