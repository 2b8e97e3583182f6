#include "tests/bench/api/api.hpp"

#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "actors/client/client.hpp"
#include "messages/time.hpp"
#include "tests/bench/api/keep_alive.hpp"
#include "tests/bench/api/measured_node.hpp"
#include "tests/bench/bench_load.hpp"
#include "tests/bench/bench_report.hpp"
#include "tests/bench/process/process.hpp"

namespace fairlead::bench {

namespace {

using std::chrono::seconds;

constexpr int rounds = 5;
constexpr std::uint32_t connections = 8;
constexpr std::size_t in_a_batch = 1'000;
constexpr std::size_t watching = 1'000;
constexpr seconds quiet{20};  // two comments of each stream are among it at most

constexpr const char* echo_agent = "{ echo: { kind: native, handler: echo, concurrency: 64 } }";
constexpr const char* echo_workflow = R"(
workflow: read
steps:
  reserve: { agent: echo, call: echo, with: { order: "${ .task.id }" } }
  charge: { needs: [reserve], agent: echo, call: echo, with: { order: "${ .task.id }" } }
  ship: { needs: [charge], agent: echo, call: echo, with: { order: "${ .task.id }" } }
)";

/// 200 bytes of JSON.
std::string input_of_200() {
  std::string out = R"({"amount_cents":4400,"items":[{"sku":"NW-11","quantity":12}],"note":")";
  out.append(198 - out.size(), 'x');
  return out + "\"}";
}

/// Tasks that begin tomorrow, so that a submission alone is measured.
class made_tasks {
 public:
  v1::Submission native() {
    v1::Submission out;
    out.set_id(id());
    out.set_workflow("read");
    out.set_input(input_);
    out.set_start_at_unix_ms(start_);
    return out;
  }
  std::string put() {
    return request_text("PUT", "/v1/tasks/" + id(), R"({"workflow":"read","input":)" + input_ + R"(,"start_at":")" + start_text_ + "\"}");
  }
  std::string batch() {
    std::string body = R"({"tasks":[)";
    for (std::size_t i = 0; i < in_a_batch; ++i)
      body += std::string{i == 0 ? "" : ","} + R"({"id":")" + id() + R"(","workflow":"read","input":)" + input_ + R"(,"start_at":")" +
              start_text_ + "\"}";
    return request_text("POST", "/v1/tasks:batch", body + "]}");
  }

 private:
  std::string id() {
    const std::lock_guard lock{guard_};
    return "order-" + std::to_string(++last_);
  }

  const std::string input_ = input_of_200();
  const std::int64_t start_ = to_unix_ms(system_clock{}.now()) + 86'400'000;
  const std::string start_text_ = format_utc(start_);
  std::mutex guard_;
  std::uint64_t last_ = 1'000'000'000;
};

/// A second, by so many threads, each of which sends the next when it has the answer.
double native_submissions_per_s(client& to, made_tasks& tasks, std::uint64_t count, std::uint32_t threads, std::size_t in_one) {
  std::vector<std::thread> all;
  std::string failure;
  std::mutex guard;
  const auto start = std::chrono::steady_clock::now();
  for (std::uint32_t i = 0; i < threads; ++i)
    all.emplace_back([&] {
      for (std::uint64_t done = 0; done < count / threads; ++done) {
        v1::SubmitRequest request;
        for (std::size_t item = 0; item < in_one; ++item) *request.add_items() = tasks.native();
        const auto reply = to.submit(std::move(request));
        std::string why = reply ? reply->error().sentence() : reply.failure().sentence;
        if (reply)
          for (const auto& one : reply->results())
            if (!one.created()) why = one.error().sentence();
        if (why.empty()) continue;
        const std::lock_guard lock{guard};
        failure = why;
        return;
      }
    });
  for (auto& one : all) one.join();
  if (!failure.empty()) throw std::runtime_error("a task was not taken: " + failure);
  return static_cast<double>(count / threads * threads * in_one) /
         std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Tasks that have ended, whose states are read.
std::vector<std::string> ended_tasks(client& to) {
  std::vector<std::string> out;
  v1::SubmitRequest request;
  for (int i = 0; i < 100; ++i) {
    auto* const one = request.add_items();
    one->set_id(out.emplace_back("read-" + std::to_string(i)));
    one->set_workflow("read");
    one->set_input(input_of_200());
  }
  take(to.submit(request));
  for (const auto& id : out) take(to.wait(id, seconds{30}));
  return out;
}

void allow_files(rlim_t wanted) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= wanted) return;
  files.rlim_cur = std::min(files.rlim_max, wanted);
  ::setrlimit(RLIMIT_NOFILE, &files);
}

void watch_streams(measured_node& node, made_tasks& tasks, api_result& out) {
  v1::SubmitRequest request;
  for (std::size_t i = 0; i < watching; ++i) *request.add_items() = tasks.native();
  const auto items = request.items();
  take(node.native().submit(std::move(request)));
  std::this_thread::sleep_for(seconds{5});
  out.streams = watching;
  out.quiet_percent = node.process().cpu_percent(quiet);
  const auto before_mb = node.process().memory_mb("RssAnon:");
  const open_streams all{node.api_port(), watching,
                         [&](std::size_t i) { return request_text("GET", "/v1/tasks/" + items.at(static_cast<int>(i)).id() + "/events"); }};
  std::this_thread::sleep_for(seconds{5});
  out.watching_percent = node.process().cpu_percent(quiet);
  out.stream_kb = (node.process().memory_mb("RssAnon:") - before_mb) * 1'024 / static_cast<double>(watching);
  if (const auto ended = all.ended(); ended != 0) throw std::runtime_error(std::to_string(ended) + " streams were ended");
}

std::vector<double> ratios_of(const std::vector<double>& of, const std::vector<double>& to) {
  std::vector<double> out;
  for (std::size_t i = 0; i < of.size(); ++i) out.push_back(of[i] / to[i]);
  return out;
}

std::string line_of(const char* what, const std::vector<double>& mine, const char* other, const std::vector<double>& theirs,
                    const char* wanted) {
  const auto ratios = ratios_of(mine, theirs);
  return format("%-34s %9.0f/s, %s %9.0f/s; ratio %.2f (%.2f to %.2f; to reach: %s)\n", what, percentile(mine, 0.5), other,
                percentile(theirs, 0.5), percentile(ratios, 0.5), percentile(ratios, 0), percentile(ratios, 1), wanted);
}

}  // namespace

api_result run_api(const std::string& directory, double scale) {
  const auto scaled = [scale](double count) { return std::max<std::uint64_t>(static_cast<std::uint64_t>(count * scale), connections); };
  std::filesystem::remove_all(directory);
  allow_files(4 * watching);  // before the node inherits it
  measured_node open{directory + "/open", echo_agent, true}, closed{directory + "/closed", echo_agent, false};
  for (auto* const one : {&open, &closed}) one->deploy(echo_workflow);
  made_tasks tasks;
  const auto ids = ended_tasks(open.native());
  const auto bare_port = free_port();
  const child_process bare{{"/proc/self/exe", "bare-http", std::to_string(bare_port)}};
  std::this_thread::sleep_for(seconds{1});
  std::size_t turn = 0;
  const auto next_id = [&]() -> const std::string& { return ids[turn++ % ids.size()]; };
  const auto show = [&] { return request_text("GET", "/v1/tasks/" + next_id()); };
  const auto state = [&] { return request_text("POST", "/v1/tasks:states", R"({"ids":[")" + next_id() + "\"]}"); };
  // The same requests but for the target, which says how long the answer is.
  const auto bare_show = [target = "/" + std::to_string(ask(open.api_port(), show()).size())] { return request_text("GET", target); };
  const auto bare_state = [target = "/" + std::to_string(ask(open.api_port(), state()).size()), &next_id] {
    return request_text("POST", target, R"({"ids":[")" + next_id() + "\"]}");
  };
  api_result out;
  out.in_flight = connections;
  for (int round = 0; round <= rounds; ++round) {
    // The first one is for warming up.
    const auto keep = [round](std::vector<double>& in, double value) {
      if (round > 0) in.push_back(value);
    };
    keep(out.bare_shows_per_s, requests_per_s(bare_port, connections, scaled(50'000), bare_show));
    keep(out.shows_per_s, requests_per_s(open.api_port(), connections, scaled(50'000), show));
    keep(out.bare_states_per_s, requests_per_s(bare_port, connections, scaled(50'000), bare_state));
    keep(out.states_per_s, requests_per_s(open.api_port(), connections, scaled(50'000), state));
    keep(out.native_per_s, native_submissions_per_s(open.native(), tasks, scaled(10'000), connections, 1));
    keep(out.door_per_s, requests_per_s(open.api_port(), connections, scaled(10'000), [&] { return tasks.put(); }));
    keep(out.closed_per_s, native_submissions_per_s(closed.native(), tasks, scaled(10'000), connections, 1));
    keep(out.native_batched_per_s, native_submissions_per_s(open.native(), tasks, scaled(20), 1, in_a_batch));
    keep(out.door_batched_per_s,
         requests_per_s(open.api_port(), 1, scaled(20), [&] { return tasks.batch(); }) * static_cast<double>(in_a_batch));
  }
  watch_streams(open, tasks, out);
  return out;
}

std::string api_to_text(const api_result& of) {
  return format("%u in flight, medians of %d rounds in turns\n", of.in_flight, rounds) +
         line_of("tasks shown", of.shows_per_s, "a bare handler", of.bare_shows_per_s, "0.5") +
         line_of("states read", of.states_per_s, "a bare handler", of.bare_states_per_s, "0.5") +
         line_of("single submissions", of.door_per_s, "the native client", of.native_per_s, "0.25") +
         line_of("tasks in batches of 1,000", of.door_batched_per_s, "the native client", of.native_batched_per_s, "0.6") +
         line_of("native client, API open and unused", of.native_per_s, "no API", of.closed_per_s, "0.97") +
         format("%zu watching streams: %.2f %% of a core, %.2f %% without them (to reach: 3 %% more); %.0f KB each", of.streams,
                of.watching_percent, of.quiet_percent, of.stream_kb);
}

}  // namespace fairlead::bench
