#include "tests/simulation/node.hpp"

#include "tests/simulation/overseer.hpp"

namespace fairlead::simulation {

node::node(world& in, network& net, agents& staff, checker& judge) : world_(in), network_(net), agents_(staff), checker_(judge) {}

node::~node() = default;

namespace {

bool speaks_of_services(const store::batch& what) {
  bool out = false;
  what.for_each([&](const store::operation& op) { out = out || op.where == store::table::service; });
  return out;
}

}  // namespace

std::function<void()> node::of_this_life(std::function<void()> what) {
  return [this, life = life_, what = std::move(what)] {
    if (life == life_ && up()) what();
  };
}

void node::in_process(const std::function<void()>& what) {
  try {
    what();
  } catch (const process_killed&) {
    die();
  }
}

void node::pass(failpoint_id where) {
  if (world_.strikes(where)) throw process_killed{};
}

void node::start() {
  ++life_;
  const auto epoch = store_.raise_epoch();
  world_.tell("node", "", *epoch, [&] { return "starts under epoch " + std::to_string(*epoch); });
  scheduler_limits limits;
  if (world_.disk.chance(300)) limits.running_tasks = 1 + world_.disk.below(3);
  if (world_.disk.chance(80)) limits.pending_tasks = 1 + world_.disk.below(2);
  limits.registry.absent_alert_after = std::chrono::milliseconds{world_.settings.absent_alert_after_ms};
  if (world_.disk.chance(150)) {
    limits.brake.share_percent = 30;
    limits.brake.at_least = 1 + world_.disk.below(2);
    limits.brake.window = std::chrono::seconds{20};
  }
  in_process([&] {
    pass(failpoint_id::start_epoch_raised);
    shell_ = std::make_unique<scheduler>(scheduler::ports{&world_, &store_, this, this, this, &engine_}, limits, world_.settings.planted);
    const auto opened = shell_->open(*epoch);
    if (!opened.ok()) throw rule_broken{"fatal", "the shard does not open: " + opened.failure().sentence, false};
    pass(failpoint_id::start_opened);
    const auto supervisors = world_.settings.has(concern::second_supervisor) ? 1 + world_.clocks.below(2) : 1;
    for (std::uint64_t i = 0; i < supervisors; ++i) {
      overseers_.push_back(std::make_unique<overseer>(*this, world_.clocks.between(200, 1'500)));
      overseers_.back()->begin();
    }
    outbox_ = std::make_unique<reply_outbox>(store_);
    reply_courier::world around;
    around.time = &world_;
    around.reads = &store_;
    around.posts = this;
    around.outbox = outbox_.get();
    around.log = this;
    around.commit = [this](courier_rows rows) {
      tell_scheduler("courier rows", [rows = std::move(rows)](scheduler& to) { to.delivered(rows); });
    };
    around.wake = [this] { arm_outbox(millisecond); };
    courier_ = std::make_unique<reply_courier>(std::move(around), reply_courier::settings{"n1"});
    arm_outbox(100 * millisecond);
    world_.after(10, of_this_life([this] { agents_.start_local(); }));
    world_.after(100, of_this_life([this] { sweep(); }));
    after_message();
  });
}

void node::sweep() {
  in_process([&] {
    const auto more = shell_->resume_some();
    pass(failpoint_id::start_sweeping);
    if (more) world_.after(world_.disk.between(50, 500), of_this_life([this] { sweep(); }));
    after_message();
  });
}

void node::die() {
  world_.tell("node", "", life_, [] { return std::string{"dies"}; });
  world_.count("node deaths");
  ++life_;
  agents_.kill_local();
  courier_.reset();
  outbox_.reset();
  overseers_.clear();
  shell_.reset();
  waiting_.clear();
  handles_.clear();
  writing_ = false;
  flush_armed_ = false;
  offers_ = {};
  on_their_way_ = 0;
  asked_ = {};
  store_.crash();
  world_.after(world_.crashes.between(10, 3'000) * millisecond, [this] {
    if (!up()) start();
  });
}

// ---- messages ----

void node::tell_scheduler(const char* what, std::function<void(scheduler&)> how, std::int64_t delay_us) {
  ++on_their_way_;
  const auto delay = delay_us >= 0 ? delay_us : world_.network.between(2, 80);
  world_.after(delay, of_this_life([this, what, how = std::move(how)] {
                 --on_their_way_;
                 world_.fold(std::string_view{what});
                 in_process([&] {
                   how(*shell_);
                   after_message();
                 });
               }));
}

void node::after_message() {
  if (shell_->fatal()) throw rule_broken{"fatal", "the Scheduler stops: " + shell_->fatal()->sentence, false};
  arm_flush();
  arm_offer();
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
  const auto wait_ms = std::max<std::int64_t>(to_unix_ms(*next) - to_unix_ms(world_.now()), 0);
  if (!offers_.wants(*next)) return;
  world_.after(wait_ms * millisecond, of_this_life([this] { offer(); }));
}

void node::offer() {
  in_process([&] {
    offers_.fired();
    shell_->offer();
    pass(failpoint_id::effect_offered);
    after_message();
  });
}

void node::registers(const v1::RegisterAgent& what) {
  if (!up()) return;
  in_process([&] {
    const auto taken = shell_->add_agent(what);
    if (taken) handles_[what.instance()] = what.incarnation();
    if (taken) checker_.registered(what, shell_->epoch());
    after_message();
  });
}

void node::outcomes(v1::OutcomeBatch what) {
  if (!up()) return;
  in_process([&] {
    for (const auto& one : what.items()) checker_.outcome_arrived(one);
    shell_->outcomes(std::move(what));
    after_message();
  });
}

void node::heartbeats(v1::HeartbeatBatch what) {
  if (!up()) return;
  in_process([&] {
    shell_->heartbeats(std::move(what));
    after_message();
  });
}

// ---- the disk ----

void node::commit(store::batch what) {
  waiting_.push_back(std::move(what));
  pass(failpoint_id::commit_asked);
  if (!std::exchange(writing_, true)) world_.after(world_.disk.between(50, 900), of_this_life([this] { commit_some(); }));
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
    pass(failpoint_id::disk_error);
    const auto done = store_.commit(group);
    if (!done.ok()) throw rule_broken{"fatal", "the store refuses a batch: " + done.failure().sentence, false};
    pass(failpoint_id::commit_unsynced);
    store_.sync();
    const auto sequence = group.back().sequence;
    world_.tell("disk", "scheduler", sequence, [&] { return "durable up to " + std::to_string(sequence); });
    checker_.committed(group, *store_.read());
    pass(failpoint_id::commit_untold);
    for (const auto& one : group)
      if (speaks_of_services(one)) pass(failpoint_id::commit_service_untold);
    tell_scheduler(
        "committed",
        [this, sequence](scheduler& to) {
          to.on_committed(sequence);
          pass(failpoint_id::commit_told);
        },
        world_.disk.between(5, 400));
    if (!waiting_.empty() && !std::exchange(writing_, true))
      world_.after(world_.disk.between(50, 900), of_this_life([this] { commit_some(); }));
  });
}

void node::arm_outbox(std::int64_t delay_us) {
  world_.after(delay_us, of_this_life([this, look = ++outbox_look_] {
                 if (look == outbox_look_) look_at_outbox();
               }));
}

void node::look_at_outbox() {
  in_process([&] {
    const auto pause = courier_->look();
    if (!pause) throw rule_broken{"fatal", "the courier stops: " + pause.failure().sentence, false};
    arm_outbox(std::clamp<std::int64_t>(pause->count(), 1, 1'000) * millisecond);
    after_message();
  });
}

}  // namespace fairlead::simulation
