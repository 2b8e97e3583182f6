#include "tests/simulation/consensus/world.hpp"

#include <algorithm>

#include "actors/replication/wire.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::int64_t election_ms = 300;
constexpr std::int64_t heartbeat_ms = 30;
constexpr int most_events_in_a_ms = 20'000;
constexpr raft::log_index first_index = 10;  // a group begins behind what the shard had before

}  // namespace

consensus_verdict run_consensus(const consensus_run& what) { return consensus_world{what}.run(); }

consensus_world::consensus_world(const consensus_run& what) : what_{what}, chance_{what.seed, 17} {
  constexpr std::uint64_t sizes[] = {1, 2, 3, 3, 3, 5, 5};
  const auto voters = sizes[chance_.below(std::size(sizes))];
  members_change_ = chance_.chance(500);
  change_members_within_ms_ = chance_.chance(500) ? 1'500 : 200;
  log_is_compacted_ = chance_.chance(500);
  log_leaves_some_behind_ = log_is_compacted_ && chance_.chance(500);
  longest_calm_ms_ = chance_.between(200, 2'000);
  if (chance_.chance(500)) new_leaders_fall_per_mille_ = chance_.below(900);
  constexpr std::size_t messages[] = {1, 1, 64, 1'000};
  max_message_bytes_ = messages[chance_.below(std::size(messages))];
  propose_every_ms_ = chance_.between(3, 100);
  // Then there is always something that nobody else has yet.
  if (chance_.chance(100)) least_latency_ms_ = 25, propose_every_ms_ = 8;
  loss_per_mille_ = chance_.below(3) * 30;
  faults_end_ms_ = chance_.between(3'000, 20'000);
  end_ms_ = faults_end_ms_ + 10'000;
  raft::base first{first_index, 1, {}};
  for (std::uint64_t i = 0; i < voters; ++i) first.who.voters.push_back(next_id_ + i);
  if (chance_.chance(300)) first.who.standbys.push_back(next_id_ + voters);
  for (std::uint64_t i = 0; i < voters + first.who.standbys.size(); ++i) add_host(first);
}

consensus_verdict consensus_world::run() {
  try {
    for (auto& [id, host] : hosts_) start(*host);
    keep_proposing();
    keep_asking();
    keep_tidying();
    keep_failing();
    if (members_change_) keep_changing_members();
    std::int64_t last_ms = 0;
    int same_ms = 0;
    while (!events_.empty() && events_.top().at_ms <= end_ms_) {
      const auto next = events_.top();
      events_.pop();
      now_ms_ = next.at_ms;
      if (next.at_ms > last_ms) same_ms = 0, last_ms = next.at_ms;
      if (++same_ms > most_events_in_a_ms) throw broken_rule{"storm", "replicas answer each other without end"};
      next.what();
    }
    if (end_ms_ - last_commit_ms_ > 4'000) throw broken_rule{"liveness", "nothing was committed in the last four seconds"};
    for (const auto& [ticket, of] : tickets_) {
      const auto& host = *hosts_.at(of.who);
      const auto open = host.is_up() && host.life() == of.life && of.at_ms < end_ms_ - 4'000;
      if (open) throw broken_rule{"liveness", "replica " + std::to_string(of.who) + " never answers ticket " + std::to_string(ticket)};
    }
    for (auto* host : members_now()) {
      // What was committed in the last moments has not come to all.
      const auto late = 4'000 / static_cast<std::uint64_t>(propose_every_ms_) + 200;
      if (judge_.last_committed() > host->given_out() + late)
        throw broken_rule{"liveness", "replica " + std::to_string(host->id()) + " stays at " + std::to_string(host->given_out()) + " of " +
                                          std::to_string(judge_.last_committed()) + where_of(*host)};
    }
  } catch (const broken_rule& why) {
    verdict_.rule = why.rule();
    verdict_.sentence = why.what();
    say("BROKEN " + why.rule() + ": " + why.what());
  } catch (const std::exception& why) {
    verdict_.rule = "exception";
    verdict_.sentence = why.what();
  }
  return std::move(verdict_);
}

void consensus_world::after(std::int64_t ms, std::function<void()> what) { events_.push({now_ms_ + ms, event_number_++, std::move(what)}); }

void consensus_world::say(const std::string& line) {
  verdict_.hash = random_stream::mix(verdict_.hash ^ std::hash<std::string>{}(line) ^ static_cast<std::uint64_t>(now_ms_));
  if (what_.transcript) verdict_.transcript.push_back(std::to_string(now_ms_) + " " + line);
}

consensus_host& consensus_world::add_host(raft::base first) {
  raft::settings how;
  how.self = next_id_++;
  how.election_ms = election_ms;
  how.heartbeat_ms = heartbeat_ms;
  // Small, so that every limit is met.
  how.max_message_bytes = max_message_bytes_;
  how.max_flying_bytes = 512;
  how.planted = &what_.planted;
  auto& host = hosts_[how.self];
  host = std::make_unique<consensus_host>(how, std::move(first));
  host->wall_skew_ms = chance_.between(-5'000, 5'000);
  return *host;
}

raft::moment consensus_world::clock_of(const consensus_host& who) const {
  // Boot clocks begin anywhere and drift by up to two thousandths.
  const auto drift = now_ms_ * static_cast<std::int64_t>(who.id() % 3) / 1'000;
  return {now_ms_ + drift + static_cast<std::int64_t>(who.id()) * 1'000'000, now_ms_ + who.wall_skew_ms + 1'000'000};
}

void consensus_world::start(consensus_host& who) {
  say("start " + std::to_string(who.id()));
  who.start(clock_of(who), chance_);
  proposed_[who.id()].clear();
  tick(who, who.life());
}

void consensus_world::kill(consensus_host& who) {
  if (!who.is_up()) return;
  say("kill " + std::to_string(who.id()));
  count("kills");
  who.stop(chance_);
  after(chance_.between(20, chance_.chance(100) ? 6'000 : 800), [this, &who] {
    if (!who.is_up()) start(who);
  });
}

void consensus_world::tick(consensus_host& who, std::uint64_t life) {
  if (!who.is_up() || who.life() != life) return;
  if (who.stopped_until_ms <= now_ms_) feed(who, raft::tick{});
  after(chance_.between(8, 16), [this, &who, life] { tick(who, life); });
}

void consensus_world::feed(consensus_host& who, raft::input in) {
  const auto was = who.replica().current_role();
  const auto out = who.step(in, clock_of(who), judge_);
  const auto& replica = who.replica();
  if (replica.current_role() != was || !out.committed.empty())
    say(std::to_string(who.id()) + " role " + std::to_string(static_cast<int>(replica.current_role())) + " term " +
        std::to_string(replica.term()) + " commit " + std::to_string(replica.commit_index()) + " last " +
        std::to_string(replica.entries().last_index()));
  if (was != raft::role::leader && replica.current_role() == raft::role::leader) {
    count("leaders");
    strike_new_leader(who);
  }
  if (!out.committed.empty()) last_commit_ms_ = now_ms_;
  judge_stalled(who, out.messages);
  auto& waiting = proposed_[who.id()];
  for (const auto& each : out.committed) {
    const auto mine = waiting.find(each.index);
    if (mine == waiting.end()) continue;
    // Another leader's entry may stand there: then the client learns nothing.
    if (each.bytes() == std::to_string(mine->second)) judge_.acknowledged(each.index), count("acknowledged");
    waiting.erase(mine);
  }
  for (const auto& each : out.confirmed) {
    const auto ticket = tickets_.find(each.ticket);
    if (ticket == tickets_.end()) continue;
    if (each.led) judge_.confirmed(who.id(), ticket->second.known, each.index), count("confirmed");
    tickets_.erase(ticket);
  }
  if (!out.committed.empty()) strike_first_commit(who);
  for (const auto& each : out.messages) transmit(each);
  if (who.is_up() && who.has_voted()) strike_voter(who);
  if (who.is_up()) write(who);
}

/// The others elect another one only if they do not hear from it.
void consensus_world::judge_stalled(const consensus_host& who, const std::vector<raft::message>& said) const {
  if (!who.writes() || now_ms_ - who.writes_since_ms < 2 * election_ms || who.replica().current_role() != raft::role::leader) return;
  for (const auto& one : said)
    if (std::holds_alternative<raft::heartbeat>(one.body) || std::holds_alternative<raft::append>(one.body))
      throw broken_rule{"stalled", "replica " + std::to_string(who.id()) + " leads on although its disk has stood still for " +
                                       std::to_string(now_ms_ - who.writes_since_ms) + " ms"};
}

void consensus_world::write(consensus_host& who) {
  if (!who.wants_to_write()) return;
  const auto position = who.begin_write();
  who.writes_since_ms = now_ms_;
  const auto slow = slow_disk_.find(who.id());
  const auto takes = slow == slow_disk_.end() ? chance_.between(0, 4) : chance_.between(slow->second.first, slow->second.second);
  const auto life = who.life();
  after(takes, [this, &who, life, position] {
    if (!who.is_up() || who.life() != life) return;
    who.finish_write(position);
    const auto tell = [this, &who, life, position] {
      if (who.is_up() && who.life() == life) feed(who, raft::durable{position});
    };
    if (who.stopped_until_ms > now_ms_)
      after(who.stopped_until_ms - now_ms_, tell);
    else
      tell();
  });
}

void consensus_world::transmit(const raft::message& what) {
  if (cut_.count({what.from, what.to}) > 0 || chance_.chance(loss_per_mille_)) return;
  const auto bytes = std::make_shared<const std::string>(encode(what, 0).SerializeAsString());
  for (auto copies = chance_.chance(20) ? 2 : 1; copies > 0; --copies) {
    // A link is a connection: most messages come in order, however long they take.
    auto& before = last_arrival_ms_[{what.from, what.to}];
    auto late = std::max(before - now_ms_, least_latency_ms_ + chance_.between(0, 5));
    before = now_ms_ + late;
    if (chance_.chance(30)) late += chance_.between(0, 150);
    if (chance_.chance(2)) late = chance_.between(0, 2'500);  // many election timeouts
    after(late, [this, bytes] { deliver(bytes); });
  }
}

void consensus_world::deliver(const std::shared_ptr<const std::string>& bytes) {
  v1::ReplicaMessage came;
  came.ParseFromString(*bytes);
  const auto to = hosts_.find(came.to());
  if (to == hosts_.end() || !to->second->is_up()) return;
  if (const auto wait = to->second->stopped_until_ms - now_ms_; wait > 0) return after(wait, [this, bytes] { deliver(bytes); });
  const auto what = decode(came);
  if (!what) throw broken_rule{"message", what.failure().sentence};
  feed(*to->second, raft::received{*what});
}

std::vector<consensus_host*> consensus_world::leaders() {
  std::vector<consensus_host*> out;
  for (auto& [id, host] : hosts_)
    if (host->is_up() && host->stopped_until_ms <= now_ms_ && host->replica().current_role() == raft::role::leader)
      out.push_back(host.get());
  return out;
}

// What its leader knows of a replica that does not keep up.
std::string consensus_world::where_of(const consensus_host& late) {
  std::string out;
  for (const auto* leader : leaders()) {
    const auto known = leader->replica().others().find(late.id());
    if (known == leader->replica().others().end()) continue;
    const auto& of = known->second;
    out += "; leader " + std::to_string(leader->id()) + (of.how == raft::progress::way::probe ? " probes" : " replicates") + ", match " +
           std::to_string(of.match) + ", next " + std::to_string(of.next) + ", base " +
           std::to_string(leader->replica().entries().base_index()) + (of.went_back() ? ", went back" : "");
  }
  return out;
}

std::vector<consensus_host*> consensus_world::members_now() {
  const consensus_host* latest = nullptr;
  for (auto* each : leaders())
    if (latest == nullptr || each->replica().term() > latest->replica().term()) latest = each;
  std::vector<consensus_host*> out;
  if (latest == nullptr) return out;
  const auto& log = latest->replica().entries();
  for (auto& [id, host] : hosts_)
    if (log.current_members().has(id) || log.members_at(latest->replica().commit_index()).has(id)) out.push_back(host.get());
  return out;
}

}  // namespace fairlead::simulation
