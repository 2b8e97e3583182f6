#include "actors/scheduler/commit/pipeline.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "actors/core/retention_time.hpp"
#include "store/rows/counters.hpp"

namespace fairlead {

namespace {

constexpr std::size_t flush_at_bytes = 256U << 10;
constexpr std::uint64_t usage_every_commits = 64;  // how often the store's usage is read
constexpr std::uint64_t usage_every_share = 256;   // and after writing 1/256 of the store's size
constexpr duration retention_step{1'000};          // finer steps of retention time are of no use

}  // namespace

commit_pipeline::commit_pipeline(ports world, std::uint32_t shard, const v1::Lineage& lineage, const core::planted_faults& planted)
    : world_(world), shard_(shard), lineage_(lineage), planted_(planted) {}

status commit_pipeline::open(std::uint64_t epoch) {
  epoch_ = epoch;
  const auto progress = committed().get_progress();
  next_sequence_ = progress.sequence + 1;
  committed_sequence_ = progress.sequence;
  counts_ = progress.shard;
  // An earlier release, which did not keep all counters, wrote last.
  if (!store::counters_are_kept(progress)) {
    if (auto counted = store::recount(committed(), counts_); !counted) return counted;
  }
  committed_counts_ = counts_;
  if (counts_.next_task_number() == 0) counts_.set_next_task_number(1);
  retention_at_ = world_.time->steady();
  look_at_usage();
  return nothing{};
}

const store::snapshot& commit_pipeline::committed() {
  if (!snapshot_) snapshot_ = world_.reads->read();
  return *snapshot_;
}

bool commit_pipeline::is_large() const { return rows_.bytes().size() >= flush_at_bytes; }

std::optional<effects> commit_pipeline::flush() {
  const auto retention_wanted = std::exchange(retention_wanted_, false);
  if (rows_.empty() && !retention_wanted) {
    if (after_.empty()) return std::nullopt;
    if (world_.confirms && !planted_.leave_unconfirmed) {
      // Not with a batch that is under way: that may count although another node leads since (a leader that was stopped for a while).
      auto& asked = sent_.emplace_back();
      asked.sequence = next_sequence_ - 1;
      asked.counts = counts_;
      asked.after = std::exchange(after_, {});
      asked.ticket = ++last_ticket_;
      world_.commits->confirm(asked.ticket);
      return std::nullopt;
    }
    if (sent_.empty()) return std::exchange(after_, {});
    // The effects may depend on versions that are not durable yet.
    sent_.back().after.append(std::exchange(after_, {}));
    return std::nullopt;
  }
  rows_.sequence = next_sequence_++;
  rows_.epoch = epoch_;
  advance_retention();
  counts_.set_latest_write_unix_ms(std::max(counts_.latest_write_unix_ms(), to_unix_ms(world_.time->now())));
  store::seal_counters(rows_, counts_);
  auto& sent = sent_.emplace_back();
  sent.counts = counts_;
  sent.sequence = rows_.sequence;
  sent.bytes = rows_.bytes().size();
  sent.flushed_at = world_.time->steady();
  sent.after = std::exchange(after_, {});
  sent_bytes_ += sent.bytes;
  bytes_since_usage_ += sent.bytes;
  if (planted_.act_before_commit) {
    auto early = sent.after;
    early.release({epoch_, shard_, lineage_}, *world_.out, *world_.log);
    sent.after.drop_messages();
  }
  world_.commits->commit(std::exchange(rows_, {}));
  return std::nullopt;
}

void commit_pipeline::committed_up_to(std::uint64_t sequence, const std::function<void(effects)>& act) {
  assert(sequence >= committed_sequence_ && "commits are told in order");
  if (!planted_.keep_snapshot) snapshot_.reset();
  committed_sequence_ = sequence;
  if (!sent_.empty() && sent_.front().bytes > 0) commit_time_ = world_.time->steady() - sent_.front().flushed_at;
  act_on_front(act);
  if (++commits_since_usage_ >= usage_every_commits || bytes_since_usage_ >= usage_.max_bytes / usage_every_share) look_at_usage();
}

/// In order: effects leave as their decisions were made.
void commit_pipeline::act_on_front(const std::function<void(effects)>& act) {
  while (!sent_.empty() && sent_.front().sequence <= committed_sequence_ && sent_.front().ticket == 0) {
    auto done = std::move(sent_.front());
    sent_.pop_front();
    sent_bytes_ -= done.bytes;
    committed_counts_ = done.counts;
    act(std::move(done.after));
  }
}

void commit_pipeline::confirmed(std::uint64_t ticket, bool led, const std::function<void(effects)>& act) {
  const auto asked = std::find_if(sent_.begin(), sent_.end(), [&](const sent_batch& one) { return one.ticket == ticket; });
  if (asked == sent_.end()) return;
  asked->ticket = 0;
  if (!led) asked->after.drop_messages();
  act_on_front(act);
}

void commit_pipeline::release(effects& what) {
  if (!what.performs.empty()) what.bring_leases_near(to_unix_ms(world_.time->now()));
  what.release({epoch_, shard_, lineage_}, *world_.out, *world_.log);
}

void commit_pipeline::bring_up_to(const v1::TaskRecord& task) {
  for (auto& sent : sent_) sent.after.bring_up_to(task);
  after_.bring_up_to(task);
}

std::vector<v1::Perform> commit_pipeline::keep_back(const std::string& instance) {
  std::vector<v1::Perform> out;
  const auto take = [&](effects& from) {
    const auto found = from.performs.find(instance);
    if (found == from.performs.end()) return;
    auto& items = *found->second.mutable_items();
    out.insert(out.end(), std::make_move_iterator(items.begin()), std::make_move_iterator(items.end()));
    from.performs.erase(found);
  };
  take(after_);
  for (auto& sent : sent_) take(sent.after);
  return out;
}

// ---- retention time ----

void commit_pipeline::advance_retention() {
  const auto steady = world_.time->steady();
  const auto passed = steady - retention_at_;
  const auto wall_ms = to_unix_ms(world_.time->now());
  const auto known_ms = counts_.retention_unix_ms();
  if (known_ms == 0) {
    counts_.set_retention_unix_ms(core::first_retention(counts_.latest_write_unix_ms(), wall_ms));
  } else if (passed >= retention_step) {
    counts_.set_retention_unix_ms(core::next_retention(known_ms, wall_ms, passed));
  } else {
    return;
  }
  retention_at_ = steady;
}

void commit_pipeline::put_retention_forward() {
  const auto before_ms = counts_.retention_unix_ms();
  advance_retention();
  retention_wanted_ = retention_wanted_ || counts_.retention_unix_ms() != before_ms;
}

// ---- the room in the store ----

void commit_pipeline::look_at_usage() {
  usage_ = world_.reads->get_usage();
  bytes_since_usage_ = sent_bytes_;
  commits_since_usage_ = 0;
}

core::store_room commit_pipeline::room(std::uint64_t reserved_bytes) const {
  core::store_room out;
  // Bytes written since can have taken up to twice their size.
  out.used_bytes = usage_.used_bytes + 2 * (bytes_since_usage_ + rows_.bytes().size());
  out.reserved_bytes = reserved_bytes;
  out.max_bytes = usage_.max_bytes;
  out.running_tasks = counts_.running() + counts_.undoing();
  return out;
}

}  // namespace fairlead
