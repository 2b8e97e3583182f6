#pragma once

#include <string>

namespace fairlead::app {

/// Writes all of `text` to a descriptor that blocks, whatever interrupts. False, and errno, when it cannot.
bool write_all(int fd, const std::string& text);

}  // namespace fairlead::app
