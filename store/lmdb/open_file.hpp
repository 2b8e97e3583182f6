#pragma once
// A file that is closed when its owner ends.

#include <unistd.h>

namespace fairlead::store {

struct open_file {
  int fd = -1;  // -1: none
  explicit open_file(int which) : fd(which) {}
  ~open_file() {
    if (fd >= 0) ::close(fd);
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
};

}  // namespace fairlead::store
