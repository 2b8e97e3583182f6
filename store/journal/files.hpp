#pragma once
// What the journal needs of a file system. Two implementations: the disk (disk_files.hpp) and a block device in memory that forgets,
// tears and damages what was not durable (store/memory/memory_disk.hpp); the journal above them is the same.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "messages/error.hpp"
#include "store/journal/format.hpp"

namespace fairlead::store {

/// Memory for reads and writes of whole blocks: begins at a multiple of the block size, as O_DIRECT needs it. The contents are not
/// initialised.
class block_buffer {
 public:
  block_buffer() = default;
  explicit block_buffer(std::size_t bytes) : data_(static_cast<char*>(::operator new(bytes, align)), {}), size_(bytes) {}

  char* data() noexcept { return data_.get(); }
  const char* data() const noexcept { return data_.get(); }
  std::size_t size() const noexcept { return size_; }
  /// At least so many bytes; the contents are lost if the buffer has to grow.
  void reserve(std::size_t bytes) {
    if (bytes > size_) *this = block_buffer(bytes);
  }

 private:
  static constexpr std::align_val_t align{journal_block_bytes};
  struct release {
    void operator()(char* data) const noexcept { ::operator delete(data, align); }
  };
  std::unique_ptr<char, release> data_;
  std::size_t size_ = 0;
};

/// The error of a file whose maker was told to stop.
inline error not_completed(const std::string& path) {
  return {v1::ERROR_CODE_UNAVAILABLE, "The journal's file " + path + " was not completed, because the node ends.", {}};
}

/// An open segment file. Offsets and sizes are multiples of the block size; memory comes from block_buffer. One thread at a time.
class block_file {
 public:
  virtual ~block_file() = default;
  virtual std::uint64_t size() const = 0;
  /// Durable on return. After an error nothing is known of the blocks, and the process must end.
  virtual status write(std::uint64_t offset, const char* data, std::size_t bytes) = 0;
  virtual status read(std::uint64_t offset, char* data, std::size_t bytes) const = 0;
  /// The blocks before `end`, as reads return them, are durable once this has succeeded. Needed before recovered groups are believed: the
  /// process that wrote them may have ended before they were durable.
  virtual status settle(std::uint64_t end) = 0;
};

/// How the zeros of a new file are written: spread out, so that commits do not feel it; without a pause; or no further.
enum class making_pace { spread, at_once, stop };

/// The directory of a journal. Names are durable only after sync(). Names are file names without a path. Thread-safe.
class journal_files {
 public:
  virtual ~journal_files() = default;
  virtual result<std::vector<std::string>> list() const = 0;
  virtual result<std::unique_ptr<block_file>> open(const std::string& name) = 0;
  /// A new file of `bytes` zeros, really written and durable; its name is not yet. `pace` is asked again and again. Nothing is left of a
  /// file that was not completed. Errors: store_full (the disk has no room for it), unavailable (`pace` said stop).
  virtual status create(const std::string& name, std::uint64_t bytes, const std::function<making_pace()>& pace) = 0;
  virtual status rename(const std::string& from, const std::string& to) = 0;
  virtual status remove(const std::string& name) = 0;
  virtual status sync() = 0;
  /// The directory, for sentences.
  virtual const std::string& path() const = 0;
  /// False: writes go through the page cache, because the file system has no direct ones.
  virtual bool direct() const = 0;
};

}  // namespace fairlead::store
