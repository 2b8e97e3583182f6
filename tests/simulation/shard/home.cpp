#include "tests/simulation/shard/home.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/raft/member_plan.hpp"
#include "actors/replication/wire.hpp"
#include "store/journaled/state_hash.hpp"
#include "store/keys.hpp"

namespace fairlead::simulation {

namespace {

constexpr auto stranger_us = 2 * second;  // wall clocks of nodes differ by as much

/// Of entries, for replicas that lack them; 0: as always. In some runs so few that whoever was away needs a copy of the state.
std::size_t kept_bytes(const world& in) { return in.settings.seed % 10 < 3 ? 50 + in.settings.seed % 1'499 : 0; }

/// In some runs the majority of the nodes is lost.
bool has_a_recovery(const world& in) { return in.settings.seed % 16 == 5; }

}  // namespace

std::size_t draw_replicas(world& in) {
  auto& settings = in.settings;
  const auto any = in.replicas.chance(20) || settings.always_replicated;
  const auto five = in.replicas.chance(150);
  if (!any || !settings.has(concern::replicas)) return 1;
  if (has_a_recovery(in))
    settings.always_restores = true;
  else
    settings.concerns &= ~(1ULL << static_cast<unsigned>(concern::restores));
  // What concerns archives and copies of the state comes seldom, and only where few entries are kept.
  constexpr failpoint_id seldom[] = {failpoint_id::archive_chosen, failpoint_id::archive_copied, failpoint_id::archiver_lost,
                                     failpoint_id::copy_unplaced,  failpoint_id::copy_placed,    failpoint_id::copy_placed};
  if (kept_bytes(in) != 0 && settings.seed % 10 != 0) in.favour(seldom[settings.seed / 10 % std::size(seldom)]);
  if (kept_bytes(in) == 0) settings.concerns &= ~(1ULL << static_cast<unsigned>(concern::archives));
  for (const auto off : {concern::clock_falls, concern::clock_jumps, concern::far_clocks, concern::wrong_clocks, concern::full_stores,
                         concern::old_stores, concern::crowds, concern::second_shard})
    settings.concerns &= ~(1ULL << static_cast<unsigned>(off));
  settings.most_events *= 10;
  in.count("runs with replicas");
  return five ? 5 : 3;
}

home::home(world& in, network& net, agents& staff, checker& judge, host_clock& time, std::uint32_t shard, std::size_t replicas)
    : world_(in),
      network_(net),
      agents_(staff),
      checker_(judge),
      time_(time),
      shard_(shard),
      me_(name_of_scheduler(shard)),
      replicas_(replicas),
      begins_with_(replicas == 5 && in.replicas.chance(600) ? in.replicas.chance(300) ? 1 : 3 : replicas),
      keep_bytes_(replicas > 1 ? kept_bytes(in) : 0),
      upgrades_(in, *this, nodes_),
      comparisons_(in, *this, nodes_),
      damages_(in, *this, nodes_) {
  for (std::size_t place = 0; place < replicas_; ++place) ids_.push_back(place + 1);
  for (std::size_t place = 0; place < replicas_; ++place) {
    auto* its = &time_;
    if (replicated()) {
      const auto skewed = in.settings.has(concern::skewed_clocks);
      const auto ahead_us = time_.ahead_us() + (skewed ? in.replicas.between(-stranger_us, stranger_us) : 0);
      clocks_.push_back(std::make_unique<host_clock>(in, ahead_us, in.replicas.between(1, 1'000'000) * second));
      its = clocks_.back().get();
    }
    nodes_.push_back(std::make_unique<node>(in, net, staff, judge, *its, *this, shard, place));
  }
  if (replicated()) link_nodes();
}

home::~home() = default;

replica_settings home::settings_of(std::size_t place) const {
  replica_settings out;
  out.self = ids_[place];
  out.born_with.voters.clear();
  for (const auto first : first_places()) out.born_with.voters.push_back(ids_[first]);
  out.seed = world_.settings.seed * 10 + place;
  if (keep_bytes_ != 0) out.keep_bytes = keep_bytes_;
  out.planted = &world_.settings.planted;
  return out;
}

void home::start() {
  for (auto& one : nodes_) one->start();
}

void home::plan(const retention_plan& retention) {
  alone().plan(retention);
  for (auto& one : nodes_) one->plan_like(alone());
}

// ---- who leads ----

node* home::leader() const {
  auto* const known = replicated() ? connected_ : &alone();
  return known != nullptr && known->serves() ? known : nullptr;
}

/// By whoever does not know better.
node* home::asked() const {
  if (!replicated()) return &alone();
  std::vector<node*> all;
  for (const auto& one : nodes_)
    if (one->serves()) all.push_back(one.get());
  if (all.empty()) return nullptr;
  return leader() == nullptr || world_.replicas.chance(200) ? all[world_.replicas.below(all.size())] : leader();
}

const node& home::shows_most() const {
  if (!replicated()) return alone();
  if (const auto* const known = leader()) return *known;
  return **std::max_element(nodes_.begin(), nodes_.end(),
                            [](const auto& one, const auto& other) { return one->store().sequence() < other->store().sequence(); });
}

void home::node_started(node& which) {
  if (!replicated()) return agents_.node_started(shard_);
  for (auto& one : nodes_)
    if (one.get() != &which) between(which.place(), one->place()).look(30 * millisecond);
  damages_.node_started(which);
}

void home::node_died(node& which) {
  if (!replicated()) return agents_.node_died(shard_);
  claims_no_longer(which);
  for (auto& one : nodes_)
    if (one.get() != &which) between(which.place(), one->place()).ended(which.place() < one->place() ? link::agent_side : link::shard_side);
}

void home::core_died(node& which, std::uint64_t core) {
  if (is_led_by(which)) agents_.core_died(shard_, core);
}

void home::claims(node& which, std::uint64_t epoch) {
  world_.judges("two_leaders");
  if (!epochs_.insert(epoch).second)
    world::broken("two_leaders", which.name() + " leads under epoch " + std::to_string(epoch) + ", as another does");
  // What has begun late may be what is over.
  if (epoch < *epochs_.rbegin()) return;
  checker_.led_under(epoch);
  const auto before = std::exchange(connected_, &which);
  follow_clock();
  if (before == &which) return;
  if (before != nullptr) agents_.node_died(shard_);
  // Nodes hear of it one after the other.
  const auto soon = world_.replicas.chance(800);
  const auto delay_us = soon ? world_.replicas.between(100, 20'000) : world_.replicas.between(20, 2'000) * millisecond;
  world_.after(delay_us, [this, &which] {
    if (connected_ == &which) agents_.node_started(shard_);
  });
}

void home::claims_no_longer(node& which) {
  if (connected_ != &which) return;
  connected_ = nullptr;
  agents_.node_died(shard_);
}

void home::keep_following() {
  follow_clock();
  world_.after(second / 10, [this] { keep_following(); });
}

void home::follow_clock() {
  const auto* const known = connected_;
  if (known == nullptr || !known->serves() || !known->is_leader()) return;
  const auto by_ms = to_unix_ms(known->time().now()) - time_.now_ms();
  if (by_ms == 0) return;
  // A successor goes on from what it has heard, and that was under way for a while. A wall clock that somebody sets takes the shard's with it.
  if (by_ms > 0 && known->epoch() != clock_of_ && clock_of_ != 0 && clocks_.front()->settings() == 0) {
    world_.judges("clock_leaps");
    if (by_ms > 50)
      world::broken("clock_leaps",
                    known->name() + " leads by a clock that is " + std::to_string(by_ms) + " ms ahead of what its predecessor went by");
  }
  clock_of_ = known->epoch();
  time_.jump(by_ms);
  world_.note_clock_setting();
}

// ---- what counts ----

void home::decided(const store::batch& what) {
  follow_clock();
  if (what.sequence <= committed_ && what.epoch > committed_epoch_)
    world::broken("committed_again", "batch " + std::to_string(what.sequence) + " is decided under epoch " + std::to_string(what.epoch) +
                                         ", and counted under " + std::to_string(committed_epoch_));
  if (what.sequence > committed_) decided_[what.sequence][what.epoch] = what;
}

void home::shown(node& which) {
  upgrades_.shown(which);
  const auto upto = which.store().sequence();
  if (upto <= committed_) return;
  std::vector<store::batch> group;
  for (auto at = committed_ + 1; at <= upto; ++at) {
    auto known = decided_.extract(at);
    if (known.empty())
      world::broken("committed_again", "batch " + std::to_string(at) + " counts at " + which.name() + ", and nobody has decided it");
    committed_epoch_ = known.mapped().rbegin()->first;
    group.push_back(std::move(known.mapped().rbegin()->second));
  }
  committed_ = upto;
  committed_us_.resize(upto, world_.now_us());
  world_.judges("committed_again");
  which.note_untold(group);
  const auto view = which.reads().read();
  checker_.committed(group, *view);
}

bool home::settled() const {
  if (!replicated()) return alone().settled();
  if (!serves() || !leader()->settled()) return false;
  // Its nodes are back, and the alert that says they are not goes, unless it is about a state that stays another.
  if ((reads().read()->get_progress().shard.replica_alert() != 0 && !comparisons_.is_given_up()) || !all_vote()) return false;
  if (!changes_.empty() || !upgrades_.settled() || !comparisons_.settled() || !damages_.settled()) return false;
  const auto shown = leader()->store().own().shown_index();
  return std::all_of(nodes_.begin(), nodes_.end(), [&](const auto& one) {
    return !is_wanted(*one) || (one->up() && one->store().sequence() == committed_ && one->store().own().shown_index() == shown);
  });
}

void home::judge_end() {
  if (!replicated()) return;
  // What moves to archives does so on each of them by then.
  for (const auto& one : nodes_)
    if (auto applied = one->store().own().apply_all(); !applied) world::broken("store_check", applied.failure().sentence);
  const auto whole = [this](node& of) {
    std::map<std::string, std::string> out;
    const auto view = of.reads().read();
    for (std::size_t table = 0; table < store::table_count; ++table) {
      const bool is_meta = static_cast<store::table>(table) == store::table::meta;
      const auto read = view->scan_all(static_cast<store::table>(table), [&](std::string_view key, std::optional<std::string_view> value) {
        if (is_meta && (store::is_of_one_copy(key) || comparisons_.leaves_out(key))) return true;
        out[store::keys::describe(static_cast<store::table>(table), key)] = value.value_or("?");
        return true;
      });
      if (!read.ok()) world::broken("store_check", "the store of " + of.name() + " cannot be read: " + read.failure().sentence);
    }
    return out;
  };
  judge_nodes();
  for (const auto& one : nodes_)
    if (!is_wanted(*one)) checker_.of_archives().forget(one->archives());
  const auto wanted = wanted_places();
  const auto& one_of = *nodes_[wanted.front()];
  const auto first = whole(*nodes_[wanted.front()]);
  for (const auto place : wanted) {
    world_.judges("states_differ");
    const auto other = whole(*nodes_[place]);
    if (other == first) continue;
    const auto at = std::mismatch(first.begin(), first.end(), other.begin(), other.end());
    world::broken("states_differ", name_of(place) + " has another state than " + one_of.name() + ", from " +
                                       (at.first != first.end() ? at.first->first : "its end") + " on");
  }
}

// ---- clients ----

void home::claim(const v1::RepliesRequest& what, std::function<void(const v1::RepliesReply&)> on_reply) {
  auto* const there = asked();
  if (there == nullptr) return;
  if (!replicated()) return there->claim(what, std::move(on_reply));
  there->when_awake([there, what, on_reply = std::move(on_reply)] { there->claim(what, on_reply); });
}

// ---- between its nodes ----

link& home::between(std::size_t one, std::size_t other) {
  const auto low = std::min(one, other);
  const auto high = std::max(one, other);
  // Row by row: the pairs of `low` come behind those of all before it.
  return *links_[low * replicas_ - low * (low + 1) / 2 + high - low - 1];
}

void home::link_nodes() {
  for (std::size_t low = 0; low < replicas_; ++low) {
    for (auto high = low + 1; high < replicas_; ++high) {
      const auto end_of = [this](std::size_t place, std::size_t other) {
        auto& its = *nodes_[place];
        link::end out;
        out.alive = [&its] { return its.up(); };
        out.joined = [&its, other] { its.when_awake([&its, other] { its.linked(other); }); };
        out.lost = [&its, other] { its.when_awake([&its, other] { its.lost(other); }); };
        return out;
      };
      links_.push_back(std::make_unique<link>(world_, me_ + "-" + std::to_string(low + 1) + "-" + std::to_string(high + 1), false,
                                              end_of(low, high), end_of(high, low)));
    }
  }
}

template <class Message>
void home::send_to(const node& from, raft::replica_id to, Message what) {
  const auto place = static_cast<std::size_t>(to - 1) % replicas_;
  if (ids_[place] != to) return;  // nobody introduces itself as that one any more
  auto& way = between(from.place(), place);
  way.send(from.place() < place ? link::agent_side : link::shard_side,
           [to = nodes_[place].get(), what = std::move(what)] { to->when_awake([to, what] { to->receive(what); }); });
}

template void home::send_to(const node& from, raft::replica_id to, v1::ReplicaMessage what);
template void home::send_to(const node& from, raft::replica_id to, v1::ReplicaCopy what);

template <class Message>
void home::introduce(const node& from, std::size_t to, Message what) {
  between(from.place(), to)
      .send(from.place() < to ? link::agent_side : link::shard_side,
            [its = nodes_[to].get(), place = from.place(), what = std::move(what)] {
              its->when_awake([its, place, what] { its->receive(place, what); });
            });
}

template void home::introduce(const node& from, std::size_t to, v1::ReplicaHello what);
template void home::introduce(const node& from, std::size_t to, v1::ReplicaWelcome what);

// ---- faults ----

void home::begin(std::int64_t until_us) {
  if (!replicated()) return;
  keep_following();
  auto& luck = world_.replicas;
  const auto strikes = luck.below(12);
  for (std::uint64_t i = 0; i < strikes; ++i) world_.after(luck.between(0, until_us), [this] { strike(); });
  upgrades_.begin(until_us);
  comparisons_.begin(until_us);
  if (begins_with_ == replicas_) return;
  const auto changes = luck.below(7);
  for (std::uint64_t i = 0; i < changes; ++i) world_.after(luck.between(0, until_us), [this] { change_nodes(false); });
}

std::int64_t home::awake_from_us() const {
  std::int64_t out = 0;
  for (const auto& one : nodes_) out = std::max(out, one->awake_from_us());
  return out;
}

void home::heal() {
  for (auto& one : links_) one->heal();
  if (!replicated()) return;
  for (auto& one : nodes_) one->decline(false);
  upgrades_.heal();
  comparisons_.heal();
  world_.after(world_.replicas.between(1, 4) * second, [this] { drain_one(); });
}

bool home::all_follow() const {
  return std::all_of(nodes_.begin(), nodes_.end(), [this](const auto& one) {
    return !is_wanted(*one) || (one->up() && !one->stopped_since(world_.now_us()) && one->store().sequence() == committed_);
  });
}

/// While nothing else happens, mostly the one that leads.
void home::drain_one() {
  auto* which = nodes_[world_.replicas.below(nodes_.size())].get();
  if (world_.replicas.chance(800))
    if (auto* const known = leader()) which = known;
  // Nodes with damage do not lead if another can.
  if (!changes_.empty() || !all_follow() || !is_wanted(*which) || wanted_places().size() < 2 || !damages_.settled()) return;
  which->decline(true);
  world_.tell("fate", which->name(), 0, [] { return std::string{"drains it"}; });
  look_at_drained(*which, which->life(), which->is_leader() ? which->term() : 0);
}

/// It may have to lead since then, if it alone has what was not committed yet: that it hands over is looked at later. `led_in`: the term in which it
/// has led already; 0: none.
void home::look_at_drained(node& which, std::uint64_t life, raft::log_term led_in) {
  world_.after(6 * settings_of(which.place()).election_ms * millisecond, [this, &which, life, led_in] {
    // A change that took its time may have left one node meanwhile.
    const bool counts = all_follow() && which.life() == life && wanted_places().size() >= 2 && damages_.settled();
    const auto term = counts && which.is_leader() ? which.term() : 0;
    if (term > led_in) return look_at_drained(which, life, term);
    if (counts) world_.judges("drained_leads");
    if (term != 0) world::broken("drained_leads", which.name() + " leads, is drained, and the others follow");
    which.decline(false);
  });
}

/// A minority of those that vote may be lost: with two of three nobody would have what both have confirmed. Which they are a majority has to know.
/// Nor while votes are given or taken, because nodes come or go: a change that was decided before the loss is seen may leave two voters.
bool home::can_lose(const node& which) const {
  const auto* const known = leader();
  if (known == nullptr || !known->has_settled() || !changes_.empty() || has_leaving()) return false;
  const auto now = known->members();
  const auto votes = raft::votes_of(wanted_places().size());
  if (now.voters.size() != votes && now.voters.size() + 1 != votes) return false;
  std::size_t lost = 0, informed = 0;
  for (const auto id : now.voters) {
    const auto at = static_cast<std::size_t>(id - 1) % replicas_;
    lost += ids_[at] != id || at == which.place() || nodes_[at]->waits() || damages_.has(*nodes_[at]) ? 1 : 0;
    informed += ids_[at] == id && at != which.place() && nodes_[at]->up() && nodes_[at]->members() == now ? 1 : 0;
  }
  return 2 * lost < now.voters.size() && 2 * informed > now.voters.size();
}

bool home::lose_disk(node& which) {
  if (!can_lose(which)) return false;
  const auto now = leader()->members();
  world_.count(now.votes(ids_[which.place()]) ? "disks lost" : "disks lost again");
  auto born = settings_of(which.place());
  born.born_with = leader()->members();
  if (!world_.settings.planted.keep_replica_id) born.self = ids_[which.place()] += replicas_;
  which.lose_disk(born);
  return true;
}

/// One fault: mostly of the leader, for most is at stake there.
void home::strike() {
  auto& luck = world_.replicas;
  const auto kind = luck.below(100);
  auto* which = nodes_[luck.below(nodes_.size())].get();
  if (luck.chance(600))
    if (auto* const known = leader()) which = known;
  const auto other = (which->place() + 1 + luck.below(nodes_.size() - 1)) % nodes_.size();
  const auto for_us = luck.chance(300) ? luck.between(1, 500) * millisecond : luck.between(200, 8'000) * millisecond;
  const auto ways = luck.below(4);
  const auto cuts = luck.chance(600);
  if (!world_.strikes(concern::replicas, world_.replicas, 1'000)) return;
  if (kind < 25) {
    if (luck.chance(250) && lose_disk(*which)) return;
    if (!which->up()) return;
    if (luck.chance(200) && can_lose(*which)) return damage(*which);
    if (luck.chance(150)) return damages_.meet(*which, luck.chance(400) ? nodes_[other].get() : nullptr);
    world_.count("replicas killed");
    which->die();
  } else if (kind < 32) {
    world_.count("all replicas killed");
    for (auto& one : nodes_)
      if (one->up()) one->die();
  } else if (kind < 60) {
    if (!which->up()) return;
    world_.count("replicas stopped for a while");
    which->stop_for(for_us);
  } else if (kind < 65) {
    if (!which->up()) return;
    world_.count("leads handed over");
    which->hand_over(other);
  } else if (kind < 70) {
    if (!which->up()) return;
    world_.count("replicas drained");
    which->decline(true);
    // Once the faults are over all are resumed, and one is drained anew.
    world_.after(for_us, [this, which] {
      if (world_.trouble()) which->decline(false);
    });
  } else {
    const auto whole = kind < 88;
    world_.count(whole ? "replicas cut off" : "links between replicas cut");
    world_.tell("fate", which->name(), static_cast<std::uint64_t>(for_us), [&] {
      return std::string{cuts ? "cuts it off " : "freezes its links "} + (whole ? "" : "to one other ") + "for " +
             std::to_string(for_us / millisecond) + " ms";
    });
    for (const auto& one : nodes_) {
      if (one.get() == which || (!whole && one->place() != other)) continue;
      auto& way = between(which->place(), one->place());
      for (const auto side : {link::agent_side, link::shard_side}) {
        if (ways == (side == link::agent_side ? 1U : 0U)) continue;
        cuts ? way.cut(side, for_us) : way.freeze(side, for_us);
      }
    }
  }
}

}  // namespace fairlead::simulation
