#include "tests/simulation/workers.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <sstream>

namespace fairlead::simulation {

namespace {

/// What the workers share: where each of them is, and how many have failed.
struct shared_state {
  std::atomic<std::uint64_t> failures{0};
  std::atomic<std::uint64_t> at[64] = {};
};

void write_all(int to, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const auto wrote = ::write(to, text.data() + done, text.size() - done);
    if (wrote <= 0) ::_exit(3);
    done += static_cast<std::size_t>(wrote);
  }
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// Lines: `F seed by_checker rule sentence`, `P failpoint n`, `J rule n`, `C n what`, `N seeds events`.
void work(const options& like, std::uint64_t first, std::uint64_t count, std::uint64_t step, bool twice, std::uint64_t most_failures,
          shared_state& shared, std::size_t me, int to) {
  std::uint64_t seeds = 0;
  std::uint64_t events = 0;
  std::map<std::string, std::uint64_t> struck;
  std::map<std::string, std::uint64_t> counts;
  std::map<std::string, std::uint64_t> judged;
  for (std::uint64_t seed = first; seed < first + count && shared.failures < most_failures; seed += step) {
    shared.at[me] = seed;
    auto what = like;
    what.seed = seed;
    auto found = run(what);
    if (twice && run(what).hash != found.hash) {
      found.rule = "not_reproducible";
      found.sentence = "the same seed gave two runs";
      found.by_checker = false;
    }
    ++seeds;
    events += found.events;
    for (const auto& [name, n] : found.struck) struck[name] += n;
    for (const auto& [name, n] : found.counts) counts[name] += n;
    for (const auto& [name, n] : found.judged) judged[name] += n;
    if (found.ok()) continue;
    ++shared.failures;
    write_all(to, "F " + std::to_string(seed) + (found.by_checker ? " 1 " : " 0 ") + found.rule + " " + one_line(found.sentence) + "\n");
  }
  std::string end;
  for (const auto& [name, n] : struck) end += "P " + name + " " + std::to_string(n) + "\n";
  for (const auto& [name, n] : judged) end += "J " + name + " " + std::to_string(n) + "\n";
  for (const auto& [name, n] : counts) end += "C " + std::to_string(n) + " " + name + "\n";
  end += "N " + std::to_string(seeds) + " " + std::to_string(events) + "\n";
  write_all(to, end);
}

void take_line(const std::string& line, harvest& out) {
  std::istringstream in{line};
  char kind = 0;
  in >> kind;
  if (kind == 'F') {
    failed_seed one;
    in >> one.seed >> one.by_checker >> one.rule;
    std::getline(in >> std::ws, one.sentence);
    out.failed.push_back(std::move(one));
  } else if (kind == 'P' || kind == 'J') {
    std::string name;
    std::uint64_t n = 0;
    in >> name >> n;
    (kind == 'P' ? out.struck : out.judged)[name] += n;
  } else if (kind == 'C') {
    std::string name;
    std::uint64_t n = 0;
    in >> n;
    std::getline(in >> std::ws, name);
    out.counts[name] += n;
  } else if (kind == 'N') {
    std::uint64_t seeds = 0;
    std::uint64_t events = 0;
    in >> seeds >> events;
    out.seeds += seeds;
    out.events += events;
  }
}

}  // namespace

harvest run_seeds(const options& like, std::uint64_t first, std::uint64_t count, bool twice, unsigned processes,
                  std::uint64_t most_failures) {
  processes = std::clamp(processes, 1U, 64U);
  auto* memory = ::mmap(nullptr, sizeof(shared_state), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc{};
  auto* shared = new (memory) shared_state;
  std::fflush(nullptr);
  struct worker {
    pid_t id;
    FILE* from;
  };
  std::vector<worker> workers;
  for (unsigned i = 0; i < processes; ++i) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::bad_alloc{};
    const auto id = ::fork();
    if (id < 0) throw std::bad_alloc{};
    if (id == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody would read what it finds
      ::close(ends[0]);
      work(like, first + i, count > i ? count - i : 0, processes, twice, most_failures, *shared, i, ends[1]);
      ::_exit(0);
    }
    ::close(ends[1]);
    workers.push_back({id, ::fdopen(ends[0], "r")});
  }
  harvest out;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    char* line = nullptr;
    std::size_t room = 0;
    while (::getline(&line, &room, workers[i].from) > 0) take_line(line, out);
    std::free(line);
    std::fclose(workers[i].from);
    int how = 0;
    ::waitpid(workers[i].id, &how, 0);
    if (how == 0) continue;
    const auto why = WIFSIGNALED(how) ? "signal " + std::to_string(WTERMSIG(how)) : "exit code " + std::to_string(WEXITSTATUS(how));
    out.failed.push_back({shared->at[i], "died", "the process that ran it died of " + why, false});
  }
  ::munmap(memory, sizeof(shared_state));
  std::sort(out.failed.begin(), out.failed.end(), [](const failed_seed& a, const failed_seed& b) { return a.seed < b.seed; });
  return out;
}

}  // namespace fairlead::simulation
