#pragma once
// The directory of a store or of a journal: it exists, its names are durable, and one process holds it.

#include <string>
#include <vector>

#include "messages/error.hpp"

namespace fairlead::store {

/// Creates the directory if its parent exists and is writable; otherwise the error says what is missing and what to do.
status prepare_directory(const std::string& directory, bool read_only);

/// Makes the names in a directory durable.
status sync_directory(const std::string& directory);

/// Gives the finished directory `part` its name `to` in the same parent; an empty directory of that name makes way. On success contents and
/// name are durable.
status publish_directory(const std::string& part, const std::string& to);

/// The directory of a node's journal, if nothing else is said: in that of its stores.
inline std::string journal_in(const std::string& store_path) { return store_path + "/journal"; }

/// The directory of a store's archives.
inline std::string archives_in(const std::string& directory) { return directory + "/archive"; }

/// The directories of the stores in a node's `store.path`.
std::vector<std::string> stores_in(const std::string& path);

/// The error for a directory without a store.
error no_store(const std::string& directory);

/// The exclusive lock of a store directory; the destructor releases it.
class directory_lock {
 public:
  /// Error store_in_use names the process that holds the lock. Read-only directories can be locked for reading only.
  static result<directory_lock> take(const std::string& directory, bool read_only);
  /// Whether the last holder of the lock only reads. Says nothing about whether it still holds it.
  static bool is_taken_to_read(const std::string& directory);
  directory_lock(directory_lock&& other) noexcept;
  directory_lock& operator=(directory_lock&&) = delete;
  ~directory_lock();

 private:
  explicit directory_lock(int fd) : fd_(fd) {}
  int fd_ = -1;  // -1: a read-only directory without a lock file
};

}  // namespace fairlead::store
