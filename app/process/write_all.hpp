#pragma once

#include <string>

namespace fairlead::app {

/// Writes all of `text` to a blocking descriptor, also after interruptions. False, with errno, if it cannot.
bool write_all(int fd, const std::string& text);

}  // namespace fairlead::app
