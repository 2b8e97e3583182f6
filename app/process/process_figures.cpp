#include "app/process/process_figures.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace fairlead::app {

namespace {

std::uint64_t entries_of(const char* folder) {
  std::error_code ignored;
  std::uint64_t out = 0;
  for (std::filesystem::directory_iterator at{folder, ignored}, end; !ignored && at != end; at.increment(ignored)) ++out;
  return out;
}

double seconds(const timeval& span) { return static_cast<double>(span.tv_sec) + static_cast<double>(span.tv_usec) / 1e6; }

}  // namespace

process_figures look_at_this_process() {
  process_figures out;
  rusage spent{};
  if (::getrusage(RUSAGE_SELF, &spent) == 0) out.cpu_seconds = seconds(spent.ru_utime) + seconds(spent.ru_stime);
  std::uint64_t all_pages = 0;
  std::uint64_t resident_pages = 0;
  if (std::ifstream{"/proc/self/statm"} >> all_pages >> resident_pages)
    out.resident_bytes = resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  // One entry is the folder itself, open while it is read.
  if (const auto files = entries_of("/proc/self/fd"); files > 0) out.open_files = files - 1;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) out.most_open_files = files.rlim_cur;
  out.threads = entries_of("/proc/self/task");
  return out;
}

}  // namespace fairlead::app
