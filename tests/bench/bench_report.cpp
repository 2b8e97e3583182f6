#include "tests/bench/bench_report.hpp"

#include <array>
#include <cstdarg>
#include <cstdio>

namespace fairlead::bench {

namespace {

constexpr double steps_a_task = 3;

}  // namespace

std::string format(const char* pattern, ...) {
  std::array<char, 512> line{};
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(line.data(), line.size(), pattern, arguments);
  va_end(arguments);
  return line.data();
}

std::string to_json(const floor_costs& with, const std::vector<load_result>& runs) {
  auto out = format(R"({"floor":{"fdatasync_p50_us":%.1f,"replay_tasks_per_s":%.0f,"replay_p50_us":%.1f},"runs":[)", with.fdatasync_p50_us,
                    with.replay_tasks_per_s, with.replay_p50_us);
  bool first = true;
  for (const auto& run : runs) {
    if (!first) out += ',';
    first = false;
    out += format(
        R"({"agents":"native","in_flight":%u,"tasks_per_s":%.0f,"steps_per_s":%.0f,"p50_us":%.1f,"p99_us":%.1f,"cpu_s":%.2f,"rss_anon_mb":%.1f,"bytes_per_task":%.0f})",
        run.in_flight, run.tasks_per_s, run.tasks_per_s * steps_a_task, run.p50_us, run.p99_us, run.cpu_s, run.rss_anon_mb,
        run.bytes_per_task);
  }
  return out + "]}";
}

std::string to_table(const floor_costs& with, const std::vector<load_result>& runs) {
  std::string out = "order workload: 3 sequential steps, 200 bytes in, 100 bytes out, native agents, durable\n\n";
  out += " in flight   tasks/s   steps/s     p50 us     p99 us    CPU s  RssAnon MB  bytes/task  key ops/task\n";
  for (const auto& run : runs)
    out += format("%10u %9.0f %9.0f %10.0f %10.0f %8.2f %11.1f %11.0f %13.1f\n", run.in_flight, run.tasks_per_s,
                  run.tasks_per_s * steps_a_task, run.p50_us, run.p99_us, run.cpu_s, run.rss_anon_mb, run.bytes_per_task,
                  run.key_operations_per_task);
  out += format(
      "\nfloor: fdatasync of 4 KiB p50 %.0f us; the same batches by a bare loop over LMDB: %.0f tasks/s, p50 of one task's commits %.0f "
      "us\n",
      with.fdatasync_p50_us, with.replay_tasks_per_s, with.replay_p50_us);
  if (!runs.empty() && with.replay_tasks_per_s > 0)
    out += format("ratios: %.0f %% of the replay's tasks/s at %u in flight; p50 at 1 in flight %.2f times the replay's\n",
                  100 * runs.back().tasks_per_s / with.replay_tasks_per_s, runs.back().in_flight,
                  with.replay_p50_us > 0 ? runs.front().p50_us / with.replay_p50_us : 0);
  return out;
}

}  // namespace fairlead::bench
