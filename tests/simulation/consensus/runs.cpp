#include "tests/simulation/consensus/runs.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace fairlead::simulation {

namespace {

using fault = bool raft::planted_faults::*;

struct planted_fault {
  const char* name;
  fault which;
  std::uint64_t near = 1;  // the search begins here: a seed by which it was seen once, so that not all before it are run each time
};

constexpr planted_fault all_faults[] = {
    {"commit_former_term", &raft::planted_faults::commit_former_term, 4'749},
    {"confirm_unchecked", &raft::planted_faults::confirm_unchecked},
    {"commit_unchecked", &raft::planted_faults::commit_unchecked},
    {"commit_newest_only", &raft::planted_faults::commit_newest_only},
    {"vote_before_durable", &raft::planted_faults::vote_before_durable},
    {"confirm_before_durable", &raft::planted_faults::confirm_before_durable},
    {"count_undurable", &raft::planted_faults::count_undurable},
    {"keep_cut_members", &raft::planted_faults::keep_cut_members},
    {"lead_same_term", &raft::planted_faults::lead_same_term},
    {"vote_twice", &raft::planted_faults::vote_twice},
    {"vote_for_any_log", &raft::planted_faults::vote_for_any_log},
    {"confirm_unasked", &raft::planted_faults::confirm_unasked},
    {"change_two_voters", &raft::planted_faults::change_two_voters},
    {"count_standbys", &raft::planted_faults::count_standbys},
    {"elect_with_standbys", &raft::planted_faults::elect_with_standbys},
    {"elect_with_removed", &raft::planted_faults::elect_with_removed},
    {"lead_without_disk", &raft::planted_faults::lead_without_disk},
    {"forget_matched_cut", &raft::planted_faults::forget_matched_cut},
};

constexpr std::uint64_t most_seeds_of_a_fault = 20'000;

}  // namespace

consensus_harvest run_consensus_seeds(const consensus_run& like, std::uint64_t first, std::uint64_t count, bool twice, unsigned threads,
                                      std::size_t most_failures) {
  consensus_harvest out;
  std::mutex mutex;
  std::atomic<std::uint64_t> next{first};
  std::atomic<bool> enough{false};
  const auto work = [&] {
    for (auto seed = next++; seed < first + count && !enough; seed = next++) {
      auto run = like;
      run.seed = seed;
      auto found = run_consensus(run);
      if (twice && found.rule.empty() && run_consensus(run).hash != found.hash) {
        found.rule = "replay";
        found.sentence = "the second run was another";
      }
      const std::lock_guard lock{mutex};
      for (const auto& [what, times] : found.counts) out.counts[what] += times;
      if (!found.rule.empty()) out.failed.emplace_back(seed, std::move(found));
      if (out.failed.size() >= most_failures) enough = true;
    }
  };
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < threads; ++i) workers.emplace_back(work);
  for (auto& each : workers) each.join();
  std::sort(out.failed.begin(), out.failed.end(), [](const auto& one, const auto& other) { return one.first < other.first; });
  return out;
}

int print_consensus_seeds(std::uint64_t first, std::uint64_t count, bool twice, unsigned threads) {
  const auto found = run_consensus_seeds({}, first, count, twice, threads, 20);
  for (const auto& [seed, why] : found.failed)
    std::printf("seed %llu: %s: %s\n", static_cast<unsigned long long>(seed), why.rule.c_str(), why.sentence.c_str());
  for (const auto& [what, times] : found.counts) std::printf("%s %llu  ", what.c_str(), static_cast<unsigned long long>(times));
  std::printf("\n%llu seeds of consensus, %zu failed\n", static_cast<unsigned long long>(count), found.failed.size());
  return found.failed.empty() ? 0 : 1;
}

int print_consensus_seed(std::uint64_t seed, bool verbose, const std::string& fault_name) {
  consensus_run run;
  run.seed = seed;
  run.transcript = verbose;
  bool known = fault_name.empty();
  for (const auto& [name, which, near] : all_faults) {
    if (fault_name != name) continue;
    run.planted.*which = known = true;
  }
  if (!known) {
    std::fprintf(stderr, "simulate: there is no fault %s of consensus\n", fault_name.c_str());
    return 2;
  }
  const auto found = run_consensus(run);
  for (const auto& line : found.transcript) std::printf("%s\n", line.c_str());
  std::printf("seed %llu: %s%s%s, hash %016llx\n", static_cast<unsigned long long>(seed), found.rule.empty() ? "ok" : found.rule.c_str(),
              found.rule.empty() ? "" : ": ", found.sentence.c_str(), static_cast<unsigned long long>(found.hash));
  return found.rule.empty() ? 0 : 1;
}

int run_planted_consensus(unsigned threads, std::uint64_t from) {
  int missed = 0;
  for (const auto& [name, which, near] : all_faults) {
    consensus_run like;
    like.planted.*which = true;
    consensus_harvest found;
    const auto begin = from == 0 ? near : from;
    auto first = begin;
    for (std::uint64_t count = 16; found.failed.empty() && first < begin + most_seeds_of_a_fault;
         first += count, count = std::min<std::uint64_t>(2 * count, 1'024))
      found = run_consensus_seeds(like, first, count, false, threads, 1);
    if (found.failed.empty()) {
      std::printf("%-28s NOT CAUGHT in %llu seeds\n", name, static_cast<unsigned long long>(most_seeds_of_a_fault));
      ++missed;
      continue;
    }
    const auto& [seed, why] = found.failed.front();
    std::printf("%-28s seed %llu: %s: %s\n", name, static_cast<unsigned long long>(seed), why.rule.c_str(), why.sentence.c_str());
  }
  return missed == 0 ? 0 : 1;
}

}  // namespace fairlead::simulation
