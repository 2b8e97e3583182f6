#include "tests/simulation/agents/worker.hpp"

#include <algorithm>
#include <utility>

#include "tests/simulation/agents/agent_process.hpp"
#include "tests/simulation/checker/checker.hpp"

namespace fairlead::simulation {

using fairlead::agents::attempt_key;
using fairlead::agents::key_of;

namespace {

constexpr std::int64_t ask_again_us = 700 * millisecond;
constexpr std::int64_t patience_of_moves_us = 2 * second;
constexpr std::int64_t patience_of_first_us = 10 * second;
constexpr unsigned bits_of_start = 41;

/// As actors/workers.
std::uint64_t first_revision(std::uint64_t moves, std::int64_t now_ms) {
  return (moves << bits_of_start) | (static_cast<std::uint64_t>(now_ms) & ((std::uint64_t{1} << bits_of_start) - 1));
}

bool may_pass(v1::ErrorCode code) {
  return code == v1::ERROR_CODE_UNAVAILABLE || code == v1::ERROR_CODE_TIMED_OUT || code == v1::ERROR_CODE_STALE_EPOCH;
}

}  // namespace

agents::worker::worker(world& in, services& behind, const agent_site& site, const core::planted_faults& planted, host_clock& clock,
                       const std::vector<shard*>& shards, const std::vector<checker*>& judges)
    : world_(in), services_(behind), site_(site), planted_(planted), shards_(shards), judges_(judges), leases_(in) {
  for (std::size_t i = 0; i < nodes; ++i) {
    auto& where = nodes_[i];
    const auto ahead_us = world_.doors.between(-3 * second, 3 * second);
    const auto steady_us = world_.doors.between(1, 1'000'000) * second;
    if (i > 0)
      where.own_clock = std::make_unique<host_clock>(world_, world_.settings.has(concern::skewed_clocks) ? ahead_us : 0, steady_us);
    where.clock = i > 0 ? where.own_clock.get() : &clock;
    for (auto* const target : shards_) {
      const auto number = target->number();
      link::end agent;
      agent.alive = [&where] { return where.up; };
      const auto tell = [this, &where](std::function<void(post&)> what) {
        if (where.now) in_host(where, where.now->carrier, what);
      };
      agent.joined = [tell, number] { tell([number](post& self) { self.routed(number); }); };
      agent.lost = [tell, number] { tell([number](post& self) { self.unrouted(number); }); };
      link::end node;
      node.alive = [target] { return target->up(); };
      node.joined = [] {};
      node.lost = [this, target, &where] {
        if (where.now) target->unreachable(site_.instance, 0, where.now->carrier);
      };
      where.links.push_back(std::make_unique<link>(world_, site_.instance + "@" + std::to_string(i) + "-" + std::to_string(number), false,
                                                   std::move(agent), std::move(node)));
    }
  }
}

agents::worker::~worker() = default;

error agents::worker::gone() { return {v1::ERROR_CODE_NOT_FOUND, "this node does not carry the worker", "register again"}; }

// ---- life and death ----

void agents::worker::start() {
  make_trouble();
  make_ends();
  for (auto& where : nodes_)
    for (auto& way : where.links) way->look(30 * millisecond);
  start_hand();
}

void agents::worker::start_hand() {
  const auto life = ++hands_;
  labour::surroundings around;
  around.self = [this, life](const std::function<void(labour&)>& what) { in_hand(life, [&](hand& here) { what(here.work()); }); };
  around.time = nodes_[0].clock;
  around.judges = judges_;
  hand_ = std::make_unique<hand>(world_, services_, site_, *this, std::move(around));
  world_.tell(site_.instance, "", life, [] { return std::string{"starts as a worker"}; });
  in_hand(life, [](hand& here) { here.begin(); });
}

void agents::worker::in_hand(std::uint64_t life, const std::function<void(hand&)>& what) {
  if (!hand_ || life != hands_) return;
  try {
    what(*hand_);
  } catch (const process_killed&) {
    hand_dies();
  }
}

void agents::worker::hand_dies() {
  world_.tell(site_.instance, "", 0, [] { return std::string{"dies"}; });
  world_.count("deaths of workers");
  past_incarnation_ = std::max(past_incarnation_, hand_->incarnation());
  hand_.reset();
  world_.after(world_.doors.between(20, 4'000) * millisecond, [this] { start_hand(); });
}

void agents::worker::in_host(place& where, std::uint64_t carrier, const std::function<void(post&)>& what) {
  if (!where.now || where.now->carrier != carrier) return;
  try {
    what(*where.now->host);
  } catch (const process_killed&) {
    die(where);
  }
}

void agents::worker::die(place& where) {
  if (!where.up) return;
  world_.tell(site_.instance, "", static_cast<std::uint64_t>(&where - nodes_.data()), [] { return std::string{"its node dies"}; });
  world_.count("deaths of nodes that carry a worker");
  where.up = false;
  ++where.life;
  where.now.reset();
  for (auto& way : where.links) way->ended(link::agent_side);
  world_.after(world_.doors.between(20, 4'000) * millisecond, [&where] {
    where.up = true;
    for (auto& way : where.links) way->look(30 * millisecond);
  });
}

/// Nodes that carry it die, the worker is cut off from them, and it goes on at another one for reasons of its own.
void agents::worker::make_trouble() {
  auto& luck = world_.doors;
  const auto times = luck.below(4);
  for (std::uint64_t i = 0; i < times; ++i) {
    const auto at_us = luck.between(500, 20'000) * millisecond;
    const auto what = luck.below(4);
    const auto lives_on = luck.chance(500);
    const auto for_us = luck.between(300, 9'000) * millisecond;
    world_.after(at_us, [this, what, lives_on, for_us] {
      if (!world_.strikes(concern::workers, world_.doors, 1'000)) return;
      auto& where = nodes_[at_];
      if (what == 0) return die(where);
      if (what == 1) return in_hand(hands_, [](hand&) { throw process_killed{}; });
      // Shards hear nothing of the former host for a while.
      if (lives_on)
        for (auto& way : where.links) way->freeze(link::shard_side, for_us);
      if (what == 2) return in_hand(hands_, [](hand& here) { here.move(); });
      world_.count("workers cut off from their node");
      where.cut_until_us = world_.now_us() + for_us;
    });
  }
}

void agents::worker::node_started(std::uint32_t shard) {
  for (auto& where : nodes_) where.links[shard]->look(30 * millisecond);
}

void agents::worker::node_died(std::uint32_t shard) {
  for (auto& where : nodes_) where.links[shard]->ended(link::shard_side);
}

void agents::worker::core_died(std::uint32_t shard, std::uint64_t core) {
  for (auto& where : nodes_) {
    if (!where.now) continue;
    where.links[shard]->send(link::shard_side, [this, &where, carrier = where.now->carrier, shard, core] {
      in_host(where, carrier, [&](post& self) { self.scheduler_down(shard, core); });
    });
  }
}

bool agents::worker::dead(std::uint64_t incarnation) const { return !hand_ || hand_->incarnation() != incarnation; }

bool agents::worker::all_told() const {
  return (!hand_ || hand_->all_told()) &&
         std::all_of(nodes_.begin(), nodes_.end(), [](const place& one) { return !one.now || one.now->host->all_told(); });
}

void agents::worker::heal() {
  for (auto& where : nodes_) {
    where.cut_until_us = 0;
    for (auto& way : where.links) way->heal();
  }
}

void agents::worker::to_host(std::uint64_t carrier, std::uint32_t shard, std::function<void(post&)> what) {
  for (auto& where : nodes_)
    if (where.now && where.now->carrier == carrier)
      where.links[shard]->send(link::shard_side, [this, &where, carrier, what = std::move(what)] { in_host(where, carrier, what); });
}

// ---- registration ----

void agents::worker::registers(std::size_t node, const hand_registration& what, std::function<void(result<hand_session>)> then) {
  auto& where = nodes_[node];
  const auto patience = what.session.empty() ? patience_of_first_us : patience_of_moves_us;
  ask_for_session(where, where.life, what, world_.now_us() + patience, std::make_shared<bool>(false), std::move(then));
}

/// As the API asks the shard of the agent's name. A session that moves does not wait for long.
void agents::worker::ask_for_session(place& where, std::uint64_t life, const hand_registration& what, std::int64_t until_us,
                                     const std::shared_ptr<bool>& answered, std::function<void(result<hand_session>)> then) {
  if (!where.up || where.life != life || *answered) return;
  const auto pass = [this, &where, life, what, answered, then](const error& why) {
    if (!where.up || where.life != life || std::exchange(*answered, true)) return;
    if (!what.session.empty() && may_pass(why.code)) return carry(where, what, what.incarnation, what.session, then);
    then(why);
  };
  if (world_.now_us() >= until_us) return pass({v1::ERROR_CODE_UNAVAILABLE, "the shard has not answered", ""});
  v1::WorkerSessionRequest request;
  request.set_name(site_.agent);
  request.set_instance(site_.instance);
  request.set_session(what.session);
  request.set_take_over(what.session.empty());
  request.set_vouched(what.session.empty() && what.vouched);
  request.set_who("worker");
  // A second one that vouches for the death of the process before would take over the one that has begun by the first.
  const auto is_wanted = [is_move = !what.session.empty(), asks = what.is_wanted] { return is_move || asks(); };
  shards_.front()->begins_session(request, is_wanted,
                                  [this, &where, life, what, answered, then, pass](const v1::WorkerSessionReply& reply) {
                                    if (reply.has_error() && reply.error().code() != v1::ERROR_CODE_OK)
                                      return pass({reply.error().code(), reply.error().sentence(), reply.error().remedy()});
                                    if (!where.up || where.life != life || std::exchange(*answered, true)) return;
                                    carry(where, what, reply.incarnation(), reply.session(), then);
                                  });
  world_.after(ask_again_us,
               [this, &where, life, what, until_us, answered, then] { ask_for_session(where, life, what, until_us, answered, then); });
}

void agents::worker::carry(place& where, const hand_registration& what, std::uint64_t incarnation, const std::string& words,
                           const std::function<void(result<hand_session>)>& then) {
  if (where.now) {
    where.now->session.superseded();
    where.now->session.shut_down();
  }
  fairlead::agents::worker_session::definition as;
  as.calls = {"do", "back"};
  as.lookups = lookups_of(site_);
  as.policies = policies_of(site_);
  as.capacity = site_.capacity;
  as.moved = !what.session.empty();
  as.have = what.have;
  as.planted = &planted_;
  where.now = std::make_unique<carried>(std::move(as), *where.clock);
  const auto carrier = ++carriers_;
  where.now->carrier = carrier;
  where.now->takes_until_us = world_.now_us();
  where.now->has_moved = !what.session.empty();
  const auto moves = what.session.empty() ? 0 : what.moves + 1;

  post::surroundings around;
  around.time = where.clock;
  around.planted = &planted_;
  around.judges = judges_;
  around.self = [this, &where, carrier](const std::function<void(post&)>& to_do) { in_host(where, carrier, to_do); };
  around.to_gateway = [this, &where, carrier](const v1::RegisterAgent& message) {
    auto& way = *where.links[message.shard()];
    way.send(link::agent_side, [this, &where, &way, &to = *shards_[message.shard()], carrier, message] {
      if (!to.up()) return;
      to.registers(message, carrier, [this, &where, &way, carrier, revision = message.revision()](const welcome& reply) {
        way.send(link::shard_side, [this, &where, carrier, revision, reply] {
          in_host(where, carrier, [&](post& self) { self.welcomed(revision, reply); });
        });
      });
    });
  };
  around.to_scheduler = [this, &where](std::uint32_t number, std::uint64_t core, std::function<void(shard&)> message) {
    where.links[number]->send(link::agent_side, [&to = *shards_[number], core, message = std::move(message)] {
      if (auto* const there = to.with(core)) to.to(*there, message);
    });
  };
  around.ended = [this, &where, incarnation, carrier] { host_ended(where, incarnation, carrier); };
  around.told = [this](const attempt_key& key, bool accepted) { known_[key].is_accepted = known_[key].is_accepted || accepted; };
  around.announces = [this, &where](bool is_draining) {
    if (!where.now || !where.now->host) return;
    world_.judges("offered_unasked");
    if (is_draining) return;
    if (where.now->drains)
      world::broken("offered_unasked", site_.instance + " is announced as one that takes attempts, and has said that it takes no more");
    const auto capacity = where.now->session.capacity();
    if (world_.now_us() > where.now->takes_until_us + second && capacity > where.now->host->unsettled())
      world::broken("offered_unasked",
                    site_.instance + " is announced with " + std::to_string(capacity) + " slots, and does not ask for attempts");
  };
  where.now->host =
      std::make_unique<post>(world_, site_, incarnation, where.now->session, leases_, std::move(around),
                             post::carrying{&where.now->session, words, first_revision(moves, where.clock->now_ms()), carrier});
  for (std::size_t i = 0; i < where.links.size(); ++i) {
    const auto number = static_cast<std::uint32_t>(i);
    if (where.links[i]->stands())
      in_host(where, carrier, [number](post& self) { self.routed(number); });
    else
      where.links[i]->look(30 * millisecond);
  }
  then(hand_session{carrier, words, moves, incarnation});
}

// ---- requests ----

void agents::worker::send(std::size_t node, const std::function<void()>& then) {
  auto& luck = world_.doors;
  const auto arrive = [this, &where = nodes_[node], then] {
    if (where.up && world_.now_us() >= where.cut_until_us) then();
  };
  const auto way_us = luck.chance(950) ? luck.between(200, 20'000) : luck.between(1, 1'500) * millisecond;
  if (world_.strikes(concern::workers, luck, 30)) return world_.count("requests of workers that are lost");
  world_.after(way_us, arrive);
  if (!world_.strikes(concern::workers, luck, 30)) return;
  world_.count("requests of workers that are repeated");
  world_.after(way_us + luck.between(1, 2'000) * millisecond, arrive);
}

void agents::worker::answer(std::size_t node, const process_call& self, std::function<void(hand&)> then) {
  auto& luck = world_.doors;
  const auto way_us = luck.chance(950) ? luck.between(200, 20'000) : luck.between(1, 1'500) * millisecond;
  if (world_.strikes(concern::workers, luck, 40)) return world_.count("answers to workers that are lost");
  world_.after(way_us, [this, &where = nodes_[node], self, then = std::move(then)] {
    if (world_.now_us() >= where.cut_until_us) self([&](labour& here) { then(static_cast<hand&>(here)); });
  });
}

agents::worker::carried* agents::worker::at_node(std::size_t node, std::uint64_t carrier) {
  auto& now = nodes_[node].now;
  return now && now->carrier == carrier ? now.get() : nullptr;
}

bool agents::worker::is_seen(const v1::Perform& what) const {
  const auto known = known_.find(key_of(what));
  return known != known_.end() && known->second.is_seen;
}

/// The worker says that later answers have not come. Its host sends again what they have carried, perhaps in several answers: to confirm
/// the first of them confirms nothing of the rest.
void agents::worker::lose(carried& at, std::uint64_t after) const {
  const auto first = at.answers.upper_bound(after);
  for (auto one = first; one != at.answers.end(); ++one) at.lost.insert(at.lost.end(), one->second.begin(), one->second.end());
  at.answers.erase(first, at.answers.end());
  at.lost.erase(std::remove_if(at.lost.begin(), at.lost.end(), [this](const auto& one) { return is_seen(one); }), at.lost.end());
}

/// Its host cannot have ended its lease yet. What it does by the clock of a shard that was set is not known here.
bool agents::worker::is_alive(const carried& at, const v1::Perform& what) const {
  return world_.clock_settings() == 0 && at.host->keeps_until_us(key_of(what)) - world_.now_us() > 200 * millisecond;
}

void agents::worker::judge_confirmed(std::uint64_t carrier, std::uint64_t answer) {
  world_.judges("answer_lost");
  for (const auto& where : nodes_) {
    if (!where.now || where.now->carrier != carrier) continue;
    for (const auto& [number, attempts] : where.now->answers)
      for (const auto& one : attempts)
        // One whose lease has ended meanwhile is not sent again.
        if (number <= answer && !is_seen(one) && is_alive(*where.now, one))
          world::broken("answer_lost", describe(one) + " was in an answer that " + site_.instance + " never got, and is made to confirm");
  }
}

void agents::worker::takes(std::size_t node, std::uint64_t carrier, session::take_request what, const std::shared_ptr<exchange>& x,
                           session::taker done) {
  auto* const at = at_node(node, carrier);
  if (at == nullptr) return done(gone());
  what.came = nodes_[node].clock->steady();
  what.is_waiting = [x] { return !x->is_noticed; };
  const auto own = ++at->takes;
  at->takes_until_us = world_.now_us() + what.wait.count() * millisecond;
  lose(*at, what.after);
  in_host(nodes_[node], carrier, [&](post& host) {
    const auto number = at->session.take(what, [this, node, carrier, own, most = what.most, lost = at->lost,
                                                done](result<session::take_answer> answer) {
      auto* const here = at_node(node, carrier);
      if (here != nullptr && here->takes == own) here->takes_until_us = world_.now_us();
      if (answer && here != nullptr) {
        const auto& attempts = answer->attempts;
        world_.judges("too_many_taken");
        if (attempts.size() > most) world::broken("too_many_taken", site_.instance + " has asked for fewer attempts than an answer has");
        for (const auto& one : lost) {
          const auto is_in = std::any_of(attempts.begin(), attempts.end(), [&](const auto& it) { return key_of(it.what) == key_of(one); });
          if (!is_in && attempts.size() < most && is_alive(*here, one) && !is_seen(one))
            world::broken("answer_lost", describe(one) + " was in an answer that " + site_.instance + " never got, and is not sent again");
        }
        for (const auto& one : attempts) {
          if (here->drains && !here->has_moved) judge_drained(*here, one.what);
          here->answers[answer->number].push_back(one.what);
          here->sent.insert(key_of(one.what));
          auto& open = here->lost;
          open.erase(std::remove_if(open.begin(), open.end(), [&](const auto& it) { return key_of(it) == key_of(one.what); }), open.end());
        }
      }
      done(std::move(answer));
    });
    x->carrier = carrier;
    x->take = number;
    host.after_message();
  });
}

/// The node may see that the connection is closed.
void agents::worker::close(std::size_t node, const std::shared_ptr<exchange>& x) {
  x->closed = true;
  if (!world_.doors.chance(700)) return;
  world_.after(world_.doors.between(200, 20'000), [this, node, x] {
    x->is_noticed = true;
    if (auto* const at = at_node(node, x->carrier))
      in_host(nodes_[node], x->carrier, [&](post& host) {
        at->session.client_gone(x->take);
        host.after_message();
      });
  });
}

void agents::worker::reports(std::size_t node, std::uint64_t carrier, const std::vector<session::report>& what,
                             std::function<void(result<std::vector<session::report_answer>>)> done) {
  auto* const at = at_node(node, carrier);
  if (at == nullptr) return done(gone());
  at->takes_until_us = std::max(at->takes_until_us, world_.now_us());
  in_host(nodes_[node], carrier, [&](post& host) {
    at->session.outcomes(what, std::move(done));
    host.after_message();
  });
}

void agents::worker::beats(std::size_t node, std::uint64_t carrier, const session::beat& what,
                           std::function<void(result<std::vector<session::beat_answer>>)> done) {
  auto* const at = at_node(node, carrier);
  if (at == nullptr) return done(gone());
  in_host(nodes_[node], carrier, [&](post& host) {
    at->session.heartbeats({what}, nodes_[node].clock->steady(), std::move(done));
    host.after_message();
  });
}

// ---- attempts ----

void agents::worker::judge_return(const attempt_key& which) {
  auto& one = known_[which];
  world_.judges("given_back_begun");
  one.is_returned = true;
  if (one.is_begun)
    world::broken("given_back_begun", site_.instance + " has begun attempt " + std::to_string(which.attempt) + " of step " +
                                          std::to_string(which.step) + " of task " + std::to_string(which.task_number) +
                                          ", and its shard was told that nobody has");
}

}  // namespace fairlead::simulation
