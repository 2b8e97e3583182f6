#include "actors/agents/native.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "actors/core/text/json.hpp"

namespace fairlead::agents {

namespace {

using steady = std::chrono::steady_clock;
constexpr std::uint32_t max_threads = 4096;
constexpr std::size_t max_checkpoint = 65'536;
constexpr auto shut_down_limit = std::chrono::milliseconds{1'800};

/// The end of the try, never later than the end of the lease; 0: none.
std::int64_t end_of_try_unix_ms(const v1::Perform& what) {
  if (what.try_until_unix_ms() == 0) return what.complete_by_unix_ms();
  return what.complete_by_unix_ms() == 0 ? what.try_until_unix_ms() : std::min(what.try_until_unix_ms(), what.complete_by_unix_ms());
}

native_context context_of(const v1::Perform& what, const std::atomic<bool>& flag, const native_context::listener& told) {
  native_context context{flag, told};
  context.task_id = what.task_id();
  context.step_path = what.step_path();
  context.idempotency_key = what.idempotency_key();
  context.direction = what.direction();
  context.attempt = what.attempt();
  context.try_number = std::max<std::uint32_t>(what.try_number(), 1);
  context.complete_by = from_unix_ms(end_of_try_unix_ms(what));
  context.checkpoint = what.checkpoint();
  context.callback_url = what.callback_url();
  context.perform_key = what.perform_key();
  context.in_doubt = what.in_doubt();
  context.perform_output = what.perform_output();
  return context;
}

attempt_result look_up(const native_agent_config& config, const v1::Perform& what, const std::atomic<bool>& flag,
                       const native_context::listener& told) {
  const auto found = config.lookups.find(what.call());
  if (found == config.lookups.end()) return not_known();
  const auto name = "the lookup of " + what.call();
  // Unlike a perform, a look-up that broke off leaves nothing more in doubt than before.
  try {
    auto out = found->second(context_of(what, flag, told), what.input());
    if (out.fault) return out;
    switch (out.verdict) {
      case v1::LOOKUP_VERDICT_NEVER_HAPPENED:
      case v1::LOOKUP_VERDICT_UNKNOWN: out.output.clear(); return out;
      case v1::LOOKUP_VERDICT_DONE:
        if (out.output.empty()) out.output = "null";
        if (core::check_json(out.output).ok()) return out;
        return permanent_fault("bad_output", name + " returned a value that is not JSON");
      default: return permanent_fault("bad_verdict", name + " did not say whether it happened");
    }
  } catch (const std::exception& e) {
    return transient_fault("handler_threw", name + " threw: " + printable(e.what(), 200));
  } catch (...) {
    return transient_fault("handler_threw", name + " threw an exception that is not a std::exception");
  }
}

attempt_result run(const native_agent_config& config, const v1::Perform& what, const std::atomic<bool>& flag,
                   const native_context::listener& told) {
  if (what.direction() == v1::DIRECTION_LOOKUP) return look_up(config, what, flag, told);
  const auto found = config.calls.find(what.call());
  if (found == config.calls.end()) {
    return permanent_fault("unknown_call", "this agent has no call named " + what.call());
  }
  try {
    auto out = found->second(context_of(what, flag, told), what.input());
    if (out.fault) return out;
    if (out.output.empty()) {
      out.output = "null";
    } else if (const auto valid = core::check_json(out.output); !valid.ok()) {
      auto fault = in_doubt_fault("bad_output", "the handler of " + what.call() + " returned a value that is not JSON");
      fault.tries = out.tries;
      return fault;
    }
    return out;
  } catch (const std::exception& e) {
    return in_doubt_fault("handler_threw", "the handler of " + what.call() + " threw: " + printable(e.what(), 200));
  } catch (...) {
    return in_doubt_fault("handler_threw", "the handler of " + what.call() + " threw an exception that is not a std::exception");
  }
}

template <class Handler>
std::vector<std::string> names(const std::map<std::string, Handler>& handlers) {
  std::vector<std::string> out;
  for (const auto& [name, handler] : handlers) out.push_back(name);
  return out;
}

class direct_backend final : public backend {
 public:
  explicit direct_backend(native_agent_config config) : config_(std::move(config)) {}

  void start(const v1::Perform& what, completion done) override {
    if (closed_.load(std::memory_order_acquire)) return;
    const auto key = key_of(what);
    const native_context::listener told = [this, &key](attempt_progress progress) {
      if (sink_) sink_(key, std::move(progress));
      return true;
    };
    done(key, run(config_, what, closed_, told));
  }

  // No attempt is in progress once start has returned.
  void stop(const attempt_key&) override {}

  std::vector<std::string> calls() const override { return names(config_.calls); }
  std::vector<std::string> lookups() const override { return names(config_.lookups); }
  std::uint32_t capacity() const override { return config_.capacity; }
  // No attempt is in progress between two messages of the host, so no handler can miss a heartbeat.
  void report_progress_to(progress_sink sink) override { sink_ = std::move(sink); }
  void shut_down() override { closed_.store(true, std::memory_order_release); }

 private:
  const native_agent_config config_;
  progress_sink sink_;
  std::atomic<bool> closed_{false};
};

struct job {
  v1::Perform what;
  attempt_key key;
  completion done;
  std::atomic<bool> stopped{false};
};

// Shared with every thread, so that a thread left behind by shut_down still has its handlers.
struct pool {
  explicit pool(native_agent_config c) : config(std::move(c)) {}

  const native_agent_config config;
  progress_sink sink;  // set before the first job
  std::mutex guard;
  std::condition_variable work;     // something was queued, or closed
  std::condition_variable quieter;  // a thread ended or a completion returned
  std::deque<std::shared_ptr<job>> queue;
  std::list<std::shared_ptr<job>> live;  // queued or running, not stopped; only these may complete
  std::uint32_t threads = 0;
  std::uint32_t idle = 0;
  std::uint32_t delivering = 0;
  bool closed = false;
};

// Caller holds the guard. True: this caller may complete the job.
bool claim(pool& p, const std::shared_ptr<job>& j) {
  for (auto it = p.live.begin(); it != p.live.end(); ++it) {
    if (*it == j) {
      p.live.erase(it);
      return true;
    }
  }
  return false;
}

// Under the guard, so that no progress is reported once shut_down has closed the pool.
bool tell(pool& p, const job& j, attempt_progress progress) {
  const std::lock_guard lock{p.guard};
  if (p.closed || j.stopped.load(std::memory_order_acquire)) return false;
  if (p.sink) p.sink(j.key, std::move(progress));
  return true;
}

void serve(const std::shared_ptr<pool>& shared) {
  auto& p = *shared;
  std::unique_lock lock{p.guard};
  for (;;) {
    ++p.idle;
    p.work.wait(lock, [&] { return p.closed || !p.queue.empty(); });
    --p.idle;
    if (p.closed) break;
    const auto j = p.queue.front();
    p.queue.pop_front();
    lock.unlock();
    const auto by = end_of_try_unix_ms(j->what);
    const native_context::listener told = [&p, &j](attempt_progress progress) { return tell(p, *j, std::move(progress)); };
    auto result = by != 0 && to_unix_ms(system_clock{}.now()) >= by
                      ? transient_fault("not_started", "no thread of the agent was free in time")
                      : run(p.config, j->what, j->stopped, told);
    lock.lock();
    if (!claim(p, j)) continue;
    ++p.delivering;
    lock.unlock();
    try {
      j->done(j->key, std::move(result));
    } catch (...) {
      // A completion only passes the result on. No other receiver exists, and the thread must live on: the lease will end the attempt.
    }
    lock.lock();
    --p.delivering;
    p.quieter.notify_all();
  }
  --p.threads;
  p.quieter.notify_all();
}

class pooled_backend final : public backend {
 public:
  explicit pooled_backend(native_agent_config config) : pool_(std::make_shared<pool>(std::move(config))) {}
  pooled_backend(const pooled_backend&) = delete;
  pooled_backend& operator=(const pooled_backend&) = delete;
  ~pooled_backend() override { shut_down(); }

  void start(const v1::Perform& what, completion done) override {
    auto j = std::make_shared<job>();
    j->what = what;
    j->key = key_of(what);
    j->done = std::move(done);
    {
      const std::lock_guard lock{pool_->guard};
      if (pool_->closed) return;
      // An idle thread that was notified but has not woken yet still counts as idle: so compare with the queue.
      if (pool_->idle <= pool_->queue.size() && pool_->threads < pool_->config.capacity) add_thread();
      if (pool_->threads > 0) {
        pool_->live.push_back(j);
        pool_->queue.push_back(std::move(j));
        pool_->work.notify_one();
        return;
      }
    }
    j->done(j->key, transient_fault("not_started", "the system refused to start a thread"));
  }

  void stop(const attempt_key& which) override {
    const std::lock_guard lock{pool_->guard};
    for (auto it = pool_->live.begin(); it != pool_->live.end(); ++it) {
      if (!((*it)->key == which)) continue;
      const auto j = *it;
      j->stopped.store(true, std::memory_order_release);
      pool_->live.erase(it);
      for (auto queued = pool_->queue.begin(); queued != pool_->queue.end(); ++queued) {
        if (*queued == j) {
          pool_->queue.erase(queued);
          break;
        }
      }
      return;
    }
  }

  std::vector<std::string> calls() const override { return names(pool_->config.calls); }
  std::vector<std::string> lookups() const override { return names(pool_->config.lookups); }
  std::uint32_t capacity() const override { return pool_->config.capacity; }
  // A handler can hang, and its thread with it: only its own reports count as signs of life.
  bool beats_itself() const override { return true; }
  void report_progress_to(progress_sink sink) override { pool_->sink = std::move(sink); }

  void shut_down() override {
    std::unique_lock lock{pool_->guard};
    pool_->closed = true;
    for (const auto& j : pool_->live) j->stopped.store(true, std::memory_order_release);
    pool_->live.clear();
    pool_->queue.clear();
    pool_->work.notify_all();
    pool_->quieter.wait_until(lock, steady::now() + shut_down_limit, [&] { return pool_->threads == 0; });
  }

 private:
  // Caller holds the guard. Detached, since shut_down cannot wait for ever; `threads` counts the threads instead.
  void add_thread() {
    try {
      std::thread([shared = pool_] { serve(shared); }).detach();
      ++pool_->threads;
    } catch (const std::system_error&) {
      // The existing threads go on; if there is none, the caller answers that nothing was started.
    }
  }

  const std::shared_ptr<pool> pool_;
};

}  // namespace

bool native_context::heartbeat(std::optional<std::uint32_t> percent, std::string_view note, std::string_view checkpoint) const {
  if (stopped() || checkpoint.size() > max_checkpoint || (!checkpoint.empty() && !core::check_json(checkpoint).ok())) return false;
  return (*told_)({percent, std::string{note}, std::string{checkpoint}});
}

result<std::unique_ptr<backend>> make_native_backend(native_agent_config config) {
  if (config.calls.empty()) {
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "a native agent has no calls", "give it at least one handler"};
  }
  for (const auto& [name, handler] : config.calls) {
    if (!handler || name.empty()) {
      return error{v1::ERROR_CODE_INVALID_ARGUMENT, "call '" + name + "' of a native agent has no name or no handler", "give it both"};
    }
  }
  for (const auto& [name, handler] : config.lookups) {
    if (!handler) {
      return error{v1::ERROR_CODE_INVALID_ARGUMENT, "the lookup of '" + name + "' of a native agent has no handler", "give it one"};
    }
    if (config.calls.count(name) == 0) {
      return error{v1::ERROR_CODE_INVALID_ARGUMENT, "a native agent looks up '" + name + "', which is not one of its calls",
                   "give the lookup the name of the call that it looks up"};
    }
  }
  if (config.capacity == 0 || (config.mode == native_mode::pooled && config.capacity > max_threads)) {
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "the capacity of a native agent is " + std::to_string(config.capacity),
                 "1 to " + std::to_string(max_threads)};
  }
  if (config.mode == native_mode::direct) return std::unique_ptr<backend>{std::make_unique<direct_backend>(std::move(config))};
  return std::unique_ptr<backend>{std::make_unique<pooled_backend>(std::move(config))};
}

}  // namespace fairlead::agents
