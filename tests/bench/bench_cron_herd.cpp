// Jobs that are due in the same second, in a whole shard on the disk.

#include <algorithm>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <thread>

#include "app/files/workflow_file.hpp"
#include "store/keys.hpp"
#include "tests/bench/bench_cron.hpp"
#include "tests/bench/bench_load.hpp"
#include "tests/bench/bench_node.hpp"
#include "tests/bench/bench_report.hpp"

namespace fairlead::bench {

namespace {

using steady = std::chrono::steady_clock;
using wall = std::chrono::system_clock;

constexpr int in_a_request = 1'000;
constexpr std::chrono::seconds lead{15};    // for making jobs due
constexpr std::chrono::seconds calm{2};     // between that and the moment
constexpr std::chrono::seconds limit{120};  // for all of them
constexpr std::chrono::microseconds look_every{500};

constexpr const char* tick_yaml = R"(
workflow: tick
steps:
  work: { agent: services, call: work, with: { task: "${ .task.id }" } }
)";

template <class Clock>
double seconds_since(typename Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string job_name(std::uint64_t number) { return "bench/job-" + std::to_string(1'000'000 + number); }

/// Six fields that match in one second of a year.
std::string schedule_at(std::int64_t unix_s) {
  using namespace std::chrono;
  const sys_seconds at{seconds{unix_s}};
  const auto day = floor<days>(at);
  const year_month_day date{day};
  const hh_mm_ss time{at - day};
  return format("%d %d %d %u %u *", static_cast<int>(time.seconds().count()), static_cast<int>(time.minutes().count()),
                static_cast<int>(time.hours().count()), static_cast<unsigned>(date.day()), static_cast<unsigned>(date.month()));
}

v1::JobSpec job_at(std::uint64_t number, std::int64_t unix_s) {
  v1::JobSpec out;
  out.set_name(job_name(number));
  out.set_schedule(schedule_at(unix_s));
  out.set_workflow("tick");
  out.set_input(R"({"day":"${ .launch.nominal_local }","amount_cents":4400,"address":{"city":"Reims"}})");
  return out;
}

std::int64_t now_s() { return std::chrono::duration_cast<std::chrono::seconds>(wall::now().time_since_epoch()).count(); }

/// What one sees of the shard's counters from outside.
struct sample {
  double at_s = 0;
  std::uint64_t launched = 0;
  std::uint64_t tasks = 0;
  std::uint64_t completed = 0;
};

sample look(bench_node& node, wall::time_point origin) {
  const auto shard = node.recorder().read()->get_progress().shard;
  return {seconds_since<wall>(origin), shard.launches(), shard.next_task_number(), shard.completed()};
}

/// Looks until `enough`; throws when that does not come.
std::vector<sample> follow(bench_node& node, wall::time_point origin, const std::function<bool(const sample&)>& enough) {
  std::vector<sample> out;
  const auto begun = steady::now();
  for (;;) {
    out.push_back(look(node, origin));
    if (enough(out.back())) return out;
    if (steady::now() - begun > limit)
      throw std::runtime_error("after " + std::to_string(limit.count()) + " s: " + std::to_string(out.back().launched) + " launches, " +
                               std::to_string(out.back().completed) + " tasks completed");
    std::this_thread::sleep_for(look_every);
  }
}

/// The first moment at which `is_so`.
double first(const std::vector<sample>& seen, const std::function<bool(const sample&)>& is_so) {
  return std::find_if(seen.begin(), seen.end(), is_so)->at_s;
}

/// What has been spent since it was made.
class meter {
 public:
  explicit meter(bench_node& node)
      : node_(node), cpu_s_(cpu_seconds()), commit_s_(node.recorder().commit_seconds()), commits_(node.recorder().commits()) {}

  herd_costs read() const {
    herd_costs out;
    out.cpu_s = cpu_seconds() - cpu_s_;
    out.commit_s = node_.recorder().commit_seconds() - commit_s_;
    out.commits = node_.recorder().commits() - commits_;
    return out;
  }

 private:
  bench_node& node_;
  double cpu_s_;
  double commit_s_;
  std::uint64_t commits_;
};

class herd_bench {
 public:
  herd_bench(bench_node& node, std::uint64_t due) : node_(node), self_(node.system()), due_(due) {}

  void deploy_workflow() { ask<v1::DeployReply>(tick_workflow()); }

  void apply(std::uint64_t from, std::uint64_t to, const std::function<v1::JobSpec(std::uint64_t)>& job) {
    while (from < to) {
      v1::JobApplyRequest request;
      request.set_who("bench");
      for (int i = 0; i < in_a_request && from < to; ++i) *request.add_jobs() = job(from++);
      const auto reply = ask<v1::JobApplyReply>(std::move(request));
      for (const auto& one : reply.results())
        if (one.error().code() != v1::ERROR_CODE_OK) throw std::runtime_error(one.error().sentence());
    }
  }

  herd_costs submit() {
    std::vector<v1::SubmitRequest> requests;
    for (std::uint64_t sent = 0; sent < due_;) {
      auto& request = requests.emplace_back();
      for (int i = 0; i < in_a_request && sent < due_; ++i, ++sent) {
        auto* item = request.add_items();
        item->set_id("plain-" + std::to_string(1'000'000 + submitted_++));
        item->set_workflow("tick");
        item->set_input(R"({"day":"2026-11-22T00:00:00+00:00","amount_cents":4400,"address":{"city":"Reims"}})");
      }
    }
    const auto origin = wall::now();
    const auto before = look(node_, origin);
    const meter spent{node_};
    for (auto& request : requests) self_->send(node_.gateway(), std::move(request));
    const auto seen = follow(node_, origin, [&](const sample& one) { return one.completed >= before.completed + due_; });
    auto out = spent.read();
    out.recorded_s = first(seen, [&](const sample& one) { return one.tasks >= before.tasks + due_; });
    out.completed_s = seen.back().at_s;
    return out;
  }

  herd_round round() {
    herd_round out;
    out.submitted = submit();
    const auto nominal_s = now_s() + lead.count();
    apply(0, due_, [&](std::uint64_t number) { return job_at(number, nominal_s); });
    const wall::time_point nominal{std::chrono::seconds{nominal_s}};
    if (wall::now() + calm > nominal) throw std::runtime_error("making the jobs due took too long for what follows to be measured");
    std::this_thread::sleep_until(nominal - calm / 2);
    const auto before = look(node_, nominal);
    if (before.launched != launched_) throw std::runtime_error("some jobs were launched before their time");
    const meter spent{node_};
    const auto seen = follow(node_, nominal, [&](const sample& one) { return one.completed >= before.completed + due_; });
    out.launched = spent.read();
    launched_ += due_;
    out.launched.recorded_s = first(seen, [&](const sample& one) { return one.launched >= launched_; });
    out.launched.completed_s = seen.back().at_s;
    std::vector<double> durable_ms;
    auto known = before.launched;
    for (const auto& one : seen) {
      durable_ms.insert(durable_ms.end(), one.launched - known, one.at_s * 1000);
      known = one.launched;
    }
    out.durable_p50_ms = percentile(durable_ms, 0.50);
    out.durable_p99_ms = percentile(durable_ms, 0.99);
    out.durable_max_ms = percentile(durable_ms, 1);
    read_rows(nominal_s * 1000, out);
    return out;
  }

 private:
  template <class Reply, class Request>
  Reply ask(Request request) {
    Reply out;
    std::string failure;
    self_->request(node_.gateway(), std::chrono::seconds{60}, std::move(request))
        .receive(
            [&](const Reply& reply) {
              out = reply;
              failure = reply.error().sentence();
            },
            [&](const caf::error&) { failure = "the gateway did not answer"; });
    if (!failure.empty()) throw std::runtime_error(failure);
    return out;
  }

  /// Each job has its one launch of the second, and nothing was skipped.
  void read_rows(std::int64_t nominal_ms, herd_round& out) {
    std::vector<double> late_ms;
    const auto prefix = stores::keys::of_namespace(stores::default_namespace);
    const auto read = node_.recorder().read()->scan(stores::table::launch, prefix.str(), stores::keys::after(prefix),
                                                    [&](std::string_view, std::string_view payload) {
                                                      v1::LaunchRecord row;
                                                      if (!row.ParseFromArray(payload.data(), static_cast<int>(payload.size())))
                                                        throw std::runtime_error("a launch cannot be read");
                                                      if (row.state() == v1::LAUNCH_STATE_SKIPPED)
                                                        throw std::runtime_error("a launch was skipped: " + row.reason());
                                                      if (row.nominal_unix_ms() == nominal_ms)
                                                        late_ms.push_back(static_cast<double>(row.recorded_at_unix_ms() - nominal_ms));
                                                      return true;
                                                    });
    if (!read.ok()) throw std::runtime_error(read.failure().sentence);
    if (late_ms.size() != due_) throw std::runtime_error("there are " + std::to_string(late_ms.size()) + " launches of the second");
    out.recorded_p50_ms = percentile(late_ms, 0.50);
    out.recorded_p99_ms = percentile(late_ms, 0.99);
    out.recorded_max_ms = percentile(late_ms, 1);
  }

  bench_node& node_;
  caf::scoped_actor self_;
  std::uint64_t due_;
  std::uint64_t submitted_ = 0;
  std::uint64_t launched_ = 0;
};

}  // namespace

v1::DeployRequest tick_workflow() {
  const auto file = app::parse_workflow("tick.yaml", tick_yaml, nullptr);
  if (!file.problems.empty()) throw std::logic_error(to_text(file.problems.front()));
  v1::DeployRequest out;
  *out.mutable_definition() = file.definition;
  return out;
}

v1::JobSpec idle_job(std::uint64_t number) {
  constexpr std::int64_t day_s = 86'400;
  // Not a multiple of anything in a calendar, so that hardly two are due in the same second.
  return job_at(number, now_s() + 3 * day_s + static_cast<std::int64_t>(number * 7'919'317 % (24 * day_s)));
}

herd_result run_herd(const std::string& directory, std::uint64_t jobs, std::uint64_t due, int rounds) {
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  bench_node::options options;
  options.directory = directory;
  options.running_tasks = 2 * due;
  options.cron.in_flight = 0;
  bench_node node{options};
  herd_bench bench{node, due};
  bench.deploy_workflow();
  herd_result out;
  out.jobs = jobs;
  out.due = due;
  const auto start = steady::now();
  bench.apply(0, jobs, idle_job);
  out.deployed_per_s = static_cast<double>(jobs) / seconds_since<steady>(start);
  out.rss_anon_mb = rss_anon_mb();
  bench.submit();  // what is done for the first time only
  for (int i = 0; i < rounds; ++i) {
    out.rounds.push_back(bench.round());
    std::fprintf(stderr, "%llu launches durable after %.2f s\n", static_cast<unsigned long long>(due),
                 out.rounds.back().launched.recorded_s);
  }
  node.stop();
  return out;
}

}  // namespace fairlead::bench
