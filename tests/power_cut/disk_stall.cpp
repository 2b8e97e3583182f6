// A library for LD_PRELOAD: while the file FAIRLEAD_STALLED exists, whatever a process writes to a place in a file, or syncs, waits, as on a disk
// that does not answer. What is already under way ends.

#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdlib>

namespace {

void wait() {
  static const char* const file = std::getenv("FAIRLEAD_STALLED");
  while (file != nullptr && ::access(file, F_OK) == 0) ::usleep(2'000);
}

/// Calls the function that this one stands before, once the disk answers.
template <class Result, class... Arguments>
Result later(const char* name, Arguments... arguments) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what dlsym gives
  const auto next = reinterpret_cast<Result (*)(Arguments...)>(::dlsym(RTLD_NEXT, name));
  wait();
  return next(arguments...);
}

}  // namespace

extern "C" {

int fdatasync(int file) { return later<int>("fdatasync", file); }
int fsync(int file) { return later<int>("fsync", file); }
int msync(void* from, size_t size, int how) { return later<int>("msync", from, size, how); }
ssize_t pwrite(int file, const void* from, size_t size, off_t at) { return later<ssize_t>("pwrite", file, from, size, at); }
ssize_t pwrite64(int file, const void* from, size_t size, off64_t at) { return later<ssize_t>("pwrite64", file, from, size, at); }
ssize_t pwritev(int file, const iovec* parts, int count, off_t at) { return later<ssize_t>("pwritev", file, parts, count, at); }
ssize_t pwritev64(int file, const iovec* parts, int count, off64_t at) { return later<ssize_t>("pwritev64", file, parts, count, at); }
}
