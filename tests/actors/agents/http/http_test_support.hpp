#pragma once
// What the tests of backends share: performs, and a place where completions arrive.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "actors/agents/attempt_results.hpp"
#include "actors/agents/backend.hpp"
#include "actors/agents/http/config.hpp"
#include "messages/time.hpp"
#include "tests/eventually.hpp"

namespace fairlead::test {

using agents::key_of;

inline std::int64_t now_ms() { return to_unix_ms(system_clock{}.now()); }

inline v1::Perform a_perform(std::uint64_t task, const std::string& call, const std::string& input = "{}",
                             std::int64_t budget_ms = 20'000) {
  v1::Perform out;
  out.set_task_number(task);
  out.set_task_id("order-" + std::to_string(task));
  out.set_workflow("order");
  out.set_step(1);
  out.set_step_path("charge");
  out.set_attempt(3);
  out.set_call(call);
  out.set_input(input);
  out.set_complete_by_unix_ms(now_ms() + budget_ms);
  out.set_budget_ms(budget_ms);
  out.set_idempotency_key("order-" + std::to_string(task) + "/charge/perform/1");
  return out;
}

/// Collects completions by task number; a second one for the same task is counted.
class inbox {
 public:
  agents::completion taker() {
    return [this](const agents::attempt_key& key, agents::attempt_result result) {
      const std::lock_guard lock{guard_};
      ++total_;
      results_[key.task_number] = std::move(result);
      arrived_.notify_all();
    };
  }
  bool wait_for(std::size_t count, std::chrono::milliseconds limit = std::chrono::seconds{15}) {
    std::unique_lock lock{guard_};
    return arrived_.wait_for(lock, limit, [&] { return total_ >= count; });
  }
  std::size_t total() const {
    const std::lock_guard lock{guard_};
    return total_;
  }
  agents::attempt_result of(std::uint64_t task) const {
    const std::lock_guard lock{guard_};
    const auto it = results_.find(task);
    return it == results_.end() ? agents::faulted(v1::FAULT_KIND_UNSPECIFIED, "none_arrived", "") : it->second;
  }

 private:
  mutable std::mutex guard_;
  std::condition_variable arrived_;
  std::map<std::uint64_t, agents::attempt_result> results_;
  std::size_t total_ = 0;
};

/// Runs one attempt and returns its end.
inline agents::attempt_result run_one(agents::backend& agent, const v1::Perform& what) {
  inbox box;
  agent.start(what, box.taker());
  box.wait_for(1);
  auto out = box.of(what.task_number());
  agent.stop(key_of(what));
  return out;
}

/// `transient connection_refused`, or `ok {"id":1}`.
inline std::string brief(const agents::attempt_result& result) {
  if (!result.fault) return "ok " + result.output;
  const auto kind = result.fault->kind();
  const std::string word = kind == v1::FAULT_KIND_TRANSIENT   ? "transient"
                           : kind == v1::FAULT_KIND_PERMANENT ? "permanent"
                           : kind == v1::FAULT_KIND_IN_DOUBT  ? "in_doubt"
                                                              : "unspecified";
  return word + " " + result.fault->code();
}

/// An agent whose call `do` posts to /do at `base_url`.
inline agents::http_agent_config one_call(const std::string& base_url) {
  agents::http_agent_config out;
  out.name = "payment";
  out.base_url = base_url;
  out.concurrency = 4;
  out.calls["do"].url = "/do";
  return out;
}

}  // namespace fairlead::test
