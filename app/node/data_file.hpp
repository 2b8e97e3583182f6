#pragma once
// A small file in the node's data folder.

#include <cstddef>
#include <optional>
#include <string>

#include "messages/error.hpp"

namespace fairlead::app {

/// The system has refused, with errno `code`.
error data_file_error(const std::string& what, int code);

/// What is in it, at most `most_bytes` and one; nullopt: there is no such file. Error: disk.
result<std::optional<std::string>> read_data_file(const std::string& path, std::size_t most_bytes);
/// The file is replaced as a whole, durably, or not at all. Error: disk.
status replace_data_file(const std::string& path, const std::string& text);
/// There is no such file any more, durably. Error: disk.
status remove_data_file(const std::string& path);

}  // namespace fairlead::app
