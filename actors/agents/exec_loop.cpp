#include "actors/agents/exec_loop.hpp"

#include <stdexcept>

namespace fairlead::agents {

std::size_t exec_loop::key_hash::operator()(const attempt_key& key) const noexcept {
  auto mix = key.task_number * 0x9e3779b97f4a7c15ULL;
  mix ^= (static_cast<std::uint64_t>(key.step) << 33) ^ (static_cast<std::uint64_t>(key.attempt) << 2) ^
         static_cast<std::uint64_t>(key.direction);
  return static_cast<std::size_t>(mix ^ (mix >> 29));
}

exec_loop::exec_loop(std::uint32_t concurrency, std::string shepherd) {
  exec_engine::callbacks callbacks;
  callbacks.take = [this](exec_jobs& jobs, std::vector<std::uint64_t>& stops) { return take(jobs, stops); };
  callbacks.live = [this](const attempt_key& key, std::uint64_t ticket) { return live(key, ticket); };
  callbacks.claim = [this](const attempt_key& key, std::uint64_t ticket) { return claim(key, ticket); };
  engine_ = std::make_unique<exec_engine>(std::move(callbacks), concurrency, std::move(shepherd));
  thread_ = std::thread([this] { engine_->run(); });
}

exec_loop::~exec_loop() { shut_down(); }

void exec_loop::submit(std::unique_ptr<exec_job> job) {
  bool wake = false;
  {
    const std::lock_guard lock{guard_};
    if (closed_) return;
    const auto ticket = next_ticket_++;
    if (!live_.emplace(job->key, ticket).second) throw std::logic_error("an attempt that is under way was started again");
    wake = submitted_.empty() && stopped_.empty();
    submitted_.emplace_back(ticket, std::move(job));
  }
  if (wake) engine_->wake();
}

void exec_loop::stop(const attempt_key& which) {
  bool wake = false;
  {
    const std::lock_guard lock{guard_};
    const auto it = live_.find(which);
    if (it == live_.end()) return;
    wake = submitted_.empty() && stopped_.empty();
    stopped_.push_back(it->second);
    live_.erase(it);
  }
  if (wake) engine_->wake();
}

void exec_loop::shut_down() {
  {
    const std::lock_guard lock{guard_};
    closed_ = true;
    live_.clear();
  }
  engine_->wake();
  const std::lock_guard joining{joining_};
  if (thread_.joinable()) thread_.join();
}

bool exec_loop::take(exec_jobs& jobs, std::vector<std::uint64_t>& stops) {
  const std::lock_guard lock{guard_};
  jobs.swap(submitted_);
  stops.swap(stopped_);
  return !closed_;
}

bool exec_loop::live(const attempt_key& key, std::uint64_t ticket) {
  const std::lock_guard lock{guard_};
  const auto it = live_.find(key);
  return it != live_.end() && it->second == ticket;
}

bool exec_loop::claim(const attempt_key& key, std::uint64_t ticket) {
  const std::lock_guard lock{guard_};
  const auto it = live_.find(key);
  if (it == live_.end() || it->second != ticket) return false;
  live_.erase(it);
  return true;
}

}  // namespace fairlead::agents
