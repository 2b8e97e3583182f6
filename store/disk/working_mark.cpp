#include "store/disk/working_mark.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <sstream>

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
  const auto here = inode_of_data(directory);
  std::ifstream mark(mark_in(directory));
  std::string line;
  // An empty or half written mark says nothing.
  if (!std::getline(mark, line) || mark.eof() || here == 0 || failpoint("store.any_file")) return nothing{};
  std::istringstream numbers(line);
  for (std::uint64_t one = 0; numbers >> one;)
    if (one == here) return nothing{};
  if (!numbers.eof()) return nothing{};
  // It may be torn. Where other nodes hold the shard, too, the node gets it from them.
  return error{
      v1::ERROR_CODE_CORRUPT,
      "The store " + directory + " is a copy that was made while its node ran, or after the node had not ended in order.",
      "Give the node its own file, or restore a backup. If no node ran when the copy was made, run `fairlead store check` and then "
      "`fairlead store settle`."};
}

void mark_working(const std::string& directory, const std::string& or_that_in) {
  const int fd = ::open(mark_in(directory).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0640);
  if (fd < 0) return;
  auto text = std::to_string(inode_of_data(directory));
  if (!or_that_in.empty()) text += ' ' + std::to_string(inode_of_data(or_that_in));
  text += '\n';
  // A mark that is cut short would name another inode; an empty one says nothing.
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) (void)!::ftruncate(fd, 0);
  // Else a power cut may leave the mark of before, beside the file that has taken the place of the one that it names.
  if (!or_that_in.empty()) (void)!::fdatasync(fd);
  ::close(fd);
}

void remove_working_mark(const std::string& directory) { (void)::unlink(mark_in(directory).c_str()); }

}  // namespace fairlead::store
