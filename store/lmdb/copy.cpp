#include "store/lmdb/copy.hpp"

#include <fcntl.h>
#include <lmdb.h>
#include <unistd.h>

#include <cerrno>

#include "store/directory.hpp"
#include "store/lmdb/open_file.hpp"

namespace fairlead::store {

namespace {

struct open_environment {
  MDB_env* it = nullptr;
  ~open_environment() {
    if (it != nullptr) mdb_env_close(it);
  }
};

error not_copied(const std::string& from, const std::string& to, int code) {
  const bool damaged = code == MDB_INVALID || code == MDB_CORRUPTED || code == MDB_PAGE_NOTFOUND || code == MDB_VERSION_MISMATCH;
  const auto remedy = damaged          ? "Run `fairlead store check` once the node is stopped; an earlier backup may be sound."
                      : code == ENOSPC ? "Make room there, or use another directory."
                                       : "Check the disk and the permissions. LMDB needs write permission for lock.mdb, also to read.";
  return {damaged ? v1::ERROR_CODE_CORRUPT : v1::ERROR_CODE_DISK,
          "The store " + from + " cannot be copied to " + to + ": " + mdb_strerror(code) + ".", remedy};
}

}  // namespace

status copy_environment(const std::string& from, const std::string& to) {
  // LMDB would make what is not there.
  if (::access((from + "/data.mdb").c_str(), F_OK) != 0) return no_store(from);
  open_environment source;
  int rc = mdb_env_create(&source.it);
  if (rc == 0) rc = mdb_env_open(source.it, from.c_str(), MDB_RDONLY | MDB_NOTLS, 0640);
  if (rc == ENOENT) return no_store(from);
  if (rc != 0) return not_copied(from, to, rc);
  open_file target{::open((to + "/data.mdb").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640)};
  if (target.fd < 0) return not_copied(from, to, errno);
  rc = mdb_env_copyfd2(source.it, target.fd, MDB_CP_COMPACT);
  // LMDB leaves the bytes to the page cache.
  if (rc == 0 && ::fsync(target.fd) != 0) rc = errno;
  return rc == 0 ? status(nothing{}) : not_copied(from, to, rc);
}

}  // namespace fairlead::store
