#include "store/lmdb/env.hpp"

#include <fcntl.h>
#include <lmdb.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "store/directory.hpp"
#include "store/lmdb/pages.hpp"

namespace fairlead::store {

namespace {

constexpr unsigned max_readers = 1024;
constexpr std::uint64_t reader_check_every = 600;  // write transactions; a busy node makes ten a second
constexpr std::uint64_t room_for_tools = std::uint64_t{1} << 30;
constexpr std::uint64_t most_bytes_checked_at_a_start = std::uint64_t{4} << 30;  // of a disk these are some seconds
constexpr std::uint64_t full_disk_bytes = 64 << 10;                              // with less free space the disk counts as full
// LMDB gives each reader one cache line in lock.mdb, after two or three lines of its own.
constexpr off_t lock_file_bytes = (max_readers + 3) * 64;
// LMDB's own handle of the free list, never that of a table: marks a table that a store of the first release lacks.
constexpr MDB_dbi no_table = 0;

MDB_val to_val(std::string_view bytes) { return {bytes.size(), const_cast<char*>(bytes.data())}; }
std::string_view to_view(const MDB_val& val) { return {static_cast<const char*>(val.mv_data), val.mv_size}; }

/// LMDB writes to lock.mdb through a map. If the file has a hole and the disk is full, SIGBUS would end the process. Returns an errno.
int allocate_lock_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
  if (fd < 0) return errno;
  struct stat found {};
  const int rc = ::fstat(fd, &found) != 0 ? errno : ::posix_fallocate(fd, 0, std::max(lock_file_bytes, found.st_size));
  ::close(fd);
  return rc;
}

/// LMDB writes the first pages of a new file without a sync. Half of them after a power cut would be a file that LMDB refuses for ever, so
/// they are durable before the file has its name. Returns an error of LMDB or an errno.
int make_file(const std::string& path) {
  const auto part = path + ".part";
  if (::unlink(part.c_str()) != 0 && errno != ENOENT) return errno;
  MDB_env* it = nullptr;
  int rc = mdb_env_create(&it);
  if (rc == 0) rc = mdb_env_open(it, part.c_str(), MDB_NOSUBDIR | MDB_NOLOCK, 0640);
  if (rc == 0) rc = mdb_env_sync(it, 1);
  if (it != nullptr) mdb_env_close(it);
  if (rc == 0 && ::rename(part.c_str(), path.c_str()) != 0) rc = errno;
  return rc;
}

/// LMDB reports EIO for a partial write, which is how a disk that has just become full behaves.
bool disk_is_full(const std::string& directory) {
  struct statvfs found {};
  return ::statvfs(directory.c_str(), &found) == 0 && found.f_bavail * found.f_frsize < full_disk_bytes;
}

struct cursor {
  MDB_cursor* it = nullptr;
  ~cursor() {
    if (it != nullptr) mdb_cursor_close(it);
  }
};

}  // namespace

env_options options_of_tool(const std::string& directory, bool read_only) {
  env_options out;
  out.directory = directory;
  out.read_only = read_only;
  struct stat found {};
  if (::stat((directory + "/data.mdb").c_str(), &found) == 0)
    out.max_size_bytes = std::max(out.max_size_bytes, 2 * static_cast<std::uint64_t>(found.st_size) + room_for_tools);
  return out;
}

result<std::shared_ptr<env>> env::open(const env_options& options) {
  if (auto ready = prepare_directory(options.directory, options.read_only); !ready) return ready.failure();
  auto lock = directory_lock::take(options.directory, options.read_only);
  if (!lock) return lock.failure();
  std::shared_ptr<env> out(new env(options.directory, std::move(*lock)));
  if (auto started = out->start(options); !started) return started.failure();
  return out;
}

status env::start(const env_options& options) {
  const auto data = directory_ + "/data.mdb";
  struct stat before {};
  const bool fresh = ::stat(data.c_str(), &before) != 0 || before.st_size == 0;
  if (fresh && options.read_only) return no_store(directory_);
  if (fresh) {
    if (const int rc = make_file(data); rc != 0) return failure(rc, "be written");
  }
  if (int rc = mdb_env_create(&env_); rc != 0) return failure(rc, "be opened");
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  max_bytes_ = (options.max_size_bytes + page - 1) / page * page;
  int rc = mdb_env_set_mapsize(env_, max_bytes_);
  if (rc == 0) rc = mdb_env_set_maxdbs(env_, 32);
  if (rc == 0) rc = mdb_env_set_maxreaders(env_, max_readers);
  if (rc == 0 && !options.read_only) rc = allocate_lock_file(directory_ + "/lock.mdb");
  // While a store is open for reading only, our lock keeps every writer away, so LMDB's own lock file is not needed (nor writable).
  unsigned flags = MDB_NOTLS | (options.read_only ? MDB_RDONLY | MDB_NOLOCK : 0u);
  if (rc == 0) rc = mdb_env_open(env_, directory_.c_str(), flags, 0640);
  if (rc != 0) return failure(rc, "be opened");
  int stale = 0;
  if (!options.read_only) mdb_reader_check(env_, &stale);
  if (auto long_enough = check_length(options.read_only); !long_enough) return long_enough;
  if (auto sound = options.check_pages ? check_pages(options.read_only) : status(nothing{}); !sound) return sound;
  if (auto opened = open_tables(options.read_only); !opened) return opened;
  if (options.read_only) return nothing{};
  // The file is durable only if its name in the directory is. The process that made the file may have ended before that.
  return sync_directory(directory_);
}

// A file that was cut short would raise SIGBUS at the first read beyond its end. It may be shorter than the last page in use only if all
// missing pages are free. So the file is extended (with zeros) and the missing pages are looked up in the free list.
status env::check_length(bool read_only) {
  const auto data = directory_ + "/data.mdb";
  struct stat found {};
  if (::stat(data.c_str(), &found) != 0) return failure(errno, "be read");
  const auto needed = file_bytes();
  const auto length = static_cast<std::uint64_t>(found.st_size);
  if (length >= needed) return nothing{};
  const error cut{
      v1::ERROR_CODE_CORRUPT,
      data + " is damaged: it has " + std::to_string(length) + " of the " + std::to_string(needed) + " bytes that it should have.",
      "Restore the store from a backup."};
  if (::truncate(data.c_str(), static_cast<off_t>(needed)) != 0) return read_only ? cut : failure(errno, "be made long enough");
  const auto page = needed / (file_bytes() / static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
  const auto missing = (needed - length + page - 1) / page;
  std::uint64_t free_among_missing = 0;
  MDB_txn* txn = nullptr;
  int rc = mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn);
  if (rc != 0) return failure(rc, "be read");
  cursor pages;
  MDB_val key, value;
  rc = mdb_cursor_open(txn, 0, &pages.it);  // database 0 is the free list: transaction -> count and page numbers
  while (rc == 0 && (rc = mdb_cursor_get(pages.it, &key, &value, MDB_NEXT)) == 0) {
    const auto* list = static_cast<const std::size_t*>(value.mv_data);
    for (std::size_t i = 1; i <= list[0]; ++i) free_among_missing += list[i] >= length / page ? 1 : 0;
  }
  if (pages.it != nullptr) mdb_cursor_close(pages.it);
  pages.it = nullptr;
  mdb_txn_abort(txn);
  if (rc == MDB_NOTFOUND && free_among_missing >= missing) return nothing{};
  // Cut the file again, so that the next opening finds the same.
  if (::truncate(data.c_str(), static_cast<off_t>(length)) != 0) return failure(errno, "be read");
  return cut;
}

status env::check_pages(bool read_only) const {
  const auto data = directory_ + "/data.mdb";
  if (!read_only && file_bytes() > most_bytes_checked_at_a_start) return nothing{};
  const auto damage = find_damaged_page(data);
  if (!damage) return damage.failure();
  if (!*damage) return nothing{};
  return error{v1::ERROR_CODE_CORRUPT, data + " is damaged: " + **damage + ".",
               "Restore the store from a backup. If other nodes hold the shard, too, give this one an empty store."};
}

status env::open_tables(bool read_only) {
  MDB_txn* txn = nullptr;
  int rc = mdb_txn_begin(env_, nullptr, read_only ? MDB_RDONLY : 0u, &txn);
  if (rc != 0) return failure(rc, "be read");
  MDB_stat main{};
  MDB_dbi root = 0;
  rc = mdb_dbi_open(txn, nullptr, 0, &root);
  if (rc == 0) rc = mdb_stat(txn, root, &main);
  const bool empty = rc == 0 && main.ms_entries == 0;
  const bool create = empty && !read_only;
  int missing = -1;
  for (int i = 0; rc == 0 && i < table_count; ++i) {
    const bool later = i >= first_release_table_count;
    rc = mdb_dbi_open(txn, table_name(static_cast<table>(i)), create || (later && !read_only) ? MDB_CREATE : 0u, &tables_[i]);
    if (rc == MDB_NOTFOUND && later) {
      tables_[i] = no_table;
      rc = 0;
    }
    if (rc == MDB_NOTFOUND || rc == MDB_INCOMPATIBLE) missing = i;
  }
  if (rc == 0) {
    rc = mdb_txn_commit(txn);
  } else {
    mdb_txn_abort(txn);
  }
  // The process that made the store ended before it was complete; the next writer goes on with it.
  if (missing == 0 && empty) return no_store(directory_);
  if (missing == 0) {
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, directory_ + "/data.mdb belongs to another program: it has no table meta.",
                 "Use a separate directory for the store."};
  }
  if (missing > 0) {
    return error{v1::ERROR_CODE_CORRUPT,
                 directory_ + "/data.mdb is damaged: it lacks the table " + table_name(static_cast<table>(missing)) + ".",
                 "Restore the store from a backup."};
  }
  if (rc != 0) return failure(rc, "be read");
  return nothing{};
}

// First the lock file: who opens the former data with it is seen as a reader by this process, and no page that it reads is written again, for
// its transaction is of no later one than any here. After a crash LMDB makes the lock file anew.
status env::take_place_of(env& former) {
  const auto move = [&](const char* name) { return ::rename((directory_ + name).c_str(), (former.directory_ + name).c_str()) == 0; };
  if (auto synced = sync_directory(directory_); !synced) return synced;
  if (!move("/lock.mdb") || !move("/data.mdb")) return failure(errno, "be put in its place");
  if (auto synced = sync_directory(former.directory_); !synced) return synced;
  directory_ = former.directory_;
  lock_ = former.lock_;
  return nothing{};
}

env::~env() {
  if (env_ == nullptr) return;
  for (auto* txn : idle_readers_) mdb_txn_abort(txn);
  mdb_env_close(env_);
}

error env::failure(int rc, const char* doing) const {
  if (rc == EIO && std::string_view{doing} == "be written" && disk_is_full(directory_)) rc = ENOSPC;
  const auto sentence = "The store " + directory_ + " could not " + doing + ": ";
  switch (rc) {
    case MDB_MAP_FULL:
      return {v1::ERROR_CODE_STORE_FULL, "The store " + directory_ + " is full: it has reached " + std::to_string(max_bytes_) + " bytes.",
              "Raise the store's max_size and start the node again."};
    case MDB_INVALID:
      return {v1::ERROR_CODE_CORRUPT, directory_ + "/data.mdb is damaged or not an LMDB file.",
              "Restore the store from a backup, or use another directory."};
    case MDB_VERSION_MISMATCH:
      return {v1::ERROR_CODE_STORE_NEWER, directory_ + "/data.mdb was written by an LMDB of another format.",
              "Restore the store from a backup, or use another directory."};
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_BAD_TXN:  // an error of an earlier call is never gone over: LMDB has met a page that it cannot use, and has not said so then
      return {v1::ERROR_CODE_CORRUPT, sentence + mdb_strerror(rc) + ".",
              "Stop the node, run `fairlead store check` and restore the store from a backup."};
    case EACCES:
    case EPERM:
    case EROFS:
      return {v1::ERROR_CODE_DISK, sentence + mdb_strerror(rc) + ".", "Give this user write permission there, or use another directory."};
    case ENOSPC: return {v1::ERROR_CODE_DISK, sentence + mdb_strerror(rc) + ".", "Make room on the disk and start the node again."};
    case ENOMEM:
      return {v1::ERROR_CODE_DISK, sentence + mdb_strerror(rc) + ".",
              "Lower the store's max_size or raise the limit on address space (ulimit -v)."};
    case MDB_BAD_VALSIZE:
    case MDB_BAD_DBI: return {v1::ERROR_CODE_INTERNAL, sentence + mdb_strerror(rc) + ".", "This is a bug; report it."};
    case MDB_READERS_FULL:
      return {v1::ERROR_CODE_OVERLOADED, sentence + mdb_strerror(rc) + ".", "Try again when fewer reads are in progress."};
    default: return {v1::ERROR_CODE_DISK, sentence + mdb_strerror(rc) + ".", "Check the disk and the system's log; start the node again."};
  }
}

std::uint64_t env::file_bytes() const {
  MDB_envinfo info{};
  MDB_stat main{};
  mdb_env_info(env_, &info);
  mdb_env_stat(env_, &main);
  return (info.me_last_pgno + 1) * static_cast<std::uint64_t>(main.ms_psize);
}

/// The transaction that the oldest reader sees, of whatever process; without readers greater than any.
std::size_t env::oldest_reader() const {
  std::size_t oldest = ~std::size_t{0};
  // LMDB gives its readers only as text: a heading, then lines of pid, thread and transaction ("-": the reader rests).
  const auto look = [](const char* lines, void* out) {
    for (std::string_view rest = lines; !rest.empty();) {
      const auto line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      const auto last = line.substr(line.find_last_of(' ') + 1);
      std::size_t seen = 0;
      if (std::from_chars(last.data(), last.data() + last.size(), seen).ec == std::errc{})
        *static_cast<std::size_t*>(out) = std::min(*static_cast<std::size_t*>(out), seen);
    }
    return 0;
  };
  mdb_reader_list(env_, look, &oldest);
  return oldest;
}

result<std::uint64_t> env::free_bytes() {
  int rc = 0;
  auto* txn = take_reader(rc);
  if (txn == nullptr) return failure(rc, "be read");
  MDB_stat free_list{};
  std::uint64_t pages = 0;
  MDB_envinfo info{};
  mdb_env_info(env_, &info);
  // LMDB takes only pages that were freed before the state which the oldest reader sees. What the last transaction freed, the one after the
  // next takes, if nobody reads an older state.
  const auto oldest = oldest_reader();
  const auto kept_from = oldest < info.me_last_txnid ? oldest : ~std::size_t{0};
  {
    cursor all;
    MDB_val key, value;
    rc = mdb_stat(txn, 0, &free_list);
    if (rc == 0) rc = mdb_cursor_open(txn, 0, &all.it);
    while (rc == 0 && (rc = mdb_cursor_get(all.it, &key, &value, MDB_NEXT)) == 0) {
      std::size_t freed_by = 0;
      std::memcpy(&freed_by, key.mv_data, std::min(sizeof freed_by, key.mv_size));
      if (freed_by >= kept_from) {
        rc = MDB_NOTFOUND;  // and so are all that follow
        break;
      }
      pages += *static_cast<const std::size_t*>(value.mv_data);
    }
  }
  give_back(txn);
  if (rc != MDB_NOTFOUND) return failure(rc, "be read");
  return pages * free_list.ms_psize;
}

MDB_txn* env::begin_reader(int& rc) {
  MDB_txn* txn = nullptr;
  {
    std::lock_guard lock(pool_guard_);
    if (!idle_readers_.empty()) {
      txn = idle_readers_.back();
      idle_readers_.pop_back();
    }
  }
  if (txn != nullptr) {
    rc = mdb_txn_renew(txn);
    if (rc == 0) return txn;
    mdb_txn_abort(txn);
  }
  rc = mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn);
  return rc == 0 ? txn : nullptr;
}

MDB_txn* env::take_reader(int& rc) {
  for (;;) {
    const auto ended = commits_ended_.load();
    auto* txn = begin_reader(rc);
    if (txn == nullptr || commits_begun_ <= ended + 1) return txn;
    give_back(txn);
  }
}

void env::give_back(MDB_txn* txn) {
  mdb_txn_reset(txn);
  std::lock_guard lock(pool_guard_);
  idle_readers_.push_back(txn);
}

read_txn env::read() {
  int rc = 0;
  auto* txn = take_reader(rc);
  return {shared_from_this(), txn, rc};
}

read_txn::read_txn(read_txn&& other) noexcept : owner_(std::move(other.owner_)), txn_(other.txn_), rc_(other.rc_) { other.txn_ = nullptr; }

read_txn::~read_txn() {
  if (txn_ != nullptr) owner_->give_back(txn_);
}

result<std::optional<std::string_view>> read_txn::get(table where, std::string_view key) const {
  if (txn_ == nullptr) return owner_->failure(rc_, "be read");
  if (key.empty() || key.size() > max_key_bytes || owner_->tables_[static_cast<int>(where)] == no_table)
    return std::optional<std::string_view>{};
  auto k = to_val(key);
  MDB_val v{};
  int rc = mdb_get(txn_, owner_->tables_[static_cast<int>(where)], &k, &v);
  if (rc == MDB_NOTFOUND) return std::optional<std::string_view>{};
  if (rc != 0) return owner_->failure(rc, "be read");
  return std::optional(to_view(v));
}

status read_txn::scan(table where, std::string_view from, std::string_view to, const snapshot::visitor& visit) const {
  if (txn_ == nullptr) return owner_->failure(rc_, "be read");
  if (owner_->tables_[static_cast<int>(where)] == no_table) return nothing{};
  cursor at;
  int rc = mdb_cursor_open(txn_, owner_->tables_[static_cast<int>(where)], &at.it);
  if (rc != 0) return owner_->failure(rc, "be read");
  auto k = to_val(from);
  MDB_val v{};
  for (rc = mdb_cursor_get(at.it, &k, &v, from.empty() ? MDB_FIRST : MDB_SET_RANGE); rc == 0;
       rc = mdb_cursor_get(at.it, &k, &v, MDB_NEXT)) {
    if ((!to.empty() && to_view(k) >= to) || !visit(to_view(k), to_view(v))) return nothing{};
  }
  if (rc != MDB_NOTFOUND) return owner_->failure(rc, "be read");
  return nothing{};
}

status read_txn::scan_reverse(table where, std::string_view from, std::string_view to, const snapshot::visitor& visit) const {
  if (txn_ == nullptr) return owner_->failure(rc_, "be read");
  if (owner_->tables_[static_cast<int>(where)] == no_table) return nothing{};
  cursor at;
  int rc = mdb_cursor_open(txn_, owner_->tables_[static_cast<int>(where)], &at.it);
  if (rc != 0) return owner_->failure(rc, "be read");
  auto k = to_val(to);
  MDB_val v{};
  rc = to.empty() ? MDB_NOTFOUND : mdb_cursor_get(at.it, &k, &v, MDB_SET_RANGE);
  // Now at the first key not below `to`, or after the last key.
  rc = rc == MDB_NOTFOUND ? mdb_cursor_get(at.it, &k, &v, MDB_LAST) : rc == 0 ? mdb_cursor_get(at.it, &k, &v, MDB_PREV) : rc;
  for (; rc == 0; rc = mdb_cursor_get(at.it, &k, &v, MDB_PREV)) {
    if (to_view(k) < from || !visit(to_view(k), to_view(v))) return nothing{};
  }
  if (rc != MDB_NOTFOUND) return owner_->failure(rc, "be read");
  return nothing{};
}

std::uint64_t read_txn::count(table where) const {
  MDB_stat found{};
  if (txn_ != nullptr && owner_->tables_[static_cast<int>(where)] != no_table)
    mdb_stat(txn_, owner_->tables_[static_cast<int>(where)], &found);
  return found.ms_entries;
}

result<write_txn> env::write() {
  MDB_txn* txn = nullptr;
  int rc = mdb_txn_begin(env_, nullptr, 0, &txn);
  if (rc != 0) return failure(rc, "be written");
  // A backup that was killed would keep its pages, and the file would grow until the next opening.
  int stale = 0;
  if (++writes_ % reader_check_every == 0) mdb_reader_check(env_, &stale);
  return write_txn{this, txn};
}

write_txn::write_txn(write_txn&& other) noexcept : owner_(other.owner_), txn_(other.txn_) { other.txn_ = nullptr; }

write_txn::~write_txn() {
  if (txn_ != nullptr) mdb_txn_abort(txn_);
}

status write_txn::apply(const group_operations& group) {
  for (int i = 0; i < table_count; ++i) {
    const auto& all = group.of(i);
    if (auto done = apply_to_one_table(all.data(), all.data() + all.size()); !done) return done;
  }
  return nothing{};
}

status write_txn::apply(const std::vector<operation>& sorted) {
  const auto* const end = sorted.data() + sorted.size();
  for (const auto* begin = sorted.data(); begin != end;) {
    const auto* next = std::find_if(begin, end, [begin](const operation& one) { return one.where != begin->where; });
    if (auto done = apply_to_one_table(begin, next); !done) return done;
    begin = next;
  }
  return nothing{};
}

status write_txn::apply_to_one_table(const operation* begin, const operation* end) {
  if (begin == end) return nothing{};
  cursor at;
  int rc = mdb_cursor_open(txn_, owner_->tables_[static_cast<int>(begin->where)], &at.it);
  for (const auto* op = begin; op != end; ++op) {
    auto key = to_val(op->key);
    if (rc == 0 && op->what == operation::kind::put) {
      auto value = to_val(op->value);
      rc = mdb_cursor_put(at.it, &key, &value, 0);
    } else if (rc == 0) {
      rc = mdb_cursor_get(at.it, &key, nullptr, MDB_SET);
      rc = rc == MDB_NOTFOUND ? 0 : rc == 0 ? mdb_cursor_del(at.it, 0) : rc;
    }
    if (rc != 0) return owner_->failure(rc, "be written");
  }
  return nothing{};
}

status write_txn::put(table where, std::string_view key, std::string_view stored) {
  auto k = to_val(key);
  auto v = to_val(stored);
  const int rc = mdb_put(txn_, owner_->tables_[static_cast<int>(where)], &k, &v, 0);
  if (rc != 0) return owner_->failure(rc, "be written");
  return nothing{};
}

result<std::optional<std::string_view>> write_txn::get(table where, std::string_view key) const {
  auto k = to_val(key);
  MDB_val v{};
  const int rc = mdb_get(txn_, owner_->tables_[static_cast<int>(where)], &k, &v);
  if (rc == MDB_NOTFOUND) return std::optional<std::string_view>{};
  if (rc != 0) return owner_->failure(rc, "be read");
  return std::optional(to_view(v));
}

status write_txn::commit() {
  ++owner_->commits_begun_;
  const int rc = mdb_txn_commit(std::exchange(txn_, nullptr));
  ++owner_->commits_ended_;
  if (rc != 0) return owner_->failure(rc, "be written");
  return nothing{};
}

}  // namespace fairlead::store
