#include "app/agent_check/service.hpp"

#include <chrono>
#include <future>
#include <memory>
#include <random>
#include <utility>

#include "actors/agents/http/transfer/loop.hpp"

namespace fairlead::app::agent_check {

namespace {

using agents::http_answer;
using header_list = std::vector<std::pair<std::string, std::string>>;

constexpr std::chrono::seconds patience{15};

/// Unlike every other: the service may have seen keys of former checks.
std::string new_key() {
  std::random_device dice;
  std::string out = "agent-check-";
  for (int i = 0; i < 4; ++i) out += std::to_string(dice());
  return out;
}

class asker {
 public:
  asker() : loop_(agents::http_limits{}) {}
  ~asker() { loop_.shut_down(); }
  asker(const asker&) = delete;
  asker& operator=(const asker&) = delete;

  http_answer ask(const std::string& method, const std::string& url, const header_list& headers, const std::string& body = {}) {
    auto job = std::make_unique<agents::http_job>();
    const auto done = std::make_shared<std::promise<http_answer>>();
    auto out = done->get_future();
    job->key.task_number = ++count_;
    job->request.method = method;
    job->request.url = url;
    job->request.headers = headers;
    job->request.headers.emplace_back("User-Agent", "fairlead");
    if (method != "GET") {
      job->request.headers.emplace_back("Content-Type", "application/json");
      job->request.body = body;
    }
    job->deadline = std::chrono::steady_clock::now() + patience;
    job->ends_at_deadline = true;
    job->finished = [done](http_answer what) { done->set_value(std::move(what)); };
    loop_.submit(std::move(job));
    return out.get();
  }

 private:
  agents::http_loop loop_;
  std::uint64_t count_ = 0;
};

bool is_good(const http_answer& what) { return what.how == http_answer::ending::answered && what.status >= 200 && what.status < 300; }

std::string text_of(const http_answer& what) {
  if (what.how != http_answer::ending::answered) return what.code + " (" + what.message + ")";
  return "status " + std::to_string(what.status);
}

header_list perform_headers(const std::string& key, int attempt) {
  return {{"Idempotency-Key", key},
          {"Fairlead-Attempt", std::to_string(attempt)},
          {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}};
}

header_list undo_headers(const std::string& key, const std::string& perform_key, bool in_doubt) {
  auto out = perform_headers(key, 1);
  out.emplace_back("Fairlead-Perform-Key", perform_key);
  out.emplace_back("Fairlead-In-Doubt", in_doubt ? "true" : "false");
  return out;
}

std::string lookup_url(std::string url, const std::string& key) {
  constexpr std::string_view mark = "{perform_key}";
  if (const auto at = url.find(mark); at != std::string::npos) url.replace(at, mark.size(), key);
  return url;
}

}  // namespace

result<service_report> check_service(const service_check& what) {
  asker to;
  service_report out;
  const auto say = [&](const std::string& line) {
    if (what.say) what.say(line);
  };
  const auto blame = [&](const char* about, const std::string& sentence) { out.findings.push_back({about, sentence}); };

  say("the same key twice");
  out.seen.emplace_back("key");
  const auto key = new_key();
  const auto first = to.ask("POST", what.url, perform_headers(key, 1), what.input);
  if (first.how == http_answer::ending::not_sent || first.how == http_answer::ending::refused)
    return error{v1::ERROR_CODE_UNAVAILABLE, "The service at " + what.url + " cannot be reached: " + text_of(first),
                 "Check the URL, and start the service"};
  if (!is_good(first)) {
    blame("key", "the first request was answered with " + text_of(first) + "; give an input that the service takes with --input");
    return out;
  }
  const auto second = to.ask("POST", what.url, perform_headers(key, 2), what.input);
  if (!is_good(second))
    blame("key", "the second request under the same key was answered with " + text_of(second) + ", the first with " + text_of(first));
  else if (second.status != first.status || second.body != first.body)
    blame("key", "the second request under the same key has another answer than the first");

  if (!what.lookup.empty()) {
    say("the look-up");
    out.seen.emplace_back("lookup");
    const auto done = to.ask("GET", lookup_url(what.lookup, key), {{"Fairlead-Perform-Key", key}});
    if (!is_good(done)) blame("lookup", "the look-up of a key that was performed was answered with " + text_of(done));
    const auto unknown = new_key();
    const auto never = to.ask("GET", lookup_url(what.lookup, unknown), {{"Fairlead-Perform-Key", unknown}});
    if (is_good(never)) blame("lookup", "the look-up of a key that was never sent was answered with " + text_of(never));
  }

  if (!what.undo.empty()) {
    say("the undo");
    out.seen.emplace_back("undo");
    const auto undo_key = new_key();
    for (const char* which : {"first", "second"})
      if (const auto undone = to.ask("POST", what.undo, undo_headers(undo_key, key, false), what.input); !is_good(undone))
        blame("undo", std::string{"the "} + which + " undo under the same key was answered with " + text_of(undone));
    const auto late = new_key();
    if (const auto undone = to.ask("POST", what.undo, undo_headers(new_key(), late, true), what.input); !is_good(undone))
      blame("undo", "the undo of a perform in doubt that never came was answered with " + text_of(undone));
    if (const auto performed = to.ask("POST", what.url, perform_headers(late, 1), what.input); is_good(performed))
      blame("undo", "a perform that came after its undo was answered with " + text_of(performed) + "; it must be refused");
  }
  return out;
}

}  // namespace fairlead::app::agent_check
