// A copy of an environment's file that leaves the disk to those who commit meanwhile.

#include <fcntl.h>
#include <lmdb.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>
#include <utility>
#include <vector>

#include "store/lmdb/env.hpp"
#include "store/lmdb/open_file.hpp"
#include "store/lmdb/synced_in_steps.hpp"

namespace fairlead::store {

namespace {

constexpr std::size_t block_bytes = std::size_t{256} << 10;

/// Reads one block, or less at the end; an errno, or 0.
int read_block(int from, std::vector<char>& block) {
  block.resize(block_bytes);
  std::size_t got = 0;
  while (got < block.size()) {
    const auto n = ::read(from, block.data() + got, block.size() - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  block.resize(got);
  return 0;
}

}  // namespace

// LMDB would write as fast as it can, and leave all of it to the page cache: whoever syncs then waits for a gigabyte. So it writes into a pipe.
status env::copy_to(int file) const {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return failure(errno, "be copied");
  open_file from{ends[0]};
  int copied = 0;
  std::thread copies([this, &copied, to = ends[1]] {
    copied = mdb_env_copyfd2(env_, to, MDB_CP_COMPACT);
    ::close(to);
  });
  synced_in_steps into(file);
  int rc = 0;
  for (std::vector<char> block; rc == 0;) {
    rc = read_block(from.fd, block);
    if (rc == 0 && block.empty()) break;
    if (rc == 0) rc = into.write({block.data(), block.size()});
  }
  if (rc == 0) rc = into.sync();
  // LMDB ends once nobody reads the pipe, with EPIPE.
  ::close(std::exchange(from.fd, -1));
  copies.join();
  if (rc == 0) rc = copied;
  return rc == 0 ? status(nothing{}) : status(failure(rc, "be copied"));
}

}  // namespace fairlead::store
