// `./dev bench`: what a task costs, beside what the disk and LMDB cost alone. Never a test: it asserts nothing about time.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>

#include "app/expressions/worker.hpp"
#include "tests/bench/api/api.hpp"
#include "tests/bench/api/workers.hpp"
#include "tests/bench/bench_cron.hpp"
#include "tests/bench/bench_due.hpp"
#include "tests/bench/bench_http.hpp"
#include "tests/bench/bench_http_server.hpp"
#include "tests/bench/bench_load.hpp"
#include "tests/bench/bench_node.hpp"
#include "tests/bench/bench_replay.hpp"
#include "tests/bench/bench_report.hpp"
#include "tests/bench/bench_store.hpp"
#include "tests/bench/items/items.hpp"
#include "tests/bench/replicated/replicated.hpp"

namespace {

using namespace fairlead::bench;

struct choices {
  std::string directory = "build/bench";
  bool json = false;
  std::uint64_t finished = 0;
  std::uint64_t live = 0;
  std::vector<std::uint32_t> in_flight = {1, 64, 512, 2000};
  double scale = 1;
  std::uint64_t pending = 0;
  bool due = false;
  bool flow = false;
  bool for_each = false;
  bool http = false;
  bool slow_http = false;
  bool network = false;
  bool replicated = false;
  bool console = false;
  bool cron = false;
  bool store = false;
  bool journal = false;
  bool api = false;
  bool workers = false;
  std::string only;
};

std::uint64_t tasks_for(std::uint32_t in_flight, double scale) {
  const auto tasks = in_flight == 1 ? 2'000 : in_flight <= 64 ? 60'000 : in_flight <= 512 ? 150'000 : 300'000;
  return static_cast<std::uint64_t>(tasks * scale);
}

/// The same workload through http agents, before a server of one thread.
http_runs run_through_http(const choices& chosen, const bench_http_server& server) {
  http_runs out;
  constexpr std::uint32_t at_once = 64;
  out.bare_requests_per_s = bare_requests_per_s(server.port(), static_cast<std::uint64_t>(100'000 * chosen.scale), at_once);
  for (const auto in_flight : chosen.in_flight) {
    load_options options;
    options.directory = chosen.directory + "/store";
    options.http_port = server.port();
    options.in_flight = in_flight;
    options.tasks = std::max<std::uint64_t>(tasks_for(in_flight, chosen.scale) / 10, in_flight);
    options.warm_up = std::max<std::uint64_t>(options.tasks / 10, 100);
    out.runs.push_back(run_load(options));
    std::fprintf(stderr, "%u in flight through http agents: %.0f tasks/s\n", in_flight, out.runs.back().tasks_per_s);
  }
  return out;
}

int run(const choices& chosen) {
  const bench_http_server server{0};  // a process of its own, so before there are threads
  floor_costs with;
  with.fdatasync_p50_us = fdatasync_p50_us(chosen.directory);
  order_runs runs;
  for (const auto in_flight : chosen.in_flight) {
    load_options options;
    options.directory = chosen.directory + "/store";
    options.in_flight = in_flight;
    options.tasks = tasks_for(in_flight, chosen.scale);
    options.warm_up = std::max<std::uint64_t>(options.tasks / 10, 100);
    options.seed_finished = chosen.finished;
    options.seed_live = chosen.live;
    runs.native.push_back(run_load(options));
    const auto& behind_journal = runs.native.back();
    std::fprintf(stderr, "%u in flight: %.0f tasks/s (open %.2f s)\n", in_flight, behind_journal.tasks_per_s, behind_journal.open_s);
    if (chosen.finished + chosen.live == 0) {
      options.lmdb_only = true;
      runs.on_lmdb.push_back(run_load(options));
      options.lmdb_only = false;
    }
    if (in_flight != 1 && in_flight != chosen.in_flight.back()) continue;
    // The recording run is one of its own, so that keeping the batches costs the measured one nothing.
    options.record = true;
    options.tasks = in_flight == 1 ? 1'000 : options.tasks / 3;
    options.warm_up = in_flight == 1 ? 1 : options.warm_up / 3;
    options.seed_finished = 0;
    options.seed_live = 0;
    auto recorded = run_load(options);
    const auto total = options.tasks + options.warm_up;
    runs.stores.push_back({in_flight, commit_to_lmdb(recorded.groups, total, options.directory),
                           commit_to_journal(recorded.groups, total, options.directory)});
    std::filesystem::remove_all(options.directory);
    if (in_flight == 1) {
      recorded.groups.erase(recorded.groups.begin());  // the deployment
      const auto again = replay(recorded.groups, total, recorded.groups.size() / total, chosen.directory + "/replay");
      with.replay_p50_us = again.p50_us;
    } else {
      with.replay_tasks_per_s = replay(recorded.groups, total, 0, chosen.directory + "/replay").tasks_per_s;
    }
    std::filesystem::remove_all(chosen.directory + "/replay");
  }
  runs.http = run_through_http(chosen, server);
  std::filesystem::remove_all(chosen.directory + "/store");
  std::puts((chosen.json ? to_json(with, runs) : to_table(with, runs)).c_str());
  return 0;
}

int run_standing_still(const choices& chosen) {
  constexpr std::chrono::seconds idle{10};
  const auto measured = run_standing(chosen.directory + "/store", chosen.pending, idle);
  std::printf("%llu tasks pending: RssAnon %.1f MB (%.1f MB before); idle for %lld s: %.2f %% of a core\n",
              static_cast<unsigned long long>(chosen.pending), measured.pending_rss_anon_mb, measured.empty_rss_anon_mb,
              static_cast<long long>(idle.count()), measured.idle_cpu_percent);
  std::filesystem::remove_all(chosen.directory + "/store");
  return 0;
}

int run_due(const choices& chosen) {
  const auto scaled = [&](double count) { return static_cast<std::uint64_t>(count * chosen.scale); };
  const auto directory = chosen.directory + "/store";
  std::vector<quiet_result> quiet;
  for (const auto waiting : {scaled(1'000), scaled(1'000'000)}) quiet.push_back(run_quiet(directory, waiting));
  const auto burst = run_burst(directory, scaled(100'000));
  std::filesystem::remove_all(directory);
  std::puts((chosen.json ? due_to_json(quiet, burst) : due_to_table(quiet, burst)).c_str());
  return 0;
}

void print_cost(std::uint32_t in_flight, const char* store, const store_cost& cost) {
  std::printf("%u in flight, %s: %.0f tasks/s, a commit p50 %.0f us, p99 %.0f us, %.1f us of CPU and %.0f bytes a task\n", in_flight, store,
              cost.tasks_per_s, cost.commit_p50_us, cost.commit_p99_us, cost.cpu_us_per_task, cost.bytes_per_task);
}

/// The batches of the order workload, committed to LMDB at once and through the journal, in turns.
int run_store_alone(const choices& chosen) {
  constexpr int rounds = 3;
  for (const auto in_flight : chosen.in_flight) {
    load_options options;
    options.directory = chosen.directory + "/store";
    options.in_flight = in_flight;
    options.tasks = tasks_for(in_flight, chosen.scale) / 3;
    options.warm_up = std::max<std::uint64_t>(options.tasks / 10, 100);
    options.record = true;
    const auto recorded = run_load(options);
    const auto tasks = options.tasks + options.warm_up;
    for (int round = 0; round < rounds; ++round) {
      print_cost(in_flight, "LMDB   ", commit_to_lmdb(recorded.groups, tasks, options.directory));
      const auto behind = commit_to_journal(recorded.groups, tasks, options.directory);
      print_cost(in_flight, "journal", behind);
      const auto apart = commit_to_journal(recorded.groups, tasks, options.directory, false);
      print_cost(in_flight, "journal, not applied", apart);
      std::printf("%u in flight, a start that finds %.0f MB not applied: %.2f s\n", in_flight, apart.recovered_bytes / 1e6,
                  apart.recovery_s);
      std::printf(
          "%u in flight, journal: a write of %.0f bytes, alone p50 %.0f us; an apply p50 %.1f ms, p99 %.1f ms; at most %.1f MB not "
          "applied\n",
          in_flight, behind.group_bytes, behind.write_p50_us, behind.apply_p50_us / 1e3, behind.apply_p99_us / 1e3,
          behind.most_unapplied_bytes / 1e6);
      std::fflush(stdout);
    }
  }
  std::filesystem::remove_all(chosen.directory + "/store");
  return 0;
}

/// What a step costs of a task of 100 steps, beside one of the order's three, in turns.
int run_flow(const choices& chosen) {
  constexpr int rounds = 5;
  constexpr std::uint32_t flow_steps = 100, order_steps = 3;
  for (const auto in_flight : chosen.in_flight) {
    std::vector<double> slower, more_cpu, more_bytes;
    for (int round = 0; round < rounds; ++round) {
      double step_us[2], cpu_us[2], bytes[2];
      for (const bool flow : {false, true}) {
        const auto steps = flow ? flow_steps : order_steps;
        load_options options;
        options.directory = chosen.directory + "/store";
        options.in_flight = in_flight;
        options.flow_steps = flow ? flow_steps : 0;
        options.tasks = std::max<std::uint64_t>(tasks_for(in_flight, chosen.scale) * order_steps / steps / 3, in_flight);
        options.warm_up = std::max<std::uint64_t>(options.tasks / 10, 10);
        const auto measured = run_load(options);
        const auto counted = static_cast<double>(options.tasks) * steps;
        step_us[flow] = 1e6 / (measured.tasks_per_s * steps);
        cpu_us[flow] = measured.cpu_s * 1e6 / counted;
        bytes[flow] = measured.bytes_per_task / steps;
        std::printf("%u in flight, tasks of %u steps: %.1f us a step, %.1f us of CPU, %.0f bytes written\n", in_flight, steps,
                    step_us[flow], cpu_us[flow], bytes[flow]);
        std::fflush(stdout);
      }
      slower.push_back(step_us[1] / step_us[0]);
      more_cpu.push_back(cpu_us[1] / cpu_us[0]);
      more_bytes.push_back(bytes[1] / bytes[0]);
    }
    std::printf("%u in flight, a step of a task of %u to one of %u, medians of %d pairs: time %.2f, CPU %.2f, bytes %.2f\n", in_flight,
                flow_steps, order_steps, rounds, percentile(slower, 0.5), percentile(more_cpu, 0.5), percentile(more_bytes, 0.5));
  }
  std::filesystem::remove_all(chosen.directory + "/store");
  return 0;
}

/// Orders at a fixed rate, alone and beside a list of 10,000 items.
int run_for_each(const choices& chosen) {
  constexpr int rounds = 3;
  std::vector<double> p50, p99;
  for (int round = 0; round < rounds; ++round) {
    items_plan plan;
    plan.directory = chosen.directory + "/store";
    plan.items = std::clamp(static_cast<std::uint32_t>(10'000 * chosen.scale), 100U, 10'000U);
    const auto measured = run_items(plan);
    p50.push_back(measured.beside_p50_us / measured.alone_p50_us);
    p99.push_back(measured.beside_p99_us / measured.alone_p99_us);
    std::printf(
        "%u items, %u at once: %.1f s, an item %.0f us, %.0f us of CPU, %.0f bytes and %.1f keys written; %u orders/s: alone p50 %.0f us, "
        "p99 %.0f us; beside it (%llu orders) p50 %.0f us, p99 %.0f us\n",
        plan.items, plan.at_once, measured.list_s, measured.list_s * 1e6 / plan.items, measured.item_cpu_us, measured.item_bytes,
        measured.item_operations, plan.orders_per_s, measured.alone_p50_us, measured.alone_p99_us,
        static_cast<unsigned long long>(measured.orders_beside), measured.beside_p50_us, measured.beside_p99_us);
    std::fflush(stdout);
  }
  std::printf("orders beside the list to orders alone, medians of %d rounds: p50 %.2f, p99 %.2f\n", rounds, percentile(p50, 0.5),
              percentile(p99, 0.5));
  std::filesystem::remove_all(chosen.directory + "/store");
  return 0;
}

int run_http_agent(const choices& chosen) {
  for (const std::uint32_t at_once : {1U, 64U, 512U}) {
    const auto requests = static_cast<std::uint64_t>((at_once == 1 ? 20'000 : 100'000) * chosen.scale);
    std::puts(http_to_text(run_http(requests, at_once)).c_str());
  }
  return 0;
}

int run_slow_http_agent(const choices& chosen) {
  constexpr int answer_after_s = 20;
  std::puts(slow_http_to_text(run_slow_http(static_cast<std::uint32_t>(10'000 * chosen.scale), answer_after_s)).c_str());
  return 0;
}

/// The order workload with its agent in this process and on another node, in turns.
int run_over_network(const choices& chosen) {
  constexpr int rounds = 3;
  for (const auto in_flight : {chosen.in_flight.front(), chosen.in_flight.back()}) {
    std::vector<double> here_per_s, there_per_s, here_us, there_us;
    for (int round = 0; round < rounds; ++round) {
      for (const bool elsewhere : {false, true}) {
        load_options options;
        options.directory = chosen.directory + "/store";
        options.in_flight = in_flight;
        options.agent_elsewhere = elsewhere;
        options.tasks = std::max<std::uint64_t>(tasks_for(in_flight, chosen.scale) / 3, in_flight);
        options.warm_up = std::max<std::uint64_t>(options.tasks / 10, 100);
        const auto measured = run_load(options);
        (elsewhere ? there_per_s : here_per_s).push_back(measured.tasks_per_s);
        (elsewhere ? there_us : here_us).push_back(measured.p50_us);
      }
    }
    std::puts(network_to_text(in_flight, percentile(here_per_s, 0.5), percentile(there_per_s, 0.5), percentile(here_us, 0.5),
                              percentile(there_us, 0.5))
                  .c_str());
  }
  std::filesystem::remove_all(chosen.directory + "/store");
  return 0;
}

/// The order workload on one node and on three that hold the same shard.
int run_on_replicas(const choices& chosen) {
  const std::vector<std::uint32_t> in_flight{chosen.in_flight.front(), chosen.in_flight.back()};
  const auto one = run_remote(chosen.directory + "/nodes", 1, in_flight, chosen.scale);
  const auto three = run_remote(chosen.directory + "/nodes", 3, in_flight, chosen.scale);
  std::puts(replicated_to_text(one, three).c_str());
  return 0;
}

/// One task after the other, beside the bare writes that its commits make to the journal.
void compare_with_own_writes(const std::string& directory, std::uint64_t tasks) {
  constexpr int rounds = 5;
  std::vector<double> above;
  for (int round = 0; round < rounds; ++round) {
    load_options options;
    options.directory = directory;
    options.tasks = tasks;
    options.record = true;
    const auto node = run_load(options);
    const auto alone = commit_to_journal(node.groups, tasks + options.warm_up, directory);
    above.push_back(node.p50_us - node.commits_per_task * alone.write_p50_us);
    std::printf("1 in flight: a task p50 %.0f us; its %.1f writes of %.0f bytes alone %.0f us each: %.0f us above them\n", node.p50_us,
                node.commits_per_task, alone.group_bytes, alone.write_p50_us, above.back());
    std::fflush(stdout);
  }
  std::printf("1 in flight, median of %d: %.0f us above its own writes\n", rounds, percentile(above, 0.5));
}

/// The order workload on a node whose commits are transactions of LMDB, and on one behind a journal, in turns.
int run_both_stores(const choices& chosen) {
  constexpr int rounds = 5;
  for (const auto in_flight : chosen.in_flight) {
    std::vector<double> of_tasks, of_p50, of_cpu;
    for (int round = 0; round < rounds; ++round) {
      load_result measured[2];
      for (const bool journal : {false, true}) {
        load_options options;
        options.directory = chosen.directory + "/store";
        options.in_flight = in_flight;
        options.lmdb_only = !journal;
        options.tasks = std::max<std::uint64_t>(tasks_for(in_flight, chosen.scale) / 2, in_flight);
        options.warm_up = std::max<std::uint64_t>(options.tasks / 10, 100);
        options.seed_finished = chosen.finished;
        options.seed_live = chosen.live;
        auto& one = measured[journal ? 1 : 0] = run_load(options);
        std::printf("%u in flight, %s: %.0f tasks/s, a task p50 %.0f us, p99 %.0f us, %.1f us of CPU, %.0f bytes written; %.0f MB\n",
                    in_flight, journal ? "journal" : "LMDB   ", one.tasks_per_s, one.p50_us, one.p99_us,
                    one.cpu_s * 1e6 / static_cast<double>(options.tasks), one.bytes_per_task, one.rss_anon_mb);
        std::printf("%u in flight, %s: %.1f commits a task, p50 %.0f us, p99 %.0f us; at most %.1f MB not applied\n", in_flight,
                    journal ? "journal" : "LMDB   ", one.commits_per_task, one.commit_p50_us, one.commit_p99_us, one.most_unapplied_mb);
        std::fflush(stdout);
      }
      of_tasks.push_back(measured[1].tasks_per_s / measured[0].tasks_per_s);
      of_p50.push_back(measured[1].p50_us / measured[0].p50_us);
      of_cpu.push_back(measured[1].cpu_s / measured[0].cpu_s);
    }
    std::printf("%u in flight, journal to LMDB, medians of %d pairs: tasks/s %.2f, p50 %.2f, CPU %.2f\n", in_flight, rounds,
                percentile(of_tasks, 0.5), percentile(of_p50, 0.5), percentile(of_cpu, 0.5));
    if (in_flight == 1) compare_with_own_writes(chosen.directory + "/store", tasks_for(1, chosen.scale) / 2);
  }
  std::filesystem::remove_all(chosen.directory + "/store");
  return 0;
}

/// The order workload with nobody looking and with a console that does, in turns.
int run_under_console(const choices& chosen) {
  constexpr int pairs = 10;
  std::vector<double> alone, watched;
  for (int i = 0; i < pairs * 2; ++i) {
    load_options options;
    options.directory = chosen.directory + "/store";
    options.in_flight = chosen.in_flight.back();
    options.watched = i % 2 == 1;
    options.tasks = std::max<std::uint64_t>(tasks_for(options.in_flight, chosen.scale) / 2, options.in_flight);
    options.warm_up = std::max<std::uint64_t>(options.tasks / 10, 100);
    (options.watched ? watched : alone).push_back(run_load(options).tasks_per_s);
  }
  std::filesystem::remove_all(chosen.directory + "/store");
  std::vector<double> ratios;
  for (std::size_t i = 0; i < alone.size(); ++i) ratios.push_back(watched[i] / alone[i]);
  std::puts(format("%u in flight: %.0f tasks/s, %.0f with a console that lists tasks every second; median of the %d pairs' ratios %.3f",
                   chosen.in_flight.back(), percentile(alone, 0.5), percentile(watched, 0.5), pairs, percentile(ratios, 0.5))
                .c_str());
  return 0;
}

/// A worker over HTTP beside an http agent and a native one.
int run_over_work(const choices& chosen) {
  const bench_http_server server{0};  // a process of its own, so before there are threads
  std::puts(workers_to_text(run_workers(chosen.directory + "/nodes", chosen.scale, server.port())).c_str());
  std::filesystem::remove_all(chosen.directory + "/nodes");
  return 0;
}

/// The API beside a bare handler and the native client.
int run_through_api(const choices& chosen) {
  std::puts(api_to_text(run_api(chosen.directory + "/nodes", chosen.scale)).c_str());
  std::filesystem::remove_all(chosen.directory + "/nodes");
  return 0;
}

/// Next instants, a herd of jobs due in the same second, and a node whose jobs are not due.
int run_cron(const choices& chosen) {
  constexpr int rounds = 3;
  constexpr std::chrono::seconds idle{20};
  const auto scaled = [&](double count) { return static_cast<std::uint64_t>(count * chosen.scale); };
  const auto directory = chosen.directory + "/store";
  const auto wanted = [&](const char* part) { return chosen.only.empty() || chosen.only == part; };
  std::optional<std::vector<next_cost>> costs;
  std::optional<herd_result> herd;
  std::optional<idle_node_result> node;
  if (wanted("next")) costs = run_next();
  if (wanted("idle")) node = run_idle_node(directory, scaled(100'000), idle);
  if (wanted("herd")) herd = run_herd(directory, scaled(100'000), scaled(10'000), rounds);
  std::filesystem::remove_all(directory);
  if (chosen.json) {
    std::puts(cron_to_json(costs ? &*costs : nullptr, herd ? &*herd : nullptr, node ? &*node : nullptr).c_str());
    return 0;
  }
  if (costs) std::puts(next_to_text(*costs).c_str());
  if (herd) std::puts(herd_to_text(*herd).c_str());
  if (node) std::puts(idle_node_to_text(*node).c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 2 && std::string{argv[1]} == "expression-worker") return fairlead::app::run_expression_worker();
  if (argc == 3 && std::string{argv[1]} == "agent-node") return run_agent_node(argv[2]);
  if (argc == 3 && std::string{argv[1]} == "bare-http") return run_bare_http(std::stoi(argv[2]));
  if (argc == 3 && std::string{argv[1]} == "bench-worker") return run_bench_worker(std::stoi(argv[2]));
  CLI::App app{"Measures the order workload and its floor."};
  choices chosen;
  app.add_flag("--json", chosen.json, "print one JSON object");
  app.add_option("--directory", chosen.directory, "where stores are made; on the disk to be measured")->capture_default_str();
  app.add_option("--in-flight", chosen.in_flight, "tasks in flight, one run each")->delimiter(',')->capture_default_str();
  app.add_option("--finished", chosen.finished, "tasks that stand finished in the store before each run");
  app.add_option("--live", chosen.live, "tasks that stand live in the store before each run");
  app.add_option("--scale", chosen.scale, "times the usual number of tasks")->capture_default_str();
  app.add_option("--pending", chosen.pending, "instead: what this many pending tasks cost a node that does nothing");
  app.add_flag("--flow", chosen.flow, "instead: what a step costs of a task of 100 steps, beside one of the order workload, in turns");
  app.add_flag("--for-each", chosen.for_each,
               "instead: orders at a fixed rate, alone and beside one task with 10,000 items, in the same node");
  app.add_flag("--due", chosen.due, "instead: what the Supervisor costs with nothing due and with 100,000 steps due at once");
  app.add_flag("--http", chosen.http, "instead: the http agent beside a bare libcurl loop, against the same local server");
  app.add_flag("--slow-http", chosen.slow_http, "instead: what 10,000 steps cost an http agent whose service answers after 20 s");
  app.add_flag("--network", chosen.network, "instead: the order workload with its agent on another node beside one in this process");
  app.add_flag("--replicated", chosen.replicated,
               "instead: the order workload on one node and on three that hold the same shard, each a process of its own");
  app.add_flag("--console", chosen.console, "instead: the order workload with and without a console that watches it");
  app.add_flag("--store", chosen.store, "instead: the store alone, with the batches of the order workload: LMDB and the journal, in turns");
  app.add_flag("--journal", chosen.journal, "instead: the order workload on LMDB alone and behind the journal, in turns");
  app.add_flag("--api", chosen.api, "instead: the API of a node beside a bare handler of its HTTP library, and beside the native client");
  app.add_flag("--workers", chosen.workers,
               "instead: steps that a worker takes over HTTP, beside those of an http agent and of a native one");
  app.add_flag("--cron", chosen.cron,
               "instead: next instants, 10,000 jobs that are due in the same second, and a node with 100,000 that are not");
  app.add_option("--only", chosen.only, "of --cron: this part")->check(CLI::IsMember({"next", "herd", "idle"}));
  CLI11_PARSE(app, argc, argv);
  try {
    if (chosen.cron) return run_cron(chosen);
    if (chosen.api) return run_through_api(chosen);
    if (chosen.workers) return run_over_work(chosen);
    if (chosen.store) return run_store_alone(chosen);
    if (chosen.journal) return run_both_stores(chosen);
    if (chosen.console) return run_under_console(chosen);
    if (chosen.replicated) return run_on_replicas(chosen);
    if (chosen.network) return run_over_network(chosen);
    if (chosen.http) return run_http_agent(chosen);
    if (chosen.slow_http) return run_slow_http_agent(chosen);
    if (chosen.due) return run_due(chosen);
    if (chosen.flow) return run_flow(chosen);
    if (chosen.for_each) return run_for_each(chosen);
    return chosen.pending > 0 ? run_standing_still(chosen) : run(chosen);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "bench: %s\n", failure.what());
    return 1;
  }
}
