#include "tests/simulation/shard/member.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/cluster/shard_nodes.hpp"
#include "actors/replication/wire.hpp"
#include "tests/simulation/shard/home.hpp"

namespace fairlead::simulation {

namespace {

constexpr auto look_every_us = 200 * millisecond;
// Little, so that a state takes several ticks.
constexpr std::size_t bytes_a_tick = 4'000;
// Comparisons of states are looked at more rarely than the rest, as in production.
constexpr std::uint64_t ticks_a_comparison = 5;

std::function<std::int64_t()> boot_of(const host_clock& of) {
  return [&of] { return to_unix_ms(of.steady()); };
}

}  // namespace

replica_seat::options node::member::options_of(const node& of, replica_settings how) {
  replica_seat::options out;
  out.shard = of.shard_;
  out.shard_count = of.agents_.shards();
  out.node = of.me_;
  for (const auto place : of.home_.first_places()) out.nodes.push_back(of.home_.name_of(place));
  out.how = std::move(how);
  const auto& upgrades = of.home_.of_upgrades();
  out.release = "format " + std::to_string(of.known_format_);
  out.reads = of.world_.settings.planted.raise_format_early ? upgrades.later() : of.known_format_;
  out.upgrade_after_ms = upgrades.after_ms();
  return out;
}

node::member::member(node& in, replica_settings how)
    : node_(in), seat_(in.store_.own(), options_of(in, std::move(how)), in.clock_, boot_of(in.clock_)) {}

void node::member::begin() {
  service_.serve(consensus());
  auto& own = seat_.own();
  const auto boot_ms = boot_of(node_.clock_);
  const auto send = [this](const v1::ReplicaCopy& what) { node_.home_.send(node_, what); };
  const auto note = [this](const std::string& sentence) { node_.world_.tell("disk", node_.me_, 0, [&] { return sentence; }); };
  const auto name = [this] { return node_.me_ + "-" + std::to_string(node_.life_) + "-" + std::to_string(++copies_); };
  giver_.emplace(copy_giver::world{&consensus(), &own, node_.archives_.get(), node_.shard_, boot_ms, name, send, note,
                                   [this](raft::replica_id id) { return seat_.name_of(id); }, nullptr});
  taker_.emplace(copy_taker::world{&consensus(), &own, node_.archives_.get(), boot_ms, send, note, [](const error& why) {
                                     throw rule_broken{"fatal", "a copy cannot be installed: " + why.sentence, false};
                                   }});
  comparer_.emplace(state_comparer::world{&consensus(), &own, node_.shard_, boot_ms, [this] { return node_.clock_.now_ms(); }, send, note,
                                          [this](raft::replica_id id) { return seat_.name_of(id); },
                                          [this] { return seat_.wanted_comparison(); },
                                          [](const error& why) {
                                            throw rule_broken{"fatal", "a value is not what was written: " + why.sentence, false};
                                          },
                                          [this](const error& why) { node_.home_.said_different(node_, why); }, bytes_a_tick});
  node_.world_.after(node_.world_.replicas.between(1, 50) * millisecond, node_.of_this_process([this] { tick(); }));
  node_.world_.after(look_every_us, node_.of_this_process([this] { look(); }));
}

void node::member::tick() {
  node_.world_.after(consensus().settings().heartbeat_ms / 2 * millisecond, node_.of_this_process([this] { tick(); }));
  put([this] {
    follow_log();
    check(service_.tick());
    giver_->tick();
    taker_->tick();
    if (++ticks_ % ticks_a_comparison == 0) comparer_->tick();
    turn();
  });
}

// ---- its mailbox ----

void node::member::put(std::function<void()> what) {
  auto& in = node_.world_;
  last_mail_us_ = std::max(last_mail_us_, in.now_us() + in.replicas.between(2, 60));
  in.after(last_mail_us_ - in.now_us(), node_.of_this_process([this, what = std::move(what)] { run(what); }));
}

void node::member::run(const std::function<void()>& what) {
  if (busy_)
    mail_.push_back(what);
  else
    node_.in_replica(what);
}

void node::member::check(const status& done) const {
  if (!done.ok()) throw rule_broken{"fatal", "a replica stops: " + done.failure().sentence, false};
}

void node::member::commit(std::uint64_t core, store::batch what) {
  put([this, core, what = std::make_shared<store::batch>(std::move(what))] { service_.commit(core, std::move(*what)); });
}

void node::member::receive(const v1::ReplicaMessage& what) {
  put([this, what] {
    if (seat_.others().node_of(what.from()).empty() || cannot_read(what)) return;
    auto read = decode(what);
    if (!read.ok()) throw rule_broken{"fatal", "a message of a replica cannot be read: " + read.failure().sentence, false};
    if (node_.world_.settings.planted.skip_unknown) node_.home_.of_upgrades().skip_news(node_, *read);
    check(service_.receive(*read));
    if (node_.world_.settings.planted.follow_while_leading) seat_.begin_lead();
  });
}

void node::member::confirm(std::uint64_t epoch, std::function<void(bool led)> answer) {
  put([this, epoch, answer = std::move(answer)] { asked_.emplace(service_.confirm(epoch), answer); });
}

/// A former release does not know what is new.
bool node::member::cannot_read(const v1::ReplicaMessage& what) {
  if (!node_.home_.of_upgrades().is_news_to(node_, what) || node_.world_.settings.planted.skip_unknown) return false;
  node_.world_.count("news that a former release does not take");
  seat_.cannot_read("it is of a later release");
  return true;
}

// ---- introductions, as the replica's actor does them ----

void node::member::look() {
  node_.world_.after(look_every_us, node_.of_this_process([this] { look(); }));
  put([this] {
    follow_log();
    for (const auto place : linked_)
      if (met_.count(place) == 0) greet(place);
  });
}

void node::member::linked(std::size_t place) {
  put([this, place] {
    linked_.insert(place);
    greet(place);
  });
}

void node::member::greet(std::size_t place) {
  const auto& others = seat_.others();
  if (core::find_node(others.nodes(), node_.home_.name_of(place)) != nullptr) node_.home_.send(node_, place, others.me());
}

void node::member::greeted(std::size_t place, const v1::ReplicaHello& you) {
  put([this, place, you] {
    v1::ReplicaWelcome out;
    if (const auto known = meet(place, you); !known.ok()) *out.mutable_error() = known.failure().to_proto();
    *out.mutable_me() = seat_.others().me();
    node_.home_.send(node_, place, out);
  });
}

void node::member::welcomed(std::size_t place, const v1::ReplicaWelcome& said) {
  put([this, place, said] {
    const auto code = said.error().code();
    if (code == v1::ERROR_CODE_OK) {
      (void)meet(place, said.me());
    } else if (code != v1::ERROR_CODE_UNAVAILABLE) {
      (void)seat_.meet(said.me());
      follow_log();
    }
  });
}

status node::member::meet(std::size_t place, const v1::ReplicaHello& you) {
  auto known = seat_.meet(you);
  follow_log();
  if (!known.ok()) {
    node_.world_.count("replicas that are turned away");
    node_.world_.tell("disk", node_.me_, place, [&] { return known.failure().sentence; });
    seat_.heard_of(you.lineage());
    return known;
  }
  if (linked_.count(place) == 0) return known;
  met_[place] = you.replica();
  seat_.met(you.node(), you.replica());
  wake();
  return known;
}

/// Who is linked is met again once it is one of the nodes.
void node::member::follow_log() {
  if (seat_.follow_log())
    for (const auto& [place, id] : met_) seat_.met(node_.home_.name_of(place), id);
  if (seat_.check_format().ok()) return;
  node_.world_.count("processes ended by a later format");
  throw process_killed{};
}

result<std::optional<v1::ShardNodes>> node::member::change_nodes(const v1::ShardNodesRequest& what) {
  follow_log();
  auto done = seat_.change_nodes(what);
  wake();
  return done;
}

void node::member::lost(std::size_t place) {
  put([this, place] {
    linked_.erase(place);
    const auto known = met_.extract(place);
    if (known.empty()) return;
    seat_.lost(node_.home_.name_of(place));
    check(service_.unreachable(known.mapped()));
  });
}

void node::member::transfer(raft::replica_id to) {
  put([this, to] {
    check(consensus().transfer(to));
    wake();
  });
}

void node::member::decline(bool on, why_not_lead why) {
  if (node_.world_.settings.planted.keep_lead) return;
  put([this, on, why] {
    check(seat_.decline(on, why));
    wake();
  });
}

void node::member::take(const v1::ReplicaCopy& what) {
  put([this, what] {
    if (seat_.others().node_of(what.from()).empty()) return;
    if (what.has_archive_part()) node_.world_.count("parts of archives that came with a copy");
    if (what.has_state()) return comparer_->take(what);
    auto changed = what;
    if (node_.world_.settings.planted.skip_archives && what.has_archives()) changed.mutable_archives()->clear_all();
    copy_taker::is_for_taker(what) ? taker_->take(changed) : giver_->asked(what);
    wake();
  });
}

// ---- its turns ----

void node::member::wake() {
  put([this] { write(); });
}

/// The disk takes its time first, for then everything that comes of a write is done at its end.
void node::member::write() {
  busy_ = true;
  auto& in = node_.world_;
  const auto slow = in.strikes(concern::slow_disk, in.disk, 10);
  const auto takes_us = slow ? in.disk.between(1, 4'000) * millisecond : in.disk.between(50, 900);
  in.after(takes_us, node_.of_this_process([this] {
    auto& of = node_;
    const auto life = of.life_;
    of.in_replica([&] {
      of.pass(failpoint_id::commit_unwritten);
      const bool disk_fails = of.world_.strikes(failpoint_id::disk_error);
      if (disk_fails) of.store_.fail_after(1);
      if (of.world_.strikes(failpoint_id::commit_unsynced)) of.store_.cut_power_after(1 + of.world_.power.below(2));
      const auto done = flush();
      of.store_.fail_after(0);
      of.store_.cut_power_after(0);
      if (!done || (!done->ok() && disk_fails)) throw process_killed{};
      check(*done);
      turn();
    });
    if (life != of.life_ || !of.up()) return;
    busy_ = false;
    while (!busy_ && !mail_.empty()) {
      const auto next = std::move(mail_.front());
      mail_.pop_front();
      of.in_replica(next);
      if (life != of.life_ || !of.up()) return;
    }
  }));
}

/// nullopt: the power went in the middle of it.
std::optional<status> node::member::flush() {
  try {
    return service_.flush();
  } catch (const store::disk_crash&) {
    return std::nullopt;
  }
}

/// What the disk has now can be applied, and what counts is seen.
void node::member::turn() {
  node_.arm_applier();
  node_.home_.shown(node_);
}

void node::member::send(std::vector<raft::message> what) {
  const auto is_met = [this](raft::replica_id id) {
    return std::any_of(met_.begin(), met_.end(), [id](const auto& one) { return one.second == id; });
  };
  for (const auto& one : what)
    if (is_met(one.to)) node_.home_.send(node_, one);
}

void node::member::committed(std::uint64_t sequence) {
  node_.home_.shown(node_);
  node_.world_.tell("disk", node_.me_, sequence, [&] { return "counts up to " + std::to_string(sequence); });
  node_.tell_committed(sequence);
}

void node::member::leads(bool now) { node_.lead(now); }

void node::member::confirmed(std::uint64_t ticket, bool led) {
  const auto asked = asked_.extract(ticket);
  if (!asked.empty()) asked.mapped()(led);
}

}  // namespace fairlead::simulation
