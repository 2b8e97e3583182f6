#pragma once
// Damaged files are set aside: each is moved to the folder `set-aside` beside it. Nothing is deleted but what was set aside before.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "messages/error.hpp"

namespace fairlead::store {

/// A file or a folder as it was found. A file system gives a number of an inode out again; the time of birth tells the two apart.
struct found_part {
  std::string path;
  std::uint64_t inode = 0;
  std::int64_t born_ns = 0;  // 0: the file system does not know
  friend bool operator==(const found_part&, const found_part&) = default;
};

/// nullopt: there is nothing at `path`. Error: disk.
result<std::optional<found_part>> find_part(const std::string& path);
/// Where what was in `directory` is set aside.
inline std::string set_aside_in(const std::string& directory) { return directory + "/set-aside"; }
/// The data file of the store in `directory`.
inline std::string data_file_in(const std::string& directory) { return directory + "/data.mdb"; }
/// What there is of the store in `directory`, with its archives; the data file last, for without it there is no store. Error: disk.
result<std::vector<found_part>> parts_of_store(const std::string& directory);
/// The segments of the journal. Error: disk.
result<std::vector<found_part>> parts_of_journal(const std::string& journal);

/// Moves the part, if it is still the same. Durable on return. Can be repeated.
status set_aside(const found_part& what);

/// When something was set aside in `directory` last; nullopt: there is nothing.
std::optional<std::filesystem::file_time_type> last_set_aside(const std::string& directory);
/// Deletes what was set aside in `directory`.
status forget_set_aside(const std::string& directory);

}  // namespace fairlead::store
