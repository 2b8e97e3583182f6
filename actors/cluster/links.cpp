#include "actors/cluster/links.hpp"

#include <algorithm>

#include "actors/core/workflow/check.hpp"
#include "messages/lineage.hpp"

namespace fairlead {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds hello_every{5'000};
/// Hellos in a row without an answer after which a connected node counts as lost.
constexpr std::uint32_t most_missed = 2;
/// How long a restart may take to reach the earlier connected nodes again.
constexpr milliseconds restart_grace{4'000};

constexpr std::size_t max_greetings = 256;  // in progress, to nodes that are not configured
constexpr std::size_t max_refusals = 64;
constexpr std::size_t max_lost_nodes = 256;
constexpr std::size_t max_seen = 4'096;
/// A refused node comes back within 30 s.
constexpr seconds refusal_kept{90};
constexpr seconds lost_node_kept{3'600};
constexpr seconds sweep_every{30};
constexpr seconds senseless_note_every{10};
constexpr std::size_t max_sentence = 600;

/// Text from another node: one line of bounded length, for logs and terminals.
std::string harmless_text(std::string text, std::size_t most) {
  if (text.size() > most) text.resize(most);
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return text;
}

/// Refusals that end by themselves.
bool passes(error_code code) {
  return code == v1::ERROR_CODE_OVERLOADED || code == v1::ERROR_CODE_UNAVAILABLE || code == v1::ERROR_CODE_TIMED_OUT;
}

}  // namespace

links::links(links_options options, links_memory& memory, links_port& world)
    : options_(std::move(options)), memory_(memory), world_(world) {
  dial_wanted();
  for (const auto& one : options_.known) core::learn(memory_.lineages, one);
  if (memory_.shard_count == 0) memory_.shard_count = options_.me.shard_count();
}

void links::start(const std::vector<gateway_token>& known) {
  if (!memory_.told.empty()) settled_at_ = now() + restart_grace;
  if (memory_.told.empty() && memory_.shard_count != 0) world_.tell_total(memory_.shard_count);
  for (const auto gateway : known) greet({gateway, std::nullopt, ""});
  update_routes();
  tick();
}

void links::tick() {
  const auto at = now();
  for (std::size_t i = 0; i < dials_.size(); ++i) {
    auto& line = dials_[i];
    if (line.state != dial_state::waiting || line.next_at > at) continue;
    line.state = dial_state::connecting;
    world_.connect(i, line.address);
  }
  for (auto& [name, one] : nodes_)
    if (one.connected && !one.greeting && one.next_hello_at <= at) greet({one.gateway, std::nullopt, name});
  if (sweep_at_ <= at) {
    sweep_at_ = at + sweep_every;
    forget_the_old();
  }
  if (settled_at_ != moment{} && settled_at_ <= at) {
    settled_at_ = moment{};
    update_routes();
  }
}

moment links::next_due() const {
  auto out = sweep_at_;
  for (const auto& line : dials_)
    if (line.state == dial_state::waiting) out = std::min(out, line.next_at);
  for (const auto& [name, one] : nodes_)
    if (one.connected && !one.greeting) out = std::min(out, one.next_hello_at);
  if (settled_at_ != moment{}) out = std::min(out, settled_at_);
  return out;
}

v1::Hello links::own_hello() const {
  auto out = options_.me;
  out.clear_shards();
  for (const auto& [shard, claim] : memory_.claims) *out.add_shards() = claim;
  return out;
}

namespace {

/// Whether the shard of `own`, which this node claims alone, is not to be served on beside several nodes that hold it: its store is a copy from before
/// they did, or was made new since, or they have recovered or restored it. Another one may be the store with the work, and theirs the one made by
/// mistake: that is for an operator to say.
bool is_over(const v1::Lineage& own, const v1::Lineage& theirs) {
  if (!theirs.several() || own.several()) return false;
  return theirs.made_unix_ms() <= own.made_unix_ms() || is_restored(theirs);
}

}  // namespace

/// A node with a shard that goes on elsewhere refuses that one, and what it serves itself is over.
core::hello_judgement links::judge(const v1::Hello& you) {
  const auto me = own_hello();
  core::hello_view known{me, memory_.shard_count, {}, memory_.seen, memory_.lineages, memory_.names};
  for (const auto& [name, one] : nodes_)
    if (one.connected) known.connected.push_back(&one.hello);
  auto out = core::judge_hello(you, known);
  if (!out.later) return out;
  core::learn(memory_.lineages, *out.later);
  const auto own = memory_.claims.find(out.later->shard());
  if (own != memory_.claims.end() && is_over(own->second.lineage(), out.later->lineage())) world_.held_elsewhere(*out.later);
  return out;
}

v1::HelloReply links::on_hello(const v1::Hello& you, gateway_token gateway) {
  v1::HelloReply out;
  *out.mutable_me() = own_hello();
  const auto judged = judge(you);
  switch (judged.verdict) {
    case core::hello_verdict::itself: break;
    case core::hello_verdict::refuse:
      *out.mutable_error() = judged.why.to_proto();
      if (judged.senseless) {
        ++refused_messages_;
        if (now() < senseless_note_at_) break;
        senseless_note_at_ = now() + senseless_note_every;
        note(note_level::warning, judged.why.sentence);
        break;
      }
      {
        // The node may claim more now than when it was accepted.
        const auto known = nodes_.find(you.node());
        const bool was = known != nodes_.end() && known->second.connected && known->second.hello.run_id() == you.run_id();
        if (was) lose(you.node(), judged.why.sentence, true);
        note_refusal(you, judged.why.sentence, was);
      }
      break;
    case core::hello_verdict::join: {
      const auto known = nodes_.find(you.node());
      if (known != nodes_.end() && known->second.connected && known->second.gateway == gateway) {
        known->second.hello = you;
        take_claims(you, judged);
        update_routes();
        break;
      }
      // The node must accept this one, too.
      if (!greet({gateway, std::nullopt, ""}))
        *out.mutable_error() = error{v1::ERROR_CODE_OVERLOADED, "node " + options_.me.node() + " is connecting to too many nodes at a time",
                                     "Nothing to do: the connection is tried again"}
                                   .to_proto();
      break;
    }
  }
  release(gateway);
  return out;
}

bool links::greet(greeting whom) {
  const auto known = nodes_.find(whom.node);
  for (const auto& [ticket, other] : greetings_) {
    if (other.gateway != whom.gateway || whom.dial) continue;
    if (known != nodes_.end()) known->second.next_hello_at = now() + hello_every;
    return true;
  }
  if (!whom.dial && whom.node.empty() && greetings_.size() >= max_greetings) return false;
  // The request alone would not notice for seconds that the other side has died.
  if (watched_.insert(whom.gateway).second) world_.watch(whom.gateway);
  if (known != nodes_.end()) known->second.greeting = true;
  whom.claims_version = claims_version_;
  const auto ticket = next_ticket_++;
  const auto gateway = whom.gateway;
  greetings_.emplace(ticket, std::move(whom));
  world_.greet(ticket, gateway, own_hello());
  return true;
}

void links::greet_all() {
  for (auto& [name, one] : nodes_)
    if (one.connected) one.next_hello_at = now();
}

void links::on_reply(std::uint64_t ticket, const v1::HelloReply& reply) {
  const auto found = greetings_.find(ticket);
  if (found == greetings_.end()) return;
  const auto& failure = reply.error();
  if (passes(failure.code())) return on_no_reply(ticket, harmless_text(failure.sentence(), max_sentence));
  const auto whom = found->second;
  greetings_.erase(found);
  if (const auto known = nodes_.find(whom.node); known != nodes_.end()) known->second.greeting = false;
  const auto& you = reply.me();
  if (failure.code() != v1::ERROR_CODE_OK) {
    (void)judge(you);  // a later lineage counts, whoever tells of it
    turned_away(whom, you,
                {failure.code(), harmless_text(failure.sentence(), max_sentence), harmless_text(failure.remedy(), max_sentence)});
  } else {
    const auto judged = judge(you);
    if (judged.senseless) ++refused_messages_;
    if (judged.verdict == core::hello_verdict::refuse) {
      turned_away(whom, you, judged.why);
    } else if (judged.verdict == core::hello_verdict::join) {
      for (const auto& earlier : judged.replaced)
        if (earlier != you.node()) lose(earlier, "it has been started again as node " + you.node());
      take_claims(you, judged);
      accept(you, whom.gateway);
      // Claims of shards that came up meanwhile are not known there yet.
      if (whom.claims_version != claims_version_) nodes_.at(you.node()).next_hello_at = now();
      if (whom.dial) link_dial(dials_[*whom.dial], you.node());
    } else if (whom.dial) {
      auto& line = dials_[*whom.dial];
      line.state = dial_state::itself;
      line.reason = "this address leads to this node itself";
      line.since_unix_ms = wall_ms();
      note(note_level::info, "the peer " + line.address + " is this node itself; it is ignored");
    }
  }
  release(whom.gateway);
}

void links::turned_away(const greeting& whom, const v1::Hello& you, const error& why) {
  const auto known = nodes_.find(whom.node.empty() ? you.node() : whom.node);
  const bool was = known != nodes_.end() && known->second.connected && known->second.gateway == whom.gateway;
  if (was) lose(known->first, why.sentence, true);
  if (!whom.dial) return note_refusal(you, why.sentence, was);
  auto& line = dials_[*whom.dial];
  if (core::valid_agent_name(you.node())) line.node = you.node();
  dial_failed(line, why.remedy.empty() ? why.sentence : why.sentence + ". " + why.remedy, true);
}

void links::on_no_reply(std::uint64_t ticket, const std::string& reason) {
  const auto found = greetings_.find(ticket);
  if (found == greetings_.end()) return;
  const auto whom = found->second;
  greetings_.erase(found);
  if (whom.dial) dial_failed(dials_[*whom.dial], reason, false);
  if (const auto known = nodes_.find(whom.node);
      known != nodes_.end() && known->second.connected && known->second.gateway == whom.gateway) {
    known->second.greeting = false;
    known->second.next_hello_at = now();
    if (++known->second.missed >= most_missed) lose(whom.node, reason);
  }
  release(whom.gateway);
}

void links::accept(const v1::Hello& you, gateway_token gateway) {
  auto& one = nodes_[you.node()];
  const bool was = one.connected;
  const bool same = was && one.hello.run_id() == you.run_id();
  const auto before = one.gateway;
  one.hello = you;
  one.gateway = gateway;
  one.connected = true;
  one.reason.clear();
  one.greeting = false;
  one.missed = 0;
  one.next_hello_at = now() + hello_every;
  if (watched_.insert(gateway).second) world_.watch(gateway);
  if (was && before != gateway) release(before);
  if (!same) {
    one.since_unix_ms = wall_ms();
    one.changed_at = now();
    ++memory_.connects[you.node()];
    // Not with each hello: another node of that name may be refused meanwhile.
    refusals_.erase(you.node());
    note(note_level::info, "node " + you.node() + " (incarnation " + std::to_string(you.incarnation()) + ") is connected");
  }
  // An entry may be dropped: connected nodes are compared by their current Hello, and the others are few, except under abuse.
  if (memory_.seen.size() >= max_seen && memory_.seen.count(you.node_id()) == 0) memory_.seen.erase(memory_.seen.begin());
  auto& seen = memory_.seen[you.node_id()];
  if (you.incarnation() >= seen.incarnation) seen = {you.incarnation(), you.run_id()};
  learn_name(you);
  learn_total(you.shard_count());
  update_routes();
}

void links::lose(const std::string& name, const std::string& reason, bool refused) {
  auto& one = nodes_.at(name);
  if (!one.connected) return;
  const auto gateway = one.gateway;
  one.connected = false;
  one.gateway = no_gateway;
  one.greeting = false;
  one.reason = reason;
  one.since_unix_ms = wall_ms();
  one.changed_at = now();
  for (const auto& claim : one.hello.shards()) last_holder_[claim.shard()] = name;
  note(note_level::warning, "node " + name + " is not connected any more: " + reason);
  for (auto& line : dials_) {
    if (line.state != dial_state::linked || line.node != name) continue;
    line.logged.insert(reason);  // just logged
    dial_failed(line, reason, refused);
  }
  release(gateway);
  update_routes();
}

void links::note_refusal(const v1::Hello& you, const std::string& reason, bool told) {
  if (!core::valid_agent_name(you.node())) return;
  if (refusals_.count(you.node()) == 0 && refusals_.size() >= max_refusals) return;
  auto& entry = refusals_[you.node()];
  if (entry.reason != reason) {
    entry.since_unix_ms = wall_ms();
    const auto* line = dial_of(you.node());
    if (!told && (line == nullptr || !line->refused)) note(note_level::warning, "node " + you.node() + " is refused: " + reason);
  }
  // The other fields are unverified.
  entry.who.Clear();
  entry.who.set_node(you.node());
  entry.who.set_incarnation(you.incarnation());
  entry.who.set_version(harmless_text(you.version(), 64));
  entry.who.set_listens_on(harmless_text(you.listens_on(), 300));
  entry.reason = reason;
  entry.heard_at = now();
}

void links::on_down(gateway_token gateway, const std::string& reason) {
  watched_.erase(gateway);  // an ended gateway needs no `forget`
  std::vector<std::uint64_t> over;
  for (const auto& [ticket, whom] : greetings_)
    if (whom.gateway == gateway) over.push_back(ticket);
  for (auto& [name, one] : nodes_)
    if (one.connected && one.gateway == gateway) lose(name, reason);
  for (const auto ticket : over) on_no_reply(ticket, reason);
}

void links::on_claim(const v1::ShardClaim& claim) {
  if (claim.shard() >= memory_.shard_count) return;
  if (claim.epoch() == 0 && memory_.claims.erase(claim.shard()) == 0) return;
  if (claim.epoch() != 0) {
    memory_.claims[claim.shard()] = claim;
    core::learn(memory_.lineages, claim);
  }
  ++claims_version_;
  greet_all();
  update_routes();
  tick();
}

/// If a claim of a node that may join counts more than that of a connected one, the latter is disconnected.
void links::take_claims(const v1::Hello& you, const core::hello_judgement& judged) {
  for (const auto& claim : you.shards()) core::learn(memory_.lineages, claim);
  for (const auto& earlier : judged.outlived)
    lose(earlier, "node " + you.node() + " has its shard in a later lineage, or together with others", true);
}

void links::learn_total(std::uint32_t count) {
  if (count == 0 || memory_.shard_count != 0) return;
  memory_.shard_count = count;
  world_.tell_total(count);
}

link_route links::route_of(std::uint32_t shard) const {
  link_route out;
  out.shard = shard;
  const auto known = memory_.lineages.find(shard);
  out.several = known != memory_.lineages.end() && known->second.several();
  // Of several nodes that take themselves for the leader of a replicated shard the one of the latest epoch is it.
  std::uint64_t epoch = 0;
  const auto own = memory_.claims.find(shard);
  if (own != memory_.claims.end()) {
    out.via = own_gateway;
    out.node = options_.me.node();
    epoch = own->second.epoch();
  }
  for (const auto& [name, one] : nodes_) {
    if (!one.connected) continue;
    for (const auto& claim : one.hello.shards()) {
      if (claim.shard() != shard || (out.via != no_gateway && claim.epoch() <= epoch)) continue;
      out.via = one.gateway;
      out.node = name;
      epoch = claim.epoch();
    }
  }
  if (out.via != no_gateway) return out;
  const auto& here = options_.shards_here;
  if (out.several) {
    out.reason = "no connected node leads it; fairlead cluster status says what is known of it";
  } else if (const auto holder = last_holder_.find(shard); holder != last_holder_.end()) {
    const auto& one = nodes_.find(holder->second);
    out.node = holder->second;
    if (one == nodes_.end())
      out.reason = "node " + holder->second + ", which had the shard, is not connected any more";
    else if (one->second.connected)
      out.reason = "node " + holder->second + " is connected, but does not have the shard any more";
    else
      out.reason = "node " + holder->second + ", which has the shard, is not connected: " + one->second.reason;
  } else if (std::find(here.begin(), here.end(), shard) != here.end()) {
    out.node = options_.me.node();
    out.reason = "the shard has not started yet on this node";
  } else {
    out.reason = "no node with this shard has been connected yet";
  }
  return out;
}

std::vector<link_route> links::routes() const {
  std::vector<link_route> out;
  for (std::uint32_t shard = 0; shard < memory_.shard_count; ++shard) out.push_back(route_of(shard));
  return out;
}

void links::update_routes() {
  for (auto& route : routes()) {
    const auto told = memory_.told.find(route.shard);
    if (told != memory_.told.end()) {
      if (told->second == route) continue;
      if (route.via == no_gateway && told->second.via != no_gateway && settled_at_ != moment{}) continue;
    }
    memory_.told[route.shard] = route;
    world_.tell(route);
  }
}

/// Drops a gateway that is not needed any more.
void links::release(gateway_token gateway) {
  if (watched_.count(gateway) == 0) return;
  for (const auto& [name, one] : nodes_)
    if (one.gateway == gateway) return;
  for (const auto& [ticket, whom] : greetings_)
    if (whom.gateway == gateway) return;
  watched_.erase(gateway);
  world_.forget(gateway);
}

void links::forget_the_old() {
  const auto at = now();
  for (auto it = refusals_.begin(); it != refusals_.end();)
    it = it->second.heard_at + refusal_kept <= at ? refusals_.erase(it) : std::next(it);
  std::size_t lost = 0;
  for (auto it = nodes_.begin(); it != nodes_.end();) {
    const bool gone =
        !it->second.connected && dial_of(it->first) == nullptr && (it->second.changed_at + lost_node_kept <= at || ++lost > max_lost_nodes);
    if (gone) memory_.connects.erase(it->first);
    it = gone ? nodes_.erase(it) : std::next(it);
  }
}

}  // namespace fairlead
