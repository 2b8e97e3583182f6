#include "tests/simulation/node/node.hpp"

#include "messages/lineage.hpp"
#include "tests/simulation/node/crier.hpp"
#include "tests/simulation/node/overseer.hpp"
#include "tests/simulation/shard/home.hpp"
#include "tests/simulation/shard/member.hpp"

namespace fairlead::simulation {

namespace {

bool speaks_of(store::table where, const store::batch& what) {
  bool out = false;
  what.for_each([&](const store::operation& op) { out = out || op.where == where; });
  return out;
}

}  // namespace

std::function<void()> node::of_this_life(std::function<void()> what) {
  return [this, core = core_, what = std::move(what)] {
    const auto now = [this, core, what] {
      if (core == core_ && serves()) what();
    };
    world_.now_us() < stopped_until_us_ ? when_awake(now) : now();
  };
}

std::function<void()> node::of_this_process(std::function<void()> what) {
  return [this, life = life_, what = std::move(what)] {
    const auto now = [this, life, what] {
      if (life == life_ && up()) what();
    };
    world_.now_us() < stopped_until_us_ ? when_awake(now) : now();
  };
}

std::function<void()> node::of_this_lead(std::function<void()> what) {
  return of_this_process([this, lead = lead_, what = std::move(what)] {
    if (lead == lead_) what();
  });
}

void node::in_process(const std::function<void()>& what) {
  checker_.of_bugs().at(core_);
  // By what it shows now it is judged, and it may show less before that is written.
  if (member_) home_.follow_clock();
  try {
    what();
  } catch (const process_killed&) {
    if (world_.hosts.chance(400) && world_.settings.has(concern::lone_crashes) && serves())
      crash_core();
    else
      die();
  }
}

void node::pass(failpoint_id where) {
  if (world_.strikes(where)) throw process_killed{};
}

// ---- life and death ----

void node::start() {
  if (home_.replicated()) home_.of_upgrades().starts(*this);
  ++life_;
  alive_ = true;
  if (std::exchange(to_be_restored_, false)) restore();
  arm_applier();  // what was recovered
  if (home_.replicated()) {
    member_ = std::make_unique<member>(*this, home_.settings_of(place_));
    member_->begin();
    home_.node_started(*this);
    return;
  }
  start_errands();
  world_.after(10, of_this_process([this] { home_.node_started(*this); }));
  leave_old_state();
  // It may have to be copied or checked before it opens.
  if (world_.strikes(concern::slow_disk, world_.stores, 40))
    world_.after(world_.stores.between(300, 6'000) * millisecond, of_this_process([this] {
                   if (!serves()) start_core();
                 }));
  else
    start_core();
}

void node::start_core() {
  ++core_;
  const auto own = store_.claim_lineage(first_lineage(clock_.now_ms(), world_.restores.next()));
  if (!own.ok()) throw rule_broken{"fatal", "the store is refused: " + own.failure().sentence, false};
  lineage_ = *own;
  const auto epoch = begin_epoch();
  if (!epoch) return;
  world_.tell(me_, "", *epoch, [&] { return "starts under epoch " + std::to_string(*epoch); });
  if (!member_) write_late();
  scheduler_limits limits;
  if (world_.disk.chance(300)) limits.running_tasks = 1 + world_.disk.below(3);
  if (world_.disk.chance(80)) limits.pending_tasks = 1 + world_.disk.below(2);
  if (world_.families.chance(150)) limits.family_tasks = 2 + world_.families.below(4);
  limits.shard = shard_;
  limits.lineage = lineage_;
  limits.shard_count = agents_.shards();
  limits.failing_alert_after = std::chrono::milliseconds{world_.settings.failing_alert_after_ms};
  limits.replica_alert_after = std::chrono::seconds{5};
  limits.registry.absent_alert_after = std::chrono::milliseconds{world_.settings.absent_alert_after_ms};
  if (world_.disk.chance(150)) {
    limits.brake.share_percent = 30;
    limits.brake.at_least = 1 + world_.disk.below(2);
    limits.brake.window = std::chrono::seconds{20};
  }
  limit_launches(limits, *epoch);
  if (home_.is_latest(*epoch)) checker_.runs_at_most(limits.running_tasks);
  checker_.has_families_of(2 * limits.family_tasks);
  in_process([&] {
    pass(failpoint_id::start_epoch_raised);
    scheduler::ports around{&time(), &store_, this, this, this, &engine_, &zones_};
    around.work_key = random_bytes({world_.settings.seed, *epoch * 1'000 + shard_}, work_key_bytes);
    if (member_) {
      around.confirms = true;
      around.replication = [this] { return member_->describe(); };
    }
    shell_ = std::make_unique<scheduler>(around, limits, world_.settings.planted);
    const auto opened = shell_->open(*epoch);
    if (!opened.ok()) throw rule_broken{"fatal", "the shard does not open: " + opened.failure().sentence, false};
    judge_counts();
    note_due();
    pass(failpoint_id::start_opened);
    const auto supervisors = world_.settings.has(concern::second_supervisor) ? 1 + world_.clocks.below(2) : 1;
    for (std::uint64_t i = 0; i < supervisors; ++i) {
      overseers_.push_back(std::make_unique<overseer>(*this, world_.clocks.between(200, 1'500)));
      overseers_.back()->begin();
    }
    crier_ = std::make_unique<crier>(*this);
    crier_->begin();
    sweeping_ = true;
    world_.after(100, of_this_life([this] { sweep(); }));
    if (member_) home_.claims(*this, *epoch);
    after_message();
    world_.after(50, of_this_life([this] { take_held(); }));
    world_.after(look_period_us, of_this_life([this] { look_at_agents(); }));
  });
}

void node::limit_launches(scheduler_limits& limits, std::uint64_t epoch) {
  auto& luck = world_.jobs;
  const auto few = luck.chance(350);
  const auto most = luck.between(1, 3);
  const auto slowly = luck.chance(250);
  const auto a_second = luck.between(1, 4);
  // They are the cluster's, and this shard has to keep to its part.
  if (few) limits.cron.in_flight = static_cast<std::uint64_t>(most) * limits.shard_count;
  if (slowly) limits.cron.starts_per_second = static_cast<std::uint32_t>(a_second) * limits.shard_count;
  if (home_.is_latest(epoch))
    checker_.of_jobs().starts_under(few ? static_cast<std::uint64_t>(most) : 0, slowly ? static_cast<std::uint32_t>(a_second) : 0);
}

void node::take_held() {
  for (auto& one : std::exchange(held_, {})) {
    if (serves())
      one();
    else
      held_.push_back(std::move(one));
  }
}

void node::sweep() {
  in_process([&] {
    const auto more = shell_->resume_some();
    sweeping_ = more;
    if (!more) judge_sweep();
    pass(failpoint_id::start_sweeping);
    if (more) world_.after(world_.disk.between(50, 500), of_this_life([this] { sweep(); }));
    after_message();
  });
}

/// Nothing of an earlier Scheduler is written once there is another.
void node::write_late() {
  if (world_.settings.planted.take_old_epoch) store_.plant_any_epoch();
  const auto late = std::exchange(ghost_, {});
  if (!late || late->epoch >= store_.read()->get_progress().epoch) return;
  world_.judges("old_epoch");
  if (store_.commit({*late}).ok()) world::broken("old_epoch", me_ + "'s store has taken what a Scheduler before this one has written");
}

void node::drop_core() {
  ++core_;
  overseers_.clear();
  crier_.reset();
  shell_.reset();
  // What it has handed to the disk may come there after its end.
  ghost_.reset();
  if (!waiting_.empty()) ghost_ = std::move(waiting_.front());
  waiting_.clear();
  seats_.clear();
  writing_ = false;
  flush_armed_ = false;
  look_armed_ = false;
  sweeping_ = false;
  offers_ = {};
  on_their_way_ = 0;
  asked_ = {};
}

void node::die() {
  world_.tell("node", me_, life_, [] { return std::string{"dies"}; });
  world_.count("node deaths");
  ++life_;
  alive_ = false;
  home_.node_died(*this);
  drop_errands();
  drop_core();
  member_.reset();
  is_to_lead_ = leads_ = is_outdated_ = false;
  stopped_until_us_ = 0;
  asleep_.clear();
  applying_ = false;
  store_.end_process();
  start_soon();
}

/// What its guardian does: store, Scheduler and Supervisors together, on the same store, in the same process.
void node::crash_core() {
  world_.tell("core", me_, core_, [] { return std::string{"crashes"}; });
  world_.count("crashes of a core alone");
  const auto gone = core_;
  drop_core();
  home_.core_died(*this, gone);
  world_.after(world_.hosts.between(1, 600) * millisecond, of_this_lead([this] {
                 if (!serves()) start_core();
               }));
}

// ---- messages ----

void node::tell_scheduler(const char* what, std::function<void(scheduler&)> how, std::int64_t delay_us) {
  ++on_their_way_;
  const auto delay = delay_us >= 0 ? delay_us : world_.network.between(2, 80);
  world_.after(delay, of_this_life([this, what, how = std::move(how)] {
                 --on_their_way_;
                 take(what, how);
               }));
}

void node::take(const char* what, const std::function<void(scheduler&)>& how) {
  world_.fold(std::string_view{what});
  in_process([&] {
    how(*shell_);
    after_message();
  });
}

void node::after_message() {
  if (!shell_) return;
  if (shell_->fatal()) throw rule_broken{"fatal", "the Scheduler stops: " + shell_->fatal()->sentence, false};
  arm_flush();
  arm_offer();
  arm_look();
}

void node::arm_flush() {
  if (!shell_->wants_flush() || std::exchange(flush_armed_, true)) return;
  // Behind everything the mailbox holds by then, so that several messages share a batch.
  world_.after(world_.disk.between(1, 300), of_this_life([this] {
                 flush_armed_ = false;
                 in_process([&] {
                   shell_->flush();
                   after_message();
                 });
               }));
}

// What only time lets go: as scheduler_actor does it, with its reminders on the clock that nobody sets.
void node::arm_offer() {
  const auto next = shell_->next_offer();
  if (!next) return;
  const auto wait = std::clamp(*next - time().now(), duration{0}, longest_wall_wait);
  if (!offers_.wants(clock_.steady() + wait)) return;
  world_.after(wait.count() * millisecond, of_this_life([this] { offer(); }));
}

void node::offer() {
  in_process([&] {
    offers_.fired();
    world_.tell(me_, "", 0, [] { return std::string{"offers"}; });
    shell_->offer();
    pass(failpoint_id::effect_offered);
    after_message();
  });
}

// ---- the disk ----

void node::commit(store::batch what) {
  if (member_) home_.decided(what);
  checker_.decided(what);
  if (member_) {
    member_->commit(core_, std::move(what));
    return pass(failpoint_id::commit_asked);
  }
  waiting_.push_back(std::move(what));
  pass(failpoint_id::commit_asked);
  if (!std::exchange(writing_, true)) world_.after(world_.disk.between(50, 900), of_this_life([this] { commit_some(); }));
}

void node::note_untold(const std::vector<store::batch>& group) {
  for (const auto& one : group) {
    untold_service_ = untold_service_ || speaks_of(store::table::service, one);
    untold_launch_ = untold_launch_ || speaks_of(store::table::launch, one);
  }
}

void node::tell_committed(std::uint64_t sequence) {
  pass(failpoint_id::commit_untold);
  if (std::exchange(untold_service_, false)) pass(failpoint_id::commit_service_untold);
  if (std::exchange(untold_launch_, false)) pass(failpoint_id::commit_launch_untold);
  if (!serves()) return;
  // In order, as one actor's messages to another are.
  told_at_us_ = std::max(told_at_us_, world_.now_us() + world_.disk.between(5, 400));
  tell_scheduler(
      "committed",
      [this, sequence](scheduler& to) {
        to.on_committed(sequence);
        pass(failpoint_id::commit_told);
      },
      told_at_us_ - world_.now_us());
}

void node::commit_some() {
  in_process([&] {
    writing_ = false;
    if (waiting_.empty()) return;
    if (world_.strikes(concern::slow_disk, world_.disk, 15)) {
      writing_ = true;
      world_.after(world_.disk.between(1, 4'000) * millisecond, of_this_life([this] { commit_some(); }));
      return;
    }
    pass(failpoint_id::commit_unwritten);
    // A group is all that waits, or less.
    const auto size = 1 + world_.disk.below(waiting_.size());
    std::vector<store::batch> group(std::make_move_iterator(waiting_.begin()),
                                    std::make_move_iterator(waiting_.begin() + static_cast<std::ptrdiff_t>(size)));
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(size));
    // A failed write is never acknowledged and never tried again: the process stops.
    const bool disk_fails = world_.strikes(failpoint_id::disk_error);
    if (disk_fails) store_.fail_after(1);
    if (world_.strikes(failpoint_id::commit_unsynced)) store_.cut_power_after(1 + world_.power.below(2));
    status done = nothing{};
    bool power_lost = false;
    try {
      done = store_.commit(group);
    } catch (const store::disk_crash&) {
      power_lost = true;
    }
    store_.fail_after(0);
    store_.cut_power_after(0);
    if (power_lost || (disk_fails && !done.ok())) {
      die();
      // Nobody was told, but what reached the disk whole counts.
      const auto reached = store_.read()->get_progress().sequence;
      while (!group.empty() && group.back().sequence > reached) group.pop_back();
      if (!group.empty()) checker_.committed(group, *store_.read());
      return;
    }
    arm_applier();
    if (!done.ok()) throw rule_broken{"fatal", "the store refuses a batch: " + done.failure().sentence, false};
    const auto sequence = group.back().sequence;
    world_.tell("disk", me_, sequence, [&] { return "durable up to " + std::to_string(sequence); });
    checker_.committed(group, *store_.read());
    note_untold(group);
    tell_committed(sequence);
    if (!waiting_.empty() && !std::exchange(writing_, true))
      world_.after(world_.disk.between(50, 900), of_this_life([this] { commit_some(); }));
  });
}

}  // namespace fairlead::simulation
