#include "tests/bench/bench_cron.hpp"

#include <cctz/time_zone.h>

#include <chrono>
#include <stdexcept>

#include "actors/core/cron/next.hpp"
#include "actors/system/time_zones.hpp"
#include "tests/bench/bench_load.hpp"
#include "tests/bench/bench_report.hpp"

namespace fairlead::bench {

namespace {

using steady = std::chrono::steady_clock;

constexpr std::int64_t year_begin_s = 1'767'225'600;  // 2026-01-01T00:00:00Z
constexpr std::int64_t year_s = 365LL * 86'400;
constexpr std::int64_t march_1896_s = -2'329'862'400;
constexpr std::int64_t march_2096_s = 3'981'484'800;
constexpr int common_calls = 20'000;
constexpr int rare_calls = 2'000;

/// Nanoseconds of each of `calls` calls. What reading the clock takes is in them.
template <class Call>
std::vector<double> time_each(int calls, Call&& call) {
  std::vector<double> out;
  out.reserve(static_cast<std::size_t>(calls));
  for (int i = 0; i < calls; ++i) {
    const auto start = steady::now();
    call(i);
    out.push_back(std::chrono::duration<double, std::nano>(steady::now() - start).count());
  }
  return out;
}

/// Moments in no order, spread evenly: those around a change of the clock are among them.
std::int64_t moment_of_year(int i) { return year_begin_s + (static_cast<std::int64_t>(i) * 7'919'317) % year_s; }

volatile std::int64_t seen = 0;  // so that no call can be left out

struct moments {
  const char* name;
  std::int64_t only_s;  // 0: spread over the year
};

next_cost measure(const char* text, const char* zone_name, const moments& from) {
  const auto parsed = core::cron_expression::parse(text, "bench");
  const auto* expression = std::get_if<core::cron_expression>(&parsed);
  const auto* zone = time_zones::of_system().find(zone_name);
  if (expression == nullptr || zone == nullptr) throw std::logic_error("the bench's expressions and zones are not understood");
  const auto after = [&](int i) { return from.only_s != 0 ? from.only_s : moment_of_year(i); };
  const auto calls = from.only_s != 0 ? rare_calls : common_calls;
  const auto clock_ns = percentile(time_each(calls, [](int i) { seen = i; }), 0.5);
  const auto lookups =
      time_each(calls, [&](int i) { seen = zone->lookup(cctz::time_point<cctz::seconds>{cctz::seconds{after(i)}}).offset; });
  const auto nexts =
      time_each(calls, [&](int i) { seen = core::next_instant(*expression, *zone, core::dst_policy::vixie, after(i)).value_or(0); });
  if (seen == 0) throw std::runtime_error(std::string{text} + " has no next instant");
  next_cost out{text, zone_name, from.name, percentile(nexts, 0.5) - clock_ns, percentile(nexts, 0.99) - clock_ns, 0};
  out.ratio = out.p50_ns / std::max(percentile(lookups, 0.5) - clock_ns, 1.0);
  return out;
}

}  // namespace

std::vector<next_cost> run_next() {
  std::vector<next_cost> out;
  for (const auto* zone : {"UTC", "Europe/Berlin"}) {
    for (const auto* common : {"*/5 * * * *", "30 2 * * *", "0 9 * * MON-FRI", "0 0 1 * *", "@every 90s"})
      out.push_back(measure(common, zone, {"all of 2026", 0}));
    out.push_back(measure("0 0 29 2 *", zone, {"1896-03-01", march_1896_s}));
    out.push_back(measure("0 0 29 2 *", zone, {"2096-03-01", march_2096_s}));
  }
  return out;
}

// ---- what is printed ----

std::string next_to_text(const std::vector<next_cost>& costs) {
  std::string out = "next instant\n\n  expression         zone           from            p50 ns     p99 ns  lookups\n";
  for (const auto& one : costs)
    out += format("  %-18s %-14s %-12s %9.0f  %9.0f  %7.1f\n", one.expression.c_str(), one.zone.c_str(), one.from.c_str(), one.p50_ns,
                  one.p99_ns, one.ratio);
  return out;
}

std::string herd_to_text(const herd_result& herd) {
  auto out =
      format("%llu jobs, %llu of them due in the same second; deployed at %.0f jobs/s; RssAnon %.0f MB\n\n",
             static_cast<unsigned long long>(herd.jobs), static_cast<unsigned long long>(herd.due), herd.deployed_per_s, herd.rss_anon_mb);
  out += "               durable s  completed s  ratio  CPU s  commits  at work s\n";
  const auto row = [&out](const char* name, const herd_costs& one, double ratio) {
    out += format("  %-11s %10.2f %12.2f %6.1f %6.2f %8llu %10.2f\n", name, one.recorded_s, one.completed_s, ratio, one.cpu_s,
                  static_cast<unsigned long long>(one.commits), one.commit_s);
  };
  for (const auto& one : herd.rounds) {
    row("submissions", one.submitted, 1);
    row("launches", one.launched, one.launched.recorded_s / one.submitted.recorded_s);
  }
  out += "\n  launches, ms after their time: recorded_at p50 p99 max, durable p50 p99 max\n";
  for (const auto& one : herd.rounds)
    out += format("  %6.0f %6.0f %6.0f   %6.0f %6.0f %6.0f\n", one.recorded_p50_ms, one.recorded_p99_ms, one.recorded_max_ms,
                  one.durable_p50_ms, one.durable_p99_ms, one.durable_max_ms);
  return out;
}

std::string idle_node_to_text(const idle_node_result& node) {
  return format(
      "a node with %llu idle jobs: deployed at %.0f jobs/s through the client; %.3f %% of a core (%.3f %% without jobs); RSS %.0f MB, of "
      "which %.0f MB anonymous (%.0f MB before the jobs)\n",
      static_cast<unsigned long long>(node.jobs), node.deployed_per_s, node.cpu_percent, node.empty_cpu_percent, node.rss_mb,
      node.rss_anon_mb, node.empty_rss_mb);
}

namespace {

std::string costs_to_json(const herd_costs& one) {
  return format(R"({"recorded_s":%.3f,"completed_s":%.3f,"cpu_s":%.2f,"commits":%llu,"commit_s":%.3f})", one.recorded_s, one.completed_s,
                one.cpu_s, static_cast<unsigned long long>(one.commits), one.commit_s);
}

std::string round_to_json(const herd_round& one) {
  return "{\"submitted\":" + costs_to_json(one.submitted) + ",\"launched\":" + costs_to_json(one.launched) +
         format(R"(,"recorded_ms":{"p50":%.0f,"p99":%.0f,"max":%.0f},"durable_ms":{"p50":%.0f,"p99":%.0f,"max":%.0f}})",
                one.recorded_p50_ms, one.recorded_p99_ms, one.recorded_max_ms, one.durable_p50_ms, one.durable_p99_ms, one.durable_max_ms);
}

}  // namespace

std::string cron_to_json(const std::vector<next_cost>* costs, const herd_result* herd, const idle_node_result* node) {
  std::vector<std::string> parts;
  if (costs != nullptr) {
    std::string next;
    for (const auto& one : *costs)
      next += format(R"(%s{"expression":"%s","zone":"%s","from":"%s","p50_ns":%.0f,"p99_ns":%.0f,"lookups":%.1f})", next.empty() ? "" : ",",
                     one.expression.c_str(), one.zone.c_str(), one.from.c_str(), one.p50_ns, one.p99_ns, one.ratio);
    parts.push_back("\"next\":[" + next + "]");
  }
  if (herd != nullptr) {
    std::string rounds;
    for (const auto& one : herd->rounds) rounds += (rounds.empty() ? "" : ",") + round_to_json(one);
    parts.push_back(format(R"("herd":{"jobs":%llu,"due":%llu,"deployed_per_s":%.0f,"rss_anon_mb":%.1f,"rounds":[)",
                           static_cast<unsigned long long>(herd->jobs), static_cast<unsigned long long>(herd->due), herd->deployed_per_s,
                           herd->rss_anon_mb) +
                    rounds + "]}");
  }
  if (node != nullptr)
    parts.push_back(
        format(R"("idle":{"jobs":%llu,"deployed_per_s":%.0f,"cpu_percent":%.3f,"empty_cpu_percent":%.3f,"rss_mb":%.1f,"rss_anon_mb":%.1f,)"
               R"("empty_rss_mb":%.1f})",
               static_cast<unsigned long long>(node->jobs), node->deployed_per_s, node->cpu_percent, node->empty_cpu_percent, node->rss_mb,
               node->rss_anon_mb, node->empty_rss_mb));
  std::string out;
  for (const auto& part : parts) out += (out.empty() ? "{" : ",") + part;
  return out + "}";
}

}  // namespace fairlead::bench
