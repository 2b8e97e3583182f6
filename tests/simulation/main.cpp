// simulate --seeds N [--from S]   runs seeds S … S+N-1 and ends with `N seeds, F failed`
// simulate --seed S [--verbose]   one run; with --verbose its transcript
// simulate --replicated …         the same with several nodes for each shard, not in one run of fifty
// simulate --planted [--from S]   each planted fault until the checker catches it, from a seed near to where it was seen once, or from S
// with --consensus                the same of the replicas of one shard alone, without shells

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/simulation/consensus/runs.hpp"
#include "tests/simulation/coverage.hpp"
#include "tests/simulation/planted.hpp"
#include "tests/simulation/shrink.hpp"
#include "tests/simulation/workers.hpp"
#include "tests/simulation/world/failpoints.hpp"

namespace fairlead::simulation {
namespace {

constexpr std::uint64_t seeds_that_strike_everywhere = 2'000;  // fewer need not hit every failpoint
constexpr std::uint64_t seeds_that_strike_replicas = 10'000;

struct arguments {
  options run;
  std::optional<std::uint64_t> seeds;
  std::optional<std::uint64_t> from;
  bool one = false;
  bool planted = false;
  bool consensus = false;
  std::string fault;  // of consensus
  bool verbose = false;
  bool twice = false;
  bool shrink = true;
  unsigned processes = std::max(1U, std::thread::hardware_concurrency());
};

int usage() {
  std::fprintf(stderr,
               "Usage: simulate --seeds N [--from S] [--jobs J] [--twice] [--no-shrink] [--restores] [--items] [--replicated]\n"
               "       simulate --seed S [--verbose] [--without CONCERN]… [--tasks N] [--steps N] [--cron-jobs N] [--faults N] [--orders "
               "N] [--events N] [--plant FAULT] [--restores] [--items] [--replicated]\n"
               "       simulate --planted [--from S]\n"
               "       simulate --consensus --seeds N [--from S] [--jobs J] [--twice]\n"
               "       simulate --consensus --seed S [--verbose] [--plant FAULT]\n"
               "       simulate --consensus --planted [--from S]\n");
  return 2;
}

std::uint64_t number(const char* text) {
  char* end = nullptr;
  const auto value = std::strtoull(text, &end, 10);
  if (end == text || *end != '\0') throw std::invalid_argument{std::string{text} + " is not a number"};
  return value;
}

void switch_off(options& run, const std::string& name) {
  for (unsigned i = 0; i < static_cast<unsigned>(concern::count); ++i) {
    if (name != concern_name(static_cast<concern>(i))) continue;
    run.concerns &= ~(1ULL << i);
    return;
  }
  throw std::invalid_argument{"there is no concern " + name};
}

arguments read(int count, char** values) {
  arguments out;
  for (int i = 1; i < count; ++i) {
    const std::string name = values[i];
    const auto value = [&] {
      if (i + 1 >= count) throw std::invalid_argument{name + " needs a value"};
      return values[++i];
    };
    if (name == "--seeds")
      out.seeds = number(value());
    else if (name == "--from")
      out.from = number(value());
    else if (name == "--jobs")
      out.processes = static_cast<unsigned>(number(value()));
    else if (name == "--seed")
      out.one = true, out.run.seed = number(value());
    else if (name == "--verbose")
      out.verbose = true;
    else if (name == "--planted")
      out.planted = true;
    else if (name == "--consensus")
      out.consensus = true;
    else if (name == "--twice")
      out.twice = true;
    else if (name == "--restores")
      out.run.always_restores = true;
    else if (name == "--items")
      out.run.always_items = true;
    else if (name == "--replicated")
      out.run.always_replicated = true;
    else if (name == "--no-shrink")
      out.shrink = false;
    else if (name == "--without")
      switch_off(out.run, value());
    else if (name == "--tasks")
      out.run.most_tasks = static_cast<int>(number(value()));
    else if (name == "--steps")
      out.run.most_steps = static_cast<int>(number(value()));
    else if (name == "--cron-jobs")
      out.run.most_jobs = static_cast<int>(number(value()));
    else if (name == "--faults")
      out.run.most_faults = number(value());
    else if (name == "--orders")
      out.run.most_orders = number(value());
    else if (name == "--events")
      out.run.most_events = number(value());
    else if (name == "--plant")
      out.fault = value();
    else
      throw std::invalid_argument{"there is no option " + name};
  }
  if ((out.one ? 1 : 0) + (out.seeds ? 1 : 0) + (out.planted ? 1 : 0) != 1) throw std::invalid_argument{"say --seeds, --seed or --planted"};
  if (!out.consensus && !out.fault.empty()) plant(out.run.planted, out.fault);
  return out;
}

void print_transcript(const verdict& of) {
  for (const auto& line : of.transcript) std::printf("%s\n", line.c_str());
}

int run_one(const arguments& what) {
  auto once = what.run;
  once.transcript = what.verbose;
  const auto found = run(once);
  if (what.verbose) print_transcript(found);
  std::printf("seed %llu: %s%s%s, hash %016llx, %llu events, %llu faults, %lld simulated ms\n", static_cast<unsigned long long>(once.seed),
              found.ok() ? "ok" : found.rule.c_str(), found.ok() ? "" : ": ", found.sentence.c_str(),
              static_cast<unsigned long long>(found.hash), static_cast<unsigned long long>(found.events),
              static_cast<unsigned long long>(found.faults), static_cast<long long>(found.simulated_ms));
  return found.ok() ? 0 : 1;
}

void show_failure(const arguments& what, const failed_seed& failed, bool transcript) {
  std::printf("seed %llu: %s: %s\n", static_cast<unsigned long long>(failed.seed), failed.rule.c_str(), failed.sentence.c_str());
  if (!transcript || failed.rule == "died" || failed.rule == "not_reproducible") return;
  auto failing = what.run;
  failing.seed = failed.seed;
  auto small = shrink(failing);
  small.transcript = true;
  const auto found = run(small);
  print_transcript(found);
  std::printf("shrunk: simulate %s --verbose\n%s: %s\n\n", command_line(small).c_str(), found.rule.c_str(), found.sentence.c_str());
}

int run_of_consensus(const arguments& what) {
  if (what.one) return print_consensus_seed(what.run.seed, what.verbose, what.fault);
  if (what.planted) return run_planted_consensus(what.processes, what.from.value_or(0));
  return print_consensus_seeds(what.from.value_or(1), *what.seeds, what.twice, what.processes);
}

int run_many(const arguments& what) {
  constexpr std::uint64_t most_failures = 500;
  const auto found = run_seeds(what.run, what.from.value_or(1), *what.seeds, what.twice, what.processes, most_failures);
  for (std::size_t i = 0; i < found.failed.size() && i < 100; ++i) show_failure(what, found.failed[i], what.shrink && i == 0);
  std::map<std::string, std::uint64_t> by_rule;
  for (const auto& one : found.failed) ++by_rule[one.rule];
  for (const auto& [rule, n] : by_rule) std::printf("%8llu failed by %s\n", static_cast<unsigned long long>(n), rule.c_str());
  for (const auto& [name, n] : found.counts) std::printf("%10llu %s\n", static_cast<unsigned long long>(n), name.c_str());
  for (const auto& [rule, n] : found.judged) std::printf("%10llu asked of %s\n", static_cast<unsigned long long>(n), rule.c_str());
  std::size_t missed = 0;
  for (const auto& name : failpoint_names) {
    const auto struck = found.struck.find(std::string{name});
    std::printf("%10llu struck at %s\n", static_cast<unsigned long long>(struck == found.struck.end() ? 0 : struck->second), name.data());
    // Copies of the state are made of shards with replicas alone.
    if (struck == found.struck.end() && (what.run.always_replicated || !name.starts_with("copy."))) ++missed;
  }
  std::printf("%zu of %zu failpoints struck, %llu events\n", failpoint_count - missed, failpoint_count,
              static_cast<unsigned long long>(found.events));
  const bool vacuous =
      missed != 0 && *what.seeds >= (what.run.always_replicated ? seeds_that_strike_replicas : seeds_that_strike_everywhere);
  if (vacuous) std::printf("the run shows too little: a failpoint was never struck\n");
  const auto missing = what.run.always_replicated && *what.seeds >= seeds_that_cover_replicas ? not_covered(found.counts, found.judged)
                                                                                              : std::vector<std::string>{};
  for (const auto& one : missing) std::printf("the run shows too little: %s\n", one.c_str());
  std::printf("%llu seeds%s, %zu failed\n", static_cast<unsigned long long>(found.seeds),
              what.run.always_replicated ? " with replicas" : "", found.failed.size());
  return found.failed.empty() && !vacuous && missing.empty() ? 0 : 1;
}

}  // namespace
}  // namespace fairlead::simulation

int main(int count, char** values) {
  using namespace fairlead::simulation;
  arguments what;
  try {
    what = read(count, values);
  } catch (const std::invalid_argument& wrong) {
    std::fprintf(stderr, "simulate: %s\n", wrong.what());
    return usage();
  }
  if (what.consensus) return run_of_consensus(what);
  if (what.one) return run_one(what);
  if (what.planted) return run_planted(what.processes, what.from.value_or(0));
  return run_many(what);
}
