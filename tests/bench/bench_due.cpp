#include "tests/bench/bench_due.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "actors/supervisor/supervisor.hpp"
#include "tests/bench/bench_load.hpp"
#include "tests/bench/bench_node.hpp"
#include "tests/bench/bench_report.hpp"
#include "tests/bench/bench_seed.hpp"

namespace fairlead::bench {

namespace {

using steady = std::chrono::steady_clock;

constexpr int quiet_scans = 2'000;
constexpr int quiet_rounds = 200;
constexpr std::chrono::milliseconds submit_every{4};
constexpr std::chrono::seconds lead{20};   // for seeding and opening
constexpr std::chrono::seconds calm{5};    // measured before the moment
constexpr std::chrono::seconds limit{60};  // for the burst

template <class Clock>
double micros_since(typename Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

class counting_outbox final : public supervisor_outbox {
 public:
  void recover(v1::RecoverBatch what) override { requests += what.items_size(); }
  void stalest(stalest_task) override {}
  void waiting(waiting_tasks) override {}
  std::int64_t requests = 0;
};

class no_log final : public observer {
 public:
  void on_transition(const transition&) override {}
  void on_note(note_level, std::string_view, std::string_view sentence) override { notes.emplace_back(sentence); }
  std::vector<std::string> notes;
};

/// Submits one task after the other at a steady rate, whatever the answers take, and keeps how long each took.
class steady_submitter {
 public:
  explicit steady_submitter(bench_node& node) : self_(node.system()), gateway_(node.gateway()), begun_(steady::now()) {}

  /// Until `enough()`; the latencies in milliseconds.
  template <class Predicate>
  std::vector<double> run(Predicate enough) {
    std::vector<double> out;
    while (!enough()) {
      // Counted from when it was to be sent: one slow answer delays the next ones, and they must not look quick for it.
      const auto intended = begun_ + submit_every * sent_;
      std::this_thread::sleep_until(intended);
      send(sent_++);
      out.push_back(std::chrono::duration<double, std::milli>(steady::now() - intended).count());
    }
    return out;
  }

 private:
  void send(std::uint64_t number) {
    v1::SubmitRequest request;
    auto* item = request.add_items();
    item->set_id("during-" + std::to_string(number));
    item->set_workflow("order");
    item->set_input(R"({"order_id":1,"amount_cents":4400,"items":[],"address":{"city":"Reims"}})");
    std::string failure;
    self_->request(gateway_, std::chrono::seconds{60}, std::move(request))
        .receive(
            [&failure](const v1::SubmitReply& reply) {
              failure = reply.error().sentence();
              for (const auto& one : reply.results()) failure += one.error().sentence();
            },
            [&failure](const caf::error&) { failure = "the gateway did not answer"; });
    if (!failure.empty()) throw std::runtime_error(failure);
  }

  caf::scoped_actor self_;
  gateway_actor gateway_;
  steady::time_point begun_;
  std::uint64_t sent_ = 0;
};

void fresh(const std::string& directory) {
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
}

}  // namespace

quiet_result run_quiet(const std::string& directory, std::uint64_t waiting) {
  fresh(directory);
  seed_store(directory, order_workflow().definition(), 0, waiting);
  auto opened = stores::lmdb_store::open({directory, std::uint64_t{64} << 30, false});
  if (!opened) throw std::runtime_error(opened.failure().sentence);
  const system_clock time;
  counting_outbox out;
  no_log log;
  supervisor watcher{{&time, opened->get(), &out, &log}};
  quiet_result measured;
  measured.waiting = waiting;
  std::vector<double> scans, rounds;
  for (int i = 0; i < quiet_scans; ++i) {
    const auto start = steady::now();
    const auto more = watcher.scan();
    scans.push_back(micros_since<steady>(start));
    if (!more || *more) throw std::runtime_error("something was due, or a scan failed");
  }
  for (int i = 0; i < quiet_rounds; ++i) {
    const auto start = steady::now();
    const auto done = watcher.go_round();
    rounds.push_back(micros_since<steady>(start));
    if (!done) throw std::runtime_error(done.failure().sentence);
  }
  if (out.requests != 0 || !log.notes.empty()) throw std::runtime_error("the seeded store is not in order");
  measured.scan_p50_us = percentile(scans, 0.50);
  measured.scan_p99_us = percentile(scans, 0.99);
  measured.round_p50_us = percentile(rounds, 0.50);
  return measured;
}

burst_result run_burst(const std::string& directory, std::uint64_t due) {
  fresh(directory);
  const auto moment_due = system_clock{}.now() + lead;
  seed_store(directory, order_workflow().definition(), 0, due, to_unix_ms(moment_due));
  std::atomic<std::uint64_t> handed_over{0};
  bench_node::options options;
  options.directory = directory;
  options.running_tasks += due;
  // The seeded tasks' first attempts are behind them, those of the submitted ones are not.
  options.on_work = [&handed_over](const agents::native_context& context) {
    if (context.attempt > 1) handed_over.fetch_add(1, std::memory_order_relaxed);
  };
  bench_node node{options};
  const auto now = [] { return system_clock{}.now(); };
  if (now() + calm > moment_due) throw std::runtime_error("seeding took too long for the burst to be measured");
  std::this_thread::sleep_until(moment_due - calm);

  steady_submitter submitter{node};
  burst_result out;
  out.due = due;
  out.submit_per_s = 1'000.0 / static_cast<double>(submit_every.count());
  // Ends a little early: a submission that is out when the moment comes belongs to what follows.
  const auto before = submitter.run([&] { return now() >= moment_due - 10 * submit_every; });
  if (handed_over.load() != 0) throw std::runtime_error("some steps were recovered before they were due");
  const auto begun = steady::now() + (moment_due - now());
  double decided_s = 0;
  const auto during = submitter.run([&] {
    if (handed_over.load() >= due) decided_s = std::chrono::duration<double>(steady::now() - begun).count();
    if (steady::now() - begun > limit) throw std::runtime_error("recovered only " + std::to_string(handed_over.load()));
    return decided_s > 0;
  });
  out.decided_s = decided_s;
  out.before_p50_ms = percentile(before, 0.50);
  out.before_p99_ms = percentile(before, 0.99);
  out.during_p50_ms = percentile(during, 0.50);
  out.during_p99_ms = percentile(during, 0.99);
  out.during_worst_ms = *std::max_element(during.begin(), during.end());
  node.stop();
  return out;
}

std::string due_to_json(const std::vector<quiet_result>& quiet, const burst_result& burst) {
  std::string out = R"({"quiet":[)";
  for (const auto& one : quiet)
    out += format(R"(%s{"waiting":%llu,"scan_p50_us":%.1f,"scan_p99_us":%.1f,"round_p50_us":%.1f})", &one == &quiet.front() ? "" : ",",
                  static_cast<unsigned long long>(one.waiting), one.scan_p50_us, one.scan_p99_us, one.round_p50_us);
  return out +
         format(R"(],"burst":{"due":%llu,"decided_s":%.2f,"submit_per_s":%.0f,"before_p50_ms":%.2f,"before_p99_ms":%.2f,)",
                static_cast<unsigned long long>(burst.due), burst.decided_s, burst.submit_per_s, burst.before_p50_ms, burst.before_p99_ms) +
         format(R"("during_p50_ms":%.2f,"during_p99_ms":%.2f,"during_worst_ms":%.2f}})", burst.during_p50_ms, burst.during_p99_ms,
                burst.during_worst_ms);
}

std::string due_to_table(const std::vector<quiet_result>& quiet, const burst_result& burst) {
  std::string out = "Supervisor\n\n   waiting  scan p50 us  scan p99 us  one turn of the slow round p50 us\n";
  for (const auto& one : quiet)
    out += format("%10llu %12.1f %12.1f %34.1f\n", static_cast<unsigned long long>(one.waiting), one.scan_p50_us, one.scan_p99_us,
                  one.round_p50_us);
  out += format("\n%llu steps due at once: all asked for, decided, durable and handed over after %.2f s\n",
                static_cast<unsigned long long>(burst.due), burst.decided_s);
  out +=
      format("submissions, %.0f a second: p50 %.2f ms, p99 %.2f ms, worst %.2f ms meanwhile; p50 %.2f ms, p99 %.2f ms before\n",
             burst.submit_per_s, burst.during_p50_ms, burst.during_p99_ms, burst.during_worst_ms, burst.before_p50_ms, burst.before_p99_ms);
  return out;
}

}  // namespace fairlead::bench
