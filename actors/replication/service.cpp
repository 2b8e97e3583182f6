#include "actors/replication/service.hpp"

#include <utility>

namespace fairlead {

replica_service::~replica_service() {
  if (replica_ != nullptr) replica_->serve(nullptr);
}

void replica_service::serve(replica& which) {
  replica_ = &which;
  replica_->serve(this);
  wake();
}

// ---- what comes in ----

void replica_service::commit(std::uint64_t from, store::batch what) {
  // One that is being stopped commits nothing any more.
  if (!leads_) return;
  // What a Scheduler before it has left is of an earlier epoch.
  if (std::exchange(scheduler_, from) != from) gathered_.clear();
  gathered_.push_back(std::move(what));
  wake();
}

status replica_service::receive(const raft::message& what) {
  wake();
  return replica_->receive(what);
}

status replica_service::tick() {
  if (auto done = replica_->tick(); !done) return done;
  return replica_->wants_settle() ? flush() : status(nothing{});
}

std::uint64_t replica_service::confirm(std::uint64_t epoch) {
  wake();
  return replica_->confirm(epoch);
}

status replica_service::unreachable(raft::replica_id who) { return replica_->unreachable(who); }

void replica_service::wake() {
  if (!std::exchange(awake_, true)) world_.wake();
}

// ---- a turn ----

status replica_service::flush() {
  awake_ = false;
  if (!gathered_.empty())
    if (auto done = propose(); !done) return done;
  if (auto done = replica_->settle(); !done) return done;
  act();
  if (replica_->wants_settle()) wake();
  return nothing{};
}

status replica_service::propose() {
  auto taken = replica_->propose(gathered_);
  // What a Scheduler that was replaced meanwhile commits counts no more than what one does whose replica led.
  if (!taken.ok() && taken.failure().code == v1::ERROR_CODE_STALE_EPOCH) taken = replica::proposal::not_leader;
  if (!taken.ok()) return taken.failure();
  if (*taken == replica::proposal::taken) {
    proposed next{gathered_.back().sequence, gathered_.size(), 0, std::chrono::steady_clock::now()};
    for (const auto& one : gathered_) next.bytes += one.bytes().size();
    proposed_.push_back(next);
  }
  if (*taken != replica::proposal::later) gathered_.clear();
  return nothing{};
}

/// Tells on what consensus has said meanwhile.
void replica_service::act() {
  std::unique_lock lock(guard_);
  const auto sequence = std::exchange(committed_, 0);
  const auto led = std::exchange(led_, {});
  const auto answers = std::exchange(answers_, {});
  lock.unlock();
  if (sequence != 0) {
    for (; !proposed_.empty() && proposed_.front().last_sequence <= sequence; proposed_.pop_front()) {
      const auto took = std::chrono::steady_clock::now() - proposed_.front().since;
      world_.measured(proposed_.front().batches, proposed_.front().bytes, std::chrono::duration_cast<std::chrono::microseconds>(took));
    }
    if (scheduler_ != 0) world_.committed(sequence);
  }
  for (const bool leads : led) {
    gathered_.clear();
    proposed_.clear();
    scheduler_ = 0;
    leads_ = leads;
    world_.leads(leads);
  }
  for (const auto& [ticket, led_then] : answers) world_.confirmed(ticket, led_then);
}

// ---- what consensus says ----

void replica_service::committed(std::uint64_t sequence) {
  const std::lock_guard lock(guard_);
  committed_ = sequence;
}

void replica_service::leads(std::uint64_t) {
  const std::lock_guard lock(guard_);
  led_.push_back(true);
}

void replica_service::leads_no_longer() {
  const std::lock_guard lock(guard_);
  led_.push_back(false);
}

void replica_service::confirmed(std::uint64_t ticket, bool led) {
  const std::lock_guard lock(guard_);
  answers_.emplace_back(ticket, led);
}

}  // namespace fairlead
