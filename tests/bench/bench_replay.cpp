#include "tests/bench/bench_replay.hpp"

#include <fcntl.h>
#include <lmdb.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <stdexcept>

#include "tests/bench/bench_load.hpp"

namespace fairlead::bench {

namespace {

using steady = std::chrono::steady_clock;

void must(int code, const char* what) {
  if (code != 0 && code != MDB_NOTFOUND) throw std::runtime_error(std::string{what} + ": " + mdb_strerror(code));
}

double micros_since(steady::time_point start) { return std::chrono::duration<double, std::micro>(steady::now() - start).count(); }

class bare_environment {
 public:
  explicit bare_environment(const std::string& directory) {
    std::filesystem::create_directories(directory);
    must(mdb_env_create(&env_), "mdb_env_create");
    must(mdb_env_set_mapsize(env_, std::size_t{16} << 30), "mdb_env_set_mapsize");
    must(mdb_env_set_maxdbs(env_, store::table_count), "mdb_env_set_maxdbs");
    must(mdb_env_open(env_, directory.c_str(), 0, 0644), "mdb_env_open");
    MDB_txn* txn = nullptr;
    must(mdb_txn_begin(env_, nullptr, 0, &txn), "mdb_txn_begin");
    for (int i = 0; i < store::table_count; ++i)
      must(mdb_dbi_open(txn, store::table_name(static_cast<store::table>(i)), MDB_CREATE, &tables_[static_cast<std::size_t>(i)]),
           "mdb_dbi_open");
    must(mdb_txn_commit(txn), "mdb_txn_commit");
  }
  ~bare_environment() { mdb_env_close(env_); }

  void apply(const std::vector<store::batch>& group) {
    MDB_txn* txn = nullptr;
    must(mdb_txn_begin(env_, nullptr, 0, &txn), "mdb_txn_begin");
    for (const auto& batch : group) {
      batch.for_each([&](const store::operation& op) {
        MDB_val key{op.key.size(), const_cast<char*>(op.key.data())};
        MDB_val value{op.value.size(), const_cast<char*>(op.value.data())};
        const auto where = tables_[static_cast<std::size_t>(op.where)];
        if (op.what == store::operation::kind::put)
          must(mdb_put(txn, where, &key, &value, 0), "mdb_put");
        else
          must(mdb_del(txn, where, &key, nullptr), "mdb_del");
      });
    }
    // What a batch carries beside its operations is written with it.
    const auto progress = std::string(16, '\0') + group.back().shard_state;
    MDB_val key{8, const_cast<char*>("progress")};
    MDB_val value{progress.size(), const_cast<char*>(progress.data())};
    must(mdb_put(txn, tables_[static_cast<std::size_t>(store::table::meta)], &key, &value, 0), "mdb_put");
    must(mdb_txn_commit(txn), "mdb_txn_commit");
  }

 private:
  MDB_env* env_ = nullptr;
  std::array<MDB_dbi, store::table_count> tables_{};
};

}  // namespace

replay_result replay(const std::vector<std::vector<store::batch>>& groups, std::uint64_t tasks, std::size_t groups_a_task,
                     const std::string& directory) {
  std::filesystem::remove_all(directory);
  bare_environment env{directory};
  std::vector<double> latencies;
  const auto start = steady::now();
  auto task_start = start;
  std::size_t in_task = 0;
  for (const auto& group : groups) {
    env.apply(group);
    if (groups_a_task == 0 || ++in_task < groups_a_task) continue;
    latencies.push_back(micros_since(task_start));
    task_start = steady::now();
    in_task = 0;
  }
  const auto seconds = micros_since(start) / 1e6;
  return {static_cast<double>(tasks) / seconds, percentile(std::move(latencies), 0.5)};
}

double fdatasync_p50_us(const std::string& directory) {
  std::filesystem::create_directories(directory);
  const auto path = directory + "/fdatasync";
  const int fd = ::open(path.c_str(), O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) throw std::runtime_error("cannot write in " + directory);
  std::array<char, 4096> page{};
  std::vector<double> latencies;
  for (int i = 0; i < 1000; ++i) {
    page.fill(static_cast<char>(i));
    const auto start = steady::now();
    if (::pwrite(fd, page.data(), page.size(), static_cast<off_t>(i % 256) * 4096) != static_cast<ssize_t>(page.size()) ||
        ::fdatasync(fd) != 0)
      throw std::runtime_error("cannot write in " + directory);
    if (i >= 256) latencies.push_back(micros_since(start));  // the first round allocates the blocks
  }
  ::close(fd);
  ::unlink(path.c_str());
  return percentile(std::move(latencies), 0.5);
}

}  // namespace fairlead::bench
