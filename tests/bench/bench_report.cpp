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

namespace {

std::string rows_as_json(const char* agents, const std::vector<load_result>& runs) {
  std::string out;
  for (const auto& run : runs) {
    if (!out.empty()) out += ',';
    out += format(
        R"({"agents":"%s","in_flight":%u,"tasks_per_s":%.0f,"steps_per_s":%.0f,"p50_us":%.1f,"p99_us":%.1f,"cpu_s":%.2f,"rss_anon_mb":%.1f,"bytes_per_task":%.0f,"commit_p50_us":%.0f,"commit_p99_us":%.0f,"most_unapplied_mb":%.1f})",
        agents, run.in_flight, run.tasks_per_s, run.tasks_per_s * steps_a_task, run.p50_us, run.p99_us, run.cpu_s, run.rss_anon_mb,
        run.bytes_per_task, run.commit_p50_us, run.commit_p99_us, run.most_unapplied_mb);
  }
  return out;
}

std::string stores_as_json(const std::vector<stores_compared>& all) {
  std::string out;
  for (const auto& one : all) {
    if (!out.empty()) out += ',';
    out += format(
        R"({"in_flight":%u,"lmdb":{"tasks_per_s":%.0f,"commit_p50_us":%.0f,"commit_p99_us":%.0f},"journal":{"tasks_per_s":%.0f,"commit_p50_us":%.0f,"commit_p99_us":%.0f,"group_bytes":%.0f,"write_p50_us":%.0f,"apply_p50_us":%.0f,"apply_p99_us":%.0f,"most_unapplied_bytes":%.0f}})",
        one.in_flight, one.lmdb.tasks_per_s, one.lmdb.commit_p50_us, one.lmdb.commit_p99_us, one.journal.tasks_per_s,
        one.journal.commit_p50_us, one.journal.commit_p99_us, one.journal.group_bytes, one.journal.write_p50_us, one.journal.apply_p50_us,
        one.journal.apply_p99_us, one.journal.most_unapplied_bytes);
  }
  return out;
}

std::string stores_as_table(const std::vector<stores_compared>& all) {
  std::string out =
      "\nthe store alone       LMDB: tasks/s  commit p50 us    p99  journal: tasks/s  commit p50 us    p99  bytes/write  apply p50 ms    "
      "p99  "
      "MB not applied\n";
  for (const auto& one : all)
    out += format("%10u in flight %14.0f %14.0f %6.0f %17.0f %14.0f %6.0f %12.0f %13.1f %6.1f %15.1f\n", one.in_flight,
                  one.lmdb.tasks_per_s, one.lmdb.commit_p50_us, one.lmdb.commit_p99_us, one.journal.tasks_per_s, one.journal.commit_p50_us,
                  one.journal.commit_p99_us, one.journal.group_bytes, one.journal.apply_p50_us / 1e3, one.journal.apply_p99_us / 1e3,
                  one.journal.most_unapplied_bytes / 1e6);
  return out;
}

std::string rows_as_table(const char* agents, const std::vector<load_result>& runs) {
  auto out = format("order workload: 3 sequential steps, 200 bytes in, 100 bytes out, %s agents, durable\n\n", agents);
  out +=
      " in flight   tasks/s   steps/s     p50 us     p99 us    CPU s  RssAnon MB  bytes/task  key ops/task  commit p50 us   p99 us  MB not "
      "applied\n";
  for (const auto& run : runs)
    out += format("%10u %9.0f %9.0f %10.0f %10.0f %8.2f %11.1f %11.0f %13.1f %14.0f %8.0f %15.1f\n", run.in_flight, run.tasks_per_s,
                  run.tasks_per_s * steps_a_task, run.p50_us, run.p99_us, run.cpu_s, run.rss_anon_mb, run.bytes_per_task,
                  run.key_operations_per_task, run.commit_p50_us, run.commit_p99_us, run.most_unapplied_mb);
  return out;
}

}  // namespace

std::string network_to_text(std::uint32_t in_flight, double here_per_s, double there_per_s, double here_p50_us, double there_p50_us) {
  return format(
      "%u in flight: %.0f tasks/s with the agent in this process, %.0f with it on another node (%.0f %%); p50 %.0f and %.0f us: the "
      "network "
      "adds %.0f us a step",
      in_flight, here_per_s, there_per_s, 100 * there_per_s / here_per_s, here_p50_us, there_p50_us,
      (there_p50_us - here_p50_us) / steps_a_task);
}

std::string replicated_to_text(const remote_runs& one, const remote_runs& three) {
  std::string out;
  for (std::size_t i = 0; i < one.loads.size(); ++i) {
    const auto& here = one.loads[i];
    const auto& there = three.loads[i];
    out += format(
        "%u in flight: %.0f tasks/s on one node, %.0f on three (%.0f %%); p50 %.0f and %.0f us, p99 %.0f and %.0f us; CPU a task %.0f us, "
        "%.0f us of the leader and %.0f us of a follower\n",
        here.in_flight, here.tasks_per_s, there.tasks_per_s, 100 * there.tasks_per_s / here.tasks_per_s, here.p50_us, there.p50_us,
        here.p99_us, there.p99_us, here.leader_cpu_us, there.leader_cpu_us, there.follower_cpu_us);
  }
  return out + format("idle: %.2f %% of a core on one node, %.2f %% of the leader and %.2f %% of a follower", one.idle_leader_percent,
                      three.idle_leader_percent, three.idle_follower_percent);
}

std::string to_json(const floor_costs& with, const order_runs& runs) {
  auto out =
      format(R"({"floor":{"fdatasync_p50_us":%.1f,"replay_tasks_per_s":%.0f,"replay_p50_us":%.1f,"bare_requests_per_s":%.0f},"runs":[)",
             with.fdatasync_p50_us, with.replay_tasks_per_s, with.replay_p50_us, runs.http.bare_requests_per_s);
  out += rows_as_json("native", runs.native);
  if (!runs.http.runs.empty()) out += ',' + rows_as_json("http", runs.http.runs);
  return out + "],\"on_lmdb\":[" + rows_as_json("native", runs.on_lmdb) + "],\"stores\":[" + stores_as_json(runs.stores) + "]}";
}

std::string to_table(const floor_costs& with, const order_runs& runs) {
  const auto& native = runs.native;
  const auto& http = runs.http;
  auto out = rows_as_table("native", native);
  if (!runs.on_lmdb.empty()) out += "\nthe same without a journal\n" + rows_as_table("native", runs.on_lmdb);
  out += stores_as_table(runs.stores);
  out += format(
      "\nfloor: fdatasync of 4 KiB p50 %.0f us; the same batches by a bare loop over LMDB: %.0f tasks/s, p50 of one task's commits %.0f "
      "us\n",
      with.fdatasync_p50_us, with.replay_tasks_per_s, with.replay_p50_us);
  if (!native.empty() && with.replay_tasks_per_s > 0)
    out += format("ratios: %.0f %% of the replay's tasks/s at %u in flight; p50 at 1 in flight %.2f times the replay's\n",
                  100 * native.back().tasks_per_s / with.replay_tasks_per_s, native.back().in_flight,
                  with.replay_p50_us > 0 ? native.front().p50_us / with.replay_p50_us : 0);
  if (http.runs.empty()) return out;
  out += '\n' + rows_as_table("http", http.runs);
  out += format(
      "\npeer: a bare loop over libcurl against the same server: %.0f requests/s\nratio: %.0f %% of its requests/s at %u in flight\n",
      http.bare_requests_per_s, 100 * http.runs.back().tasks_per_s * steps_a_task / http.bare_requests_per_s, http.runs.back().in_flight);
  return out;
}

}  // namespace fairlead::bench
