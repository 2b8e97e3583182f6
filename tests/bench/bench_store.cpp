#include "tests/bench/bench_store.hpp"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <random>
#include <stdexcept>

#include "store/journal/disk_files.hpp"
#include "store/journaled/applier.hpp"
#include "store/lmdb/store.hpp"
#include "tests/bench/bench_load.hpp"

namespace fairlead::bench {

namespace {

using steady = std::chrono::steady_clock;

double seconds_since(steady::time_point start) { return std::chrono::duration<double>(steady::now() - start).count(); }

template <class T>
T must(result<T> outcome) {
  if (!outcome) throw std::runtime_error(outcome.failure().sentence);
  return std::move(*outcome);
}

/// Commits all groups under the epoch of `to`; `settle` ends what goes on behind.
template <class Settle>
store_cost measure(store::store& to, std::vector<std::vector<store::batch>>& groups, std::uint64_t tasks, const Settle& settle) {
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

}  // namespace

store_cost commit_to_lmdb(std::vector<std::vector<store::batch>> groups, std::uint64_t tasks, const std::string& directory) {
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  const auto to = must(store::lmdb_store::open({directory, std::uint64_t{16} << 30, false}));
  return measure(*to, groups, tasks, [] {});
}

store_cost commit_to_journal(std::vector<std::vector<store::batch>> groups, std::uint64_t tasks, const std::string& directory) {
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  const auto tables = must(store::lmdb_store::open({directory, std::uint64_t{16} << 30, false}, true));
  store::journal_options options;
  options.release = "bench";
  options.now_unix_ms = [] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  };
  options.random = [random = std::mt19937_64{std::random_device{}()}]() mutable { return random(); };
  auto files = must(store::disk_files::in(directory + "/journal"));
  const auto stores = must(store::journaled_stores::open(std::move(files), {{0, directory, tables.get()}}, std::move(options)));
  must(stores->log().stage(4));
  auto& to = stores->at(0);
  store::applier behind{*stores, {}, [](const error& why) {
                          std::fprintf(stderr, "%s\n", why.sentence.c_str());
                          std::abort();
                        }};
  return measure(to, groups, tasks, [&] { must(to.apply()); });
}

}  // namespace fairlead::bench
