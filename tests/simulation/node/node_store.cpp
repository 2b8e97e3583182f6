// The store of a node as it is found at a start, and one that is full.

#include <algorithm>
#include <utility>

#include "actors/shard/restore.hpp"
#include "messages/lineage.hpp"
#include "store/keys.hpp"
#include "store/rows/counters.hpp"
#include "store/rows/node_rows.hpp"
#include "store/rows/task_rows.hpp"
#include "tests/simulation/node/crier.hpp"
#include "tests/simulation/node/overseer.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::uint64_t full_percent = 90;
constexpr int most_deaths_of_full = 3;  // in a row until somebody gives it more room

/// What each start counts by itself where an earlier release has not kept it.
v1::ShardState counters_of(const v1::ShardState& from) {
  auto out = from;
  out.clear_counted_sequence();
  out.clear_jobs_counted_sequence();
  out.clear_latest_write_unix_ms();
  out.clear_retention_unix_ms();
  return out;
}

}  // namespace

bool node::full() const {
  const auto now = store_.tables_usage();
  return now.used_bytes >= now.max_bytes / 100 * full_percent;
}

void node::enlarge() {
  if (!std::exchange(small_store_, false)) return;
  store_.resize(std::uint64_t{1} << 40);
  if (up()) die();
}

/// The applier's turn. The process ends when the tables have no room, and begins again.
void node::apply() {
  applying_ = false;
  status applied = nothing{};
  const auto life = life_;
  in_process([&] {
    // The applying alone is struck: what the next process recovers while this one dies is nobody's failpoint.
    const struct hook {
      std::function<void()>& of;
      ~hook() { of = {}; }
    } only_here{archives_->on_copied};
    archives_->on_copied = [this] { pass(failpoint_id::archive_copied); };
    archives_->keeps_nothing = world_.settings.planted.move_without_copy && member_ && !is_leader();
    applied = store_.apply();
  });
  if (life != life_ || !alive_) return;
  if (applied.ok()) {
    deaths_of_full_ = 0;
    if (store_.has_more_to_apply()) arm_applier();
    return;
  }
  if (applied.failure().code != v1::ERROR_CODE_STORE_FULL || !small_store_)
    throw rule_broken{"fatal", "the tables cannot be written: " + applied.failure().sentence, false};
  world_.count("deaths of a full store");
  if (++deaths_of_full_ >= most_deaths_of_full)
    enlarge();
  else
    die();
}

void node::arm_applier() {
  if (!std::exchange(applying_, true)) world_.after(world_.disk.between(60, 140) * millisecond, of_this_process([this] { apply(); }));
}

/// An earlier release has had the store in between: it has kept some counters, not all, and sealed none.
void node::leave_old_state() {
  // Nobody has counted since the last time.
  if (expected_counts_) return;
  if (!old_store_ || !world_.strikes(concern::old_stores, world_.stores, 500)) return;
  const auto progress = store_.read()->get_progress();
  auto left = progress.shard;
  if (left.next_task_number() == 0 || !store::counters_are_kept(progress)) return;
  expected_counts_ = counters_of(left);
  auto& luck = world_.stores;
  left.set_counted_sequence(left.counted_sequence() == 0 ? 0 : left.counted_sequence() - 1);
  // Tasks by state were always counted.
  left.set_paused(luck.below(5));
  left.set_due_entries(luck.below(5));
  left.set_outbox_events(luck.below(5));
  if (luck.chance(500)) left.set_unresolved_alerts(luck.below(3));
  if (luck.chance(500)) left.set_jobs(luck.below(3));
  if (luck.chance(500) && clock_.settings() == 0) left.clear_retention_unix_ms();
  // Where no clock has been set since: what was written by one that was ahead nobody would know of.
  if (luck.chance(500) && clock_.settings() == 0) left.clear_latest_write_unix_ms();
  if (!store_.leave_state(left)) {
    expected_counts_.reset();
    return;
  }
  world_.count("starts from a store of an earlier release");
}

std::shared_ptr<const simulated_store::moment> node::back_up() {
  world_.remark(me_, "is backed up");
  checker_.of_restores().kept(store_.read(), world_.now_us());
  return store_.keep();
}

void node::lose_store(const simulated_store::moment& backup) {
  world_.tell("fate", me_, 0, [] { return std::string{"loses its store, and the backup is put back"}; });
  world_.count("stores put back");
  if (up()) die();
  checker_.of_restores().lost(*store_.read());
  store_.put_back(backup);
  put_back_ = to_be_restored_ = true;
}

/// What an operator does with `fairlead restore` before the node starts.
void node::restore() {
  // A journal that other shards of the node share is still there.
  store_.restore(world_.power.chance(500), [this](store::restorable& alone) { begin_lineage(alone, false); });
  checker_.restored(lineage_, *store_.read());
}

void node::begin_lineage(store::restorable& in, bool recovered) {
  restore_options how;
  // Who puts a backup back a second time by a clock that has gone back since sets it first: a lineage must be later than those before it.
  how.now_unix_ms = std::max(clock_.now_ms(), lineage_.made_unix_ms() + 1);
  how.bits = world_.restores.next();
  how.recovered = recovered;
  how.planted = world_.settings.planted;
  const auto done = restore_shard(in, how);
  if (!done.ok()) throw rule_broken{"fatal", "the store cannot be restored: " + done.failure().sentence, false};
  lineage_ = done->lineage;
  world_.tell(me_, "", done->steps, [&] {
    return "goes on from " + format_utc(done->backup_unix_ms) + " as lineage " + to_text(done->lineage) + ": " +
           std::to_string(done->tasks) + " tasks, " + std::to_string(done->steps) + " steps in doubt";
  });
  world_.count("steps that a restore put in doubt", done->steps);
}

/// What an operator does with `fairlead cluster recover`.
v1::Lineage node::recover(raft::replica_id id, const store::snapshot& lost,
                          const std::function<std::int64_t(std::uint64_t sequence)>& since_us) {
  v1::ShardNodes nodes;
  if (const auto before = store::nodes_in(*store_.read())) nodes = *before;
  nodes.clear_nodes();
  nodes.set_version(nodes.version() + 1);
  nodes.set_format(std::max(nodes.format(), known_format_));
  auto* const me = nodes.add_nodes();
  me->set_name(me_);
  me->set_replica(id);
  store_.recover(world_.power.chance(500), id, nodes, [&](store::restorable& alone) {
    auto found = alone.read();
    const auto at_us = since_us(found->get_progress().sequence);
    checker_.of_restores().kept(std::move(found), at_us);
    checker_.of_restores().lost(lost);
    begin_lineage(alone, true);
  });
  checker_.restored(lineage_, *store_.read());
  return lineage_;
}

/// Whatever it has left is counted anew before anything is decided.
void node::judge_counts() {
  if (!expected_counts_) return;
  const auto wanted = *std::exchange(expected_counts_, std::nullopt);
  v1::StatusReply status;
  shell_->describe(status);
  const auto counted = counters_of(status.counts());
  if (counted.SerializeAsString() != wanted.SerializeAsString())
    world::broken("miscounted", "a store that an earlier release has written to is counted as " + counted.ShortDebugString() + ", and is " +
                                    wanted.ShortDebugString());
}

/// Many at a time only: with few, everything else sees them.
void node::note_due() {
  constexpr std::uint64_t few = 200;
  const auto view = store_.read();
  due_at_start_ = 0;
  if (view->count(store::table::due) < few) return;
  const auto now = store::keys::due(store::default_namespace, to_unix_ms(time().now()), 0);
  const auto scanned = view->scan(store::table::due, {}, now, [&](std::string_view key, std::string_view) {
    const auto entry = store::keys::decode_due(key);
    const auto record = entry ? store::load_task(*view, entry->number) : result<std::optional<v1::TaskRecord>>{std::nullopt};
    if (!record.ok() || !*record) return true;
    const auto state = (*record)->state();
    if (state == v1::TASK_STATE_RUNNING || state == v1::TASK_STATE_UNDOING) ++due_at_start_;
    return true;
  });
  if (!scanned.ok()) throw rule_broken{"fatal", "the due index cannot be read: " + scanned.failure().sentence, false};
  if (due_at_start_ > 512) world_.count("starts with more than a chunk of tasks");
}

void node::judge_sweep() {
  v1::StatusReply status;
  shell_->describe(status);
  if (status.resumed_tasks() < due_at_start_)
    world::broken("not_taken_up", "of " + std::to_string(due_at_start_) + " tasks that were due at a start " +
                                      std::to_string(status.resumed_tasks()) + " have been taken up");
}

}  // namespace fairlead::simulation
