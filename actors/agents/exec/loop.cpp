#include "actors/agents/exec/loop.hpp"

namespace fairlead::agents {

exec_loop::exec_loop(std::uint32_t concurrency, std::string shepherd) {
  exec_engine::callbacks callbacks;
  callbacks.take = [this](exec_jobs& jobs, std::vector<std::uint64_t>& stops) { return inbox_.take(jobs, stops); };
  callbacks.live = [this](const attempt_key& key, std::uint64_t ticket) { return inbox_.live(key, ticket); };
  callbacks.claim = [this](const attempt_key& key, std::uint64_t ticket) { return inbox_.claim(key, ticket); };
  engine_ = std::make_unique<exec_engine>(std::move(callbacks), concurrency, std::move(shepherd));
  thread_ = std::thread([this] { engine_->run(); });
}

exec_loop::~exec_loop() { shut_down(); }

void exec_loop::submit(std::unique_ptr<exec_job> job) {
  if (inbox_.submit(std::move(job))) engine_->wake();
}

void exec_loop::stop(const attempt_key& which) {
  if (inbox_.stop(which)) engine_->wake();
}

void exec_loop::shut_down() {
  inbox_.close();
  engine_->wake();
  const std::lock_guard joining{joining_};
  if (thread_.joinable()) thread_.join();
}

}  // namespace fairlead::agents
