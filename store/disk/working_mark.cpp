#include "store/disk/working_mark.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>

#include "store/failpoint.hpp"

namespace fairlead::store {

namespace {

std::string mark_in(const std::string& directory) { return directory + "/working"; }

/// 0: there is no data file.
std::uint64_t inode_of_data(const std::string& directory) {
  struct stat found {};
  return ::stat((directory + "/data.mdb").c_str(), &found) == 0 ? found.st_ino : 0;
}

}  // namespace

status check_not_copied(const std::string& directory) {
  std::uint64_t written = 0;
  const auto here = inode_of_data(directory);
  std::ifstream mark(mark_in(directory));
  // An empty or half written mark says nothing.
  if (!(mark >> written) || mark.get() != '\n' || here == 0 || here == written || failpoint("store.any_file")) return nothing{};
  return error{
      v1::ERROR_CODE_WRONG_STATE,
      "The store " + directory + " is a copy that was made while its node ran, or after the node had not ended in order.",
      "Give the node its own file, or restore a backup. If no node ran when the copy was made, run `fairlead store check` and then "
      "`fairlead store settle`."};
}

void mark_working(const std::string& directory) {
  const int fd = ::open(mark_in(directory).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0640);
  if (fd < 0) return;
  const auto text = std::to_string(inode_of_data(directory)) + "\n";
  // A mark that is cut short would name another inode; an empty one says nothing.
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) (void)!::ftruncate(fd, 0);
  ::close(fd);
}

void remove_working_mark(const std::string& directory) { (void)::unlink(mark_in(directory).c_str()); }

}  // namespace fairlead::store
