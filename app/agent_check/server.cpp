#include "app/agent_check/server.hpp"

#include <chrono>
#include <csignal>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "app/agent_check/agent_process.hpp"
#include "app/config/parts.hpp"
#include "app/door/listener.hpp"
#include "app/process/listen_socket.hpp"

namespace fairlead::app::agent_check {

namespace {

constexpr std::chrono::milliseconds look_every{20};
/// What an agent gets to end by itself, after SIGTERM.
constexpr std::chrono::milliseconds farewell{5'000};

std::atomic<bool> interrupted = false;
void on_interrupt(int) { interrupted = true; }

/// During its lifetime Ctrl-C ends the check, and not the process.
class ends_by_signal {
 public:
  ends_by_signal() {
    interrupted = false;
    struct sigaction mine {};
    mine.sa_handler = &on_interrupt;
    ::sigaction(SIGINT, &mine, &int_);
    ::sigaction(SIGTERM, &mine, &term_);
  }
  ends_by_signal(const ends_by_signal&) = delete;
  ends_by_signal& operator=(const ends_by_signal&) = delete;
  ~ends_by_signal() {
    ::sigaction(SIGINT, &int_, nullptr);
    ::sigaction(SIGTERM, &term_, nullptr);
  }

 private:
  struct sigaction int_ {};
  struct sigaction term_ {};
};

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The tester behind a mutex, and the answers that leave later.
class stage {
 public:
  explicit stage(plan what) : tester_(std::move(what)) {}

  bool on_request(const door::request& what, std::shared_ptr<door::answerer> to, int node) {
    const std::lock_guard lock{guard_};
    asked one{what.head.method, std::string{what.path()}, std::string{what.query()}, what.body, {}, node};
    if (const auto key = door::find_header(what.head, "Idempotency-Key")) one.key = std::string{*key};
    const auto now = now_ms();
    auto out = tester_.on_request(one, now);
    waiting_.push_back({now + out.after_ms, std::move(to), std::move(out)});
    send_due(now);
    return false;
  }

  void on_time() {
    const std::lock_guard lock{guard_};
    const auto now = now_ms();
    tester_.on_time(now);
    send_due(now);
  }

  void on_end(const std::string& how) {
    const std::lock_guard lock{guard_};
    tester_.on_end(how);
  }

  /// `ask` gets the tester while nothing else happens to it.
  template <class Ask>
  auto with(Ask&& ask) {
    const std::lock_guard lock{guard_};
    return ask(tester_);
  }

 private:
  struct later {
    std::int64_t due;
    std::shared_ptr<door::answerer> to;
    reply what;
  };

  void send_due(std::int64_t now) {
    for (auto& one : waiting_) {
      if (one.due > now || !one.to) continue;
      door::answer out;
      out.status = one.what.status;
      out.cut = one.what.cut;
      out.cut_in_head = one.what.cut_in_head;
      if (out.status >= 400) out.content_type = "application/problem+json";
      if (one.what.retry_after_s > 0) out.more.emplace_back("Retry-After", std::to_string(one.what.retry_after_s));
      out.body = std::move(one.what.body);
      (*std::exchange(one.to, nullptr))(std::move(out));
    }
    std::erase_if(waiting_, [](const later& one) { return !one.to; });
  }

  std::mutex guard_;
  tester tester_;
  std::vector<later> waiting_;
};

/// What the agent takes for nodes and, last, for its service: a node alone has the service, too.
using doors = std::vector<std::unique_ptr<door::listener>>;

/// Looks at the agent until the lessons are over, the agent has ended, or nobody comes.
status run_lessons(stage& on, doors& at_nodes, agent_process* agent, const check_options& options) {
  const auto since = now_ms();
  std::string shown;
  for (;;) {
    on.on_time();
    const auto at = on.with([](const tester& one) { return one.has_begun() ? one.now_at() : std::string{}; });
    if (at != shown && options.say && at != "the end") options.say("lesson " + at);
    shown = at;
    if (on.with([](const tester& one) { return one.is_over(); })) return nothing{};
    if (const auto node = on.with([](tester& one) { return one.node_to_lose(); })) at_nodes[static_cast<std::size_t>(*node)].reset();
    if (agent != nullptr && on.with([](tester& one) { return one.is_time_to_end(); })) agent->tell_to_end();
    if (interrupted) return error{v1::ERROR_CODE_TIMED_OUT, "The check was interrupted", ""};
    if (agent != nullptr) {
      if (const auto how = agent->ended()) {
        if (at.empty()) {
          const auto found = on.with([](const tester& one) { return one.findings(); });
          return error{v1::ERROR_CODE_UNAVAILABLE,
                       "The agent " + *how + " before it registered" + (found.empty() ? "" : ": " + found.front().sentence),
                       "Start it by hand to see why"};
        }
        on.on_end(*how);
        return nothing{};
      }
      if (at.empty() && now_ms() - since > options.patience_ms)
        return error{v1::ERROR_CODE_TIMED_OUT, "The agent did not register within " + std::to_string(options.patience_ms / 1000) + " s",
                     "Have it send POST /v1/workers to the address in FAIRLEAD_API"};
    }
    std::this_thread::sleep_for(look_every);
  }
}

}  // namespace

check_report report_of(const tester& of) {
  check_report out;
  for (int i = 1; i < most_rules; ++i) out.rules.push_back({i, words_of(rule{i}), of.of(rule{i})});
  out.findings = of.findings();
  return out;
}

result<check_report> check_agent(const check_options& options) {
  auto what = options.what;
  what.can_end = !options.command.empty();
  stage on{std::move(what)};
  std::atomic<int> ids = 0;
  doors open;
  std::vector<std::string> urls;
  const int count = options.what.two_nodes ? 3 : 1;
  for (int node = 0; node < count; ++node) {
    auto at = options.listen;
    if (node > 0) at.port = 0;
    auto socket = listen_on(at);
    if (!socket)
      return error{v1::ERROR_CODE_UNAVAILABLE, "Cannot listen on " + to_text(at) + ": " + socket.failure().sentence,
                   "Choose another address with --listen"};
    door::guard guards;
    guards.hosts.push_back(at.host);
    auto made = door::listener::start(
        std::move(*socket), std::move(guards),
        [&on, node](const door::request& asked, std::shared_ptr<door::answerer> to) { return on.on_request(asked, std::move(to), node); },
        [&ids] { return "check-" + std::to_string(++ids); }, FAIRLEAD_VERSION);
    if (!made) return made.failure();
    at.port = (*made)->port();
    urls.push_back("http://" + to_text(at));
    open.push_back(std::move(*made));
  }
  const auto api = options.what.two_nodes ? urls[0] + "," + urls[1] : urls[0];
  const auto service = urls.back() + service_path;
  const ends_by_signal signals;
  if (options.say && options.command.empty())
    options.say("start your agent with FAIRLEAD_API=" + api + " (and, if it calls a service, SERVICE_URL=" + service + ")");
  std::unique_ptr<agent_process> agent;
  if (!options.command.empty()) {
    auto started = agent_process::start(options.command,
                                        {{"FAIRLEAD_API", api}, {"SERVICE_URL", service}, {"FAIRLEAD_TOKEN", "fairlead-agent-check"}});
    if (!started) return started.failure();
    agent = std::move(*started);
  }
  const auto run = run_lessons(on, open, agent.get(), options);
  // Its farewell is still answered.
  if (agent) agent->end(farewell, [&on] { on.on_time(); });
  if (!run) return run.failure();
  return on.with([](const tester& one) { return report_of(one); });
}

}  // namespace fairlead::app::agent_check
