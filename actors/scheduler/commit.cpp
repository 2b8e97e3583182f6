// Commit, then act: how batches leave and what happens once they are durable.

#include <algorithm>
#include <cassert>
#include <utility>

#include "actors/core/retention_time.hpp"
#include "actors/scheduler/scheduler.hpp"
#include "store/rows/counters.hpp"

namespace fairlead {

namespace {

// A batch is closed when it has grown to this, though more messages wait: the store then works on it while the next one fills.
constexpr std::size_t flush_at_bytes = 256U << 10;
constexpr std::uint64_t usage_every_commits = 64;  // how often the store's fill is looked at
constexpr std::uint64_t usage_every_share = 256;   // and after how large a part of it has been written
constexpr duration retention_step{1'000};          // finer steps of retention time serve nobody
// So much less than full before people are told that there is room again: it goes up and down with what runs.
constexpr std::uint64_t calm_percent = 5;

}  // namespace

void scheduler::flush_if_large() {
  if (open_.bytes().size() >= flush_at_bytes) flush();
}

bool scheduler::wants_flush() const { return !open_.empty() || !gathering_.empty() || retention_wanted_ || slots_.changed(); }

void scheduler::advance_retention() {
  const auto steady = world_.time->steady();
  const auto passed = steady - retention_at_;
  const auto wall_ms = to_unix_ms(world_.time->now());
  const auto known_ms = shard_.retention_unix_ms();
  if (known_ms == 0) {
    shard_.set_retention_unix_ms(core::first_retention(shard_.latest_write_unix_ms(), wall_ms));
  } else if (passed >= retention_step) {
    shard_.set_retention_unix_ms(core::next_retention(known_ms, wall_ms, passed));
  } else {
    return;
  }
  retention_at_ = steady;
}

void scheduler::flush() {
  if (fatal_) return;
  settle_launches();
  // A launch that could only be written in part must not leave.
  if (fatal_) return;
  write_services();
  const auto retention_wanted = std::exchange(retention_wanted_, false);
  if (open_.empty() && !retention_wanted) {
    if (gathering_.empty()) return;
    // Nothing to write, but what leaves may rest on versions that are still on their way.
    if (sent_.empty())
      act(std::exchange(gathering_, {}));
    else
      sent_.back().after.append(std::exchange(gathering_, {}));
    return;
  }
  open_.sequence = next_sequence_++;
  open_.epoch = epoch_;
  advance_retention();
  shard_.set_latest_write_unix_ms(std::max(shard_.latest_write_unix_ms(), to_unix_ms(world_.time->now())));
  store::seal_counters(open_, shard_);
  auto& sent = sent_.emplace_back();
  sent.counts = shard_;
  sent.sequence = open_.sequence;
  sent.bytes = open_.bytes().size();
  sent.after = std::exchange(gathering_, {});
  sent_bytes_ += sent.bytes;
  bytes_since_usage_ += sent.bytes;
  if (faults_.act_before_commit) {
    auto early = sent.after;
    early.release({epoch_, limits_.shard, limits_.lineage}, *world_.out, *world_.log);
    sent.after.drop_messages();
  }
  world_.commits->commit(std::exchange(open_, {}));
}

void scheduler::act(effects after) {
  if (!after.performs.empty()) after.bring_leases_near(to_unix_ms(world_.time->now()));
  after.release({epoch_, limits_.shard, limits_.lineage}, *world_.out, *world_.log);
  for (const auto& id : after.new_ids) recent_ids_.erase(id);
  std::vector<watches::answer> answers;
  for (const auto number : after.changed) {
    if (watches_.has(number)) watches_.look(number, committed(), answers);
    forget_if_idle(number);
  }
  for (auto& answer : answers) world_.out->reply(answer.ticket, std::move(answer.reply));
}

void scheduler::on_committed(std::uint64_t sequence) {
  assert(sequence >= committed_sequence_ && "commits are told in order");
  if (!faults_.keep_snapshot) snapshot_.reset();
  committed_sequence_ = sequence;
  alerts_.committed_up_to(sequence);
  const auto durable = [sequence](const auto& one) { return one.second <= sequence; };
  std::erase_if(leaving_, durable);
  std::erase_if(erasing_strays_, durable);
  while (!sent_.empty() && sent_.front().sequence <= sequence) {
    auto done = std::move(sent_.front());
    sent_.pop_front();
    sent_bytes_ -= done.bytes;
    committed_shard_ = done.counts;
    act(std::move(done.after));
  }
  if (++commits_since_usage_ >= usage_every_commits || bytes_since_usage_ >= usage_.max_bytes / usage_every_share) look_at_usage();
  watch_room();
  jobs_.committed_up_to(sequence);
  admit_pending();
  admit_launches();
}

void scheduler::look_at_usage() {
  usage_ = world_.reads->get_usage();
  bytes_since_usage_ = sent_bytes_;
  commits_since_usage_ = 0;
}

// What runs will still write its steps' inputs and outputs.
std::uint64_t scheduler::reserved_bytes() const { return 2 * active_input_bytes_; }

core::store_room scheduler::room() const {
  core::store_room out;
  // What has been written since can have taken up to twice its size.
  out.used_bytes = usage_.used_bytes + 2 * (bytes_since_usage_ + open_.bytes().size());
  out.reserved_bytes = reserved_bytes();
  out.max_bytes = usage_.max_bytes;
  out.running_tasks = shard_.running() + shard_.undoing();
  return out;
}

bool scheduler::store_full() const { return room().percent() >= limits_.full_percent; }

void scheduler::watch_room() {
  // Until the sweep is over nobody knows what runs.
  if (sweeping_ || (shard_.full_alert() == 0 && !store_full())) return;
  look_at_usage();
  const auto now = room();
  if (shard_.full_alert() != 0) {
    if (now.percent() + calm_percent > limits_.full_percent) return;
    const auto resolved = alerts_.resolve(shard_.full_alert(), page(), committed());
    if (!resolved.ok()) fail(resolved.failure());
    shard_.set_full_alert(0);
  } else if (now.percent() >= limits_.full_percent) {
    tell_of_full();
  }
}

void scheduler::tell_of_full() {
  if (shard_.full_alert() != 0) return;
  const auto why = refuse_full();
  v1::AlertRecord draft;
  draft.set_kind(v1::ALERT_KIND_STORE_FULL);
  draft.set_sentence(why.sentence);
  draft.set_remedy(why.remedy);
  shard_.set_full_alert(alerts_.raise(std::move(draft), page()));
  world_.log->on_note(note_level::warning, "scheduler", why.sentence);
}

error scheduler::refuse_full() const {
  return {v1::ERROR_CODE_STORE_FULL, "no new tasks are taken, because " + room().sentence(),
          "raise store.max_size or shorten retention.archive_after; what runs goes on"};
}

std::uint64_t scheduler::active_tasks() const {
  const auto active = shard_.running() + shard_.undoing();
  // One that is held by the brake may be parked or paused as well, so this is rather too little than too much.
  return active - std::min(active, shard_.parked() + shard_.paused() + shard_.undo_held());
}

bool scheduler::settled() const { return sent_.empty() && !wants_flush(); }

void scheduler::drain() {
  draining_ = true;
  slots_.close();
}

}  // namespace fairlead
