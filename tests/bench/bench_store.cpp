#include "tests/bench/bench_store.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>

#include "actors/replication/replica.hpp"
#include "messages/time.hpp"
#include "store/journal/disk_files.hpp"
#include "store/journaled/applier.hpp"
#include "store/lmdb/store.hpp"
#include "tests/bench/bench_load.hpp"
#include "tests/store/tables_around.hpp"

namespace fairlead::bench {

namespace {

using steady = std::chrono::steady_clock;

double seconds_since(steady::time_point start) { return std::chrono::duration<double>(steady::now() - start).count(); }

template <class T>
T must(result<T> outcome) {
  if (!outcome) throw std::runtime_error(outcome.failure().sentence);
  return std::move(*outcome);
}

/// Commits all groups under the epoch of `to`. `look` is called after each commit; `settle` ends what goes on behind.
template <class Look, class Settle>
store_cost measure(store::store& to, std::vector<std::vector<store::batch>>& groups, std::uint64_t tasks, const Look& look,
                   const Settle& settle) {
  const auto epoch = must(to.raise_epoch());
  std::uint64_t sequence = 0;
  for (auto& group : groups) {
    for (auto& one : group) {
      one.epoch = epoch;
      one.sequence = ++sequence;
    }
  }
  std::vector<double> commits;
  commits.reserve(groups.size());
  const auto cpu = cpu_seconds();
  const auto bytes = written_bytes();
  const auto start = steady::now();
  for (const auto& group : groups) {
    const auto began = steady::now();
    must(to.commit(group));
    commits.push_back(1e6 * seconds_since(began));
    look();
  }
  settle();
  const auto all = static_cast<double>(tasks);
  store_cost out;
  out.tasks_per_s = all / seconds_since(start);
  out.cpu_us_per_task = 1e6 * (cpu_seconds() - cpu) / all;
  out.bytes_per_task = static_cast<double>(written_bytes() - bytes) / all;
  out.commit_p50_us = percentile(commits, 0.5);
  out.commit_p99_us = percentile(std::move(commits), 0.99);
  return out;
}

/// Tables that note how long each transaction takes.
class timed_tables final : public store::testing::tables_around {
 public:
  using tables_around::tables_around;
  status apply(const std::vector<store::operation>& sorted) override {
    const auto began = steady::now();
    auto done = tables_around::apply(sorted);
    const std::lock_guard lock(guard_);
    took_us_.push_back(1e6 * seconds_since(began));
    return done;
  }
  std::vector<double> took_us() const {
    const std::lock_guard lock(guard_);
    return took_us_;
  }

 private:
  mutable std::mutex guard_;
  std::vector<double> took_us_;
};

/// The floor of a commit: writes of so many bytes, one after the other, to a file as the journal's are.
double write_alone_us(store::disk_files& files, double group_bytes) {
  constexpr std::uint64_t writes = 1'000;
  const auto bytes = (static_cast<std::size_t>(group_bytes) / store::journal_block_bytes + 1) * store::journal_block_bytes;
  must(files.create("floor", writes * bytes, [] { return store::making_pace::at_once; }));
  const auto file = must(files.open("floor"));
  store::block_buffer data(bytes);
  std::memset(data.data(), 'x', bytes);
  std::vector<double> took;
  for (std::uint64_t i = 0; i < writes; ++i) {
    const auto began = steady::now();
    must(file->write(i * bytes, data.data(), bytes));
    took.push_back(1e6 * seconds_since(began));
  }
  must(files.remove("floor"));
  return percentile(std::move(took), 0.5);
}

}  // namespace

store_cost commit_to_lmdb(std::vector<std::vector<store::batch>> groups, std::uint64_t tasks, const std::string& directory) {
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  const auto to = must(store::lmdb_store::open({directory, std::uint64_t{16} << 30, false}));
  return measure(
      *to, groups, tasks, [] {}, [] {});
}

journal_cost commit_to_journal(std::vector<std::vector<store::batch>> groups, std::uint64_t tasks, const std::string& directory,
                               bool applied) {
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  const auto tables = must(store::lmdb_store::open({directory, std::uint64_t{16} << 30, false}, true));
  store::journal_options options;
  options.release = "bench";
  options.now_unix_ms = now_unix_ms;
  options.boot_ms = now_boot_ms;
  options.random = [random = std::mt19937_64{std::random_device{}()}]() mutable { return random(); };
  timed_tables timed(*tables);
  const auto open = [&] {
    return must(store::journaled_stores::open(must(store::disk_files::in(directory + "/journal")), {{0, directory, &timed}}, options));
  };
  auto stores = open();
  must(stores->log().stage(4));
  auto& to = stores->at(0);
  journal_cost out;
  std::size_t most_unapplied = 0;
  store::applier_options of_applier;
  if (!applied) {
    of_applier.period = std::chrono::hours{1};
    of_applier.bytes = of_applier.operations = ~std::size_t{0};
  }
  {
    store::applier behind{*stores, of_applier, [](const error& why) {
                            std::fprintf(stderr, "%s\n", why.sentence.c_str());
                            std::abort();
                          }};
    replica through{to, {}, now_boot_ms};
    static_cast<store_cost&>(out) = measure(
        through, groups, tasks, [&] { most_unapplied = std::max(most_unapplied, to.unapplied_bytes()); },
        [&] {
          if (applied) must(to.apply_all());
        });
  }
  out.most_unapplied_bytes = static_cast<double>(most_unapplied);
  const auto written = stores->log().get_usage();
  out.group_bytes = static_cast<double>(written.written_bytes) / static_cast<double>(std::max<std::uint64_t>(written.groups, 1));
  out.apply_p50_us = percentile(timed.took_us(), 0.5);
  out.apply_p99_us = percentile(timed.took_us(), 0.99);
  if (!applied) {
    out.recovered_bytes = static_cast<double>(to.unapplied_bytes());
    stores.reset();
    const auto began = steady::now();
    stores = open();
    out.recovery_s = seconds_since(began);
  }
  out.write_p50_us = write_alone_us(*must(store::disk_files::in(directory + "/floor")), out.group_bytes);
  return out;
}

}  // namespace fairlead::bench
