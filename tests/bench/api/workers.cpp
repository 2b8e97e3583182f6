#include "tests/bench/api/workers.hpp"

#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include "tests/bench/api/keep_alive.hpp"
#include "tests/bench/api/measured_node.hpp"
#include "tests/bench/bench_load.hpp"
#include "tests/bench/bench_report.hpp"

namespace fairlead::bench {

namespace {

using steady = std::chrono::steady_clock;

constexpr int rounds = 5;
constexpr int steps = 3;
constexpr int capacity = 64;
constexpr int in_a_submission = 1'000;

std::string workflow_of(const std::string& agent) {
  std::string out = "workflow: by_" + agent + "\nsteps:\n";
  for (const std::string step : {"reserve", "charge", "ship"})
    out += "  " + step + ": { agent: " + agent + ", call: echo, " +
           (step == "reserve"  ? ""
            : step == "charge" ? "needs: [reserve], "
                               : "needs: [charge], ") +
           "with: { order: \"${ .task.id }\" } }\n";
  return out;
}

// ---- the worker ----

/// The text of each field of that name.
std::vector<std::string> texts_of(std::string_view json, const std::string& field) {
  const auto begins = "\"" + field + "\":\"";
  std::vector<std::string> out;
  for (auto at = json.find(begins); at != std::string_view::npos; at = json.find(begins, at)) {
    at += begins.size();
    const auto end = json.find('"', at);
    out.emplace_back(json.substr(at, end - at));
    at = end;
  }
  return out;
}

std::string number_of(std::string_view json, const std::string& field) {
  const auto begins = "\"" + field + "\":";
  const auto at = json.find(begins) + begins.size();
  return std::string{json.substr(at, json.find_first_not_of("0123456789", at) - at)};
}

/// One thread takes, the other reports what the first has done.
class worker {
 public:
  explicit worker(int port) : takes_(port), reports_(port) {
    const auto said = takes_.ask(request_text(
        "POST", "/v1/workers", R"({"agent":"remote","instance":"bench-1","calls":["echo"],"capacity":)" + std::to_string(capacity) + "}"));
    at_ = "/v1/workers/" + texts_of(said, "worker").at(0);
  }

  void run() {
    std::thread reporter{[this] { report(); }};
    for (std::string after = "0";;) {
      {
        std::unique_lock lock{guard_};
        room_.wait(lock, [this] { return held_ < capacity; });
      }
      const auto said = takes_.ask(request_text(
          "POST", at_ + "/take", "{\"max\":" + std::to_string(capacity - held_) + ",\"wait_ms\":20000,\"after\":" + after + "}"));
      after = number_of(said, "answer");
      auto tickets = texts_of(said, "ticket");
      const std::lock_guard lock{guard_};
      held_ += static_cast<int>(tickets.size());
      for (auto& one : tickets) done_.push_back(std::move(one));
      if (!done_.empty()) comes_.notify_one();
    }
  }

 private:
  void report() {
    for (;;) {
      std::vector<std::string> tickets;
      {
        std::unique_lock lock{guard_};
        comes_.wait(lock, [this] { return !done_.empty(); });
        tickets.swap(done_);
      }
      std::string body = R"({"items":[)";
      for (const auto& one : tickets)
        body += std::string{&one == &tickets.front() ? "" : ","} + R"({"ticket":")" + one + R"(","output":{"id":"ch_12345","paid":true}})";
      reports_.ask(request_text("POST", at_ + "/outcomes", body + "]}"));
      const std::lock_guard lock{guard_};
      held_ -= static_cast<int>(tickets.size());
      room_.notify_one();
    }
  }

  kept_connection takes_, reports_;
  std::string at_;
  std::mutex guard_;
  std::condition_variable comes_, room_;
  std::vector<std::string> done_;
  int held_ = 0;
};

// ---- the load ----

class load {
 public:
  explicit load(measured_node& node) : node_(node) {}

  /// Tasks a second, all submitted before the first is waited for.
  double per_s(const std::string& agent, std::uint64_t tasks) {
    const auto before = ended();
    const auto start = steady::now();
    std::vector<std::string> ids;
    while (ids.size() < tasks) {
      v1::SubmitRequest request;
      for (int i = 0; i < in_a_submission && ids.size() < tasks; ++i) *request.add_items() = task(agent, ids);
      const auto reply = take(node_.native().submit(std::move(request)));
      for (const auto& one : reply.results())
        if (!one.created()) throw std::runtime_error("a task was not taken: " + one.error().sentence());
    }
    while (ended() < before + tasks) std::this_thread::sleep_for(std::chrono::milliseconds{5});
    return static_cast<double>(tasks) / std::chrono::duration<double>(steady::now() - start).count();
  }

  /// One after the other.
  double step_us(const std::string& agent, std::uint64_t tasks) {
    std::vector<double> took;
    std::vector<std::string> ids;
    for (std::uint64_t i = 0; i < tasks; ++i) {
      v1::SubmitRequest request;
      *request.add_items() = task(agent, ids);
      const auto start = steady::now();
      take(node_.native().submit(std::move(request)));
      wait(ids.back());
      took.push_back(std::chrono::duration<double, std::micro>(steady::now() - start).count() / steps);
    }
    return percentile(took, 0.5);
  }

 private:
  v1::Submission task(const std::string& agent, std::vector<std::string>& ids) {
    v1::Submission out;
    out.set_id(ids.emplace_back(agent + "-" + std::to_string(++last_)));
    out.set_workflow("by_" + agent);
    out.set_input(R"({"amount_cents":4400})");
    return out;
  }
  std::uint64_t ended() {
    const auto counts = take(node_.native().status_of_node({})).counts();
    return counts.completed() + counts.archived();
  }
  void wait(const std::string& id) {
    if (take(node_.native().wait(id, std::chrono::seconds{60})).state() != v1::TASK_STATE_COMPLETED)
      throw std::runtime_error("task " + id + " did not complete");
  }

  measured_node& node_;
  std::uint64_t last_ = 0;
};

std::string line_of(const char* what, const std::vector<double>& mine, const char* other, const std::vector<double>& theirs,
                    bool by_ratio) {
  std::vector<double> compared;
  for (std::size_t i = 0; i < mine.size(); ++i) compared.push_back(by_ratio ? mine[i] / theirs[i] : mine[i] - theirs[i]);
  return format(by_ratio ? "%-28s %9.0f/s, %s %9.0f/s; ratio %.2f (%.2f to %.2f; to reach: 1)\n"
                         : "%-28s %9.0f us, %s %9.0f us; more: %.0f us (%.0f to %.0f; to reach: 1500)\n",
                what, percentile(mine, 0.5), other, percentile(theirs, 0.5), percentile(compared, 0.5), percentile(compared, 0),
                percentile(compared, 1));
}

}  // namespace

int run_bench_worker(int port) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  worker{port}.run();
  return 0;
}

workers_result run_workers(const std::string& directory, double scale, int service_port) {
  std::filesystem::remove_all(directory);
  measured_node node{directory,
                     "{ echo: { kind: native, handler: echo, concurrency: 64 }, service: { kind: http, base_url: \"http://127.0.0.1:" +
                         std::to_string(service_port) + "\", concurrency: 64, calls: { echo: { path: /echo } } } }",
                     true};
  const child_process beside{{"/proc/self/exe", "bench-worker", std::to_string(node.api_port())}};
  for (const auto* agent : {"remote", "service", "echo"}) node.deploy(workflow_of(agent));
  load all{node};
  const auto many = std::max<std::uint64_t>(static_cast<std::uint64_t>(20'000 * scale), 100);
  const auto few = std::max<std::uint64_t>(static_cast<std::uint64_t>(500 * scale), 20);
  workers_result out;
  for (int round = 0; round <= rounds; ++round) {
    const auto keep = [round](std::vector<double>& in, double value) {
      if (round > 0) in.push_back(value);
    };
    keep(out.worker_per_s, all.per_s("remote", many));
    keep(out.http_per_s, all.per_s("service", many));
    keep(out.native_per_s, all.per_s("echo", many));
    keep(out.worker_step_us, all.step_us("remote", few));
    keep(out.http_step_us, all.step_us("service", few));
    keep(out.native_step_us, all.step_us("echo", few));
  }
  return out;
}

std::string workers_to_text(const workers_result& of) {
  return format("tasks of %d steps, medians of %d rounds in turns\n", steps, rounds) +
         line_of("a worker over HTTP", of.worker_per_s, "an http agent", of.http_per_s, true) +
         line_of("a worker over HTTP", of.worker_per_s, "a native agent", of.native_per_s, true) +
         line_of("a step, 1 in flight: worker", of.worker_step_us, "a native agent", of.native_step_us, false) +
         line_of("a step, 1 in flight: worker", of.worker_step_us, "an http agent", of.http_step_us, false);
}

}  // namespace fairlead::bench
