#include "actors/replication/replica_actor.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <utility>

#include "actors/core/cluster/shard_nodes.hpp"
#include "actors/core/text/text.hpp"
#include "actors/replication/service.hpp"
#include "actors/replication/wire.hpp"
#include "actors/supervision/guardian.hpp"
#include "messages/ids.hpp"
#include "messages/lineage.hpp"

namespace fairlead {

namespace {

using std::chrono::milliseconds;

/// While another replica is not linked it is looked for so often.
constexpr milliseconds look_every{200};
/// While all are linked, the links are asked so often what they have heard of the shard.
constexpr milliseconds ask_links_every{2'000};
constexpr milliseconds answer_limit{2'000};
/// A change of the nodes has to count within.
constexpr milliseconds change_limit{3'000};
/// What is wrong with another replica is said so often.
constexpr std::chrono::minutes complain_again{10};
// A standby looks for no other leader, also when the one that it had has taken it off the list. It has heard nothing for so many election timeouts.
constexpr std::int64_t silent_elections = 3;
constexpr std::size_t most_complaints = 64;

}  // namespace

class replica_shell final : public service_port {
 public:
  using self_pointer = supervised_stateful_pointer<replica_actor, replica_state>;

  replica_shell(self_pointer self, replica_setup setup) : self_(self), setup_(std::move(setup)), seat_(*setup_.seat) { know_peers(); }

  void begin() {
    self_->set_down_handler([this](const caf::down_msg& gone) { lost(gone.source); });
    // The actor before may have known some.
    for (const auto& [node, unknown] : peers_) seat_.lost(node);
    if (auto* const it = seat_.consensus()) service_.serve(*it);
    tick_after_ = milliseconds{std::max<std::int64_t>(seat_.settings().how.heartbeat_ms / 2, 1)};
    self_->delayed_send(self_, tick_after_, tick_atom_v);
    self_->send(self_, link_atom_v);
    tell_links();
  }

  // ---- what comes in ----

  void commit(commit_request& request) {
    scheduler_ = self_->current_sender();
    service_.commit(scheduler_->id(), std::move(request.what));
  }

  void receive(const v1::ReplicaBatch& batch) {
    if (seat_.consensus() == nullptr) return;
    for (const auto& one : batch.messages()) {
      if (one.shard() != seat_.settings().shard) continue;
      const auto what = decode(one);
      if (!what.ok()) {
        complain(what.failure().sentence);
        const bool is_known = !seat_.others().node_of(one.from()).empty();
        if (is_known && what.failure().code == v1::ERROR_CODE_STORE_NEWER) seat_.cannot_read(what.failure().sentence);
        continue;
      }
      // Who speaks for a replica has introduced itself as that one.
      if (seat_.others().node_of(what->from).empty()) continue;
      if (!check(service_.receive(*what))) return;
    }
  }

  void pass_on(v1::ReplicaCopy& what) {
    if (what.shard() != seat_.settings().shard || seat_.consensus() == nullptr) return;
    if (what.to() == seat_.consensus()->settings().self) {
      if (setup_.copies && !seat_.others().node_of(what.from()).empty()) self_->send(setup_.copies, std::move(what));
      return;
    }
    const std::lock_guard lock(guard_);
    if (const auto to = handles_.find(what.to()); to != handles_.end())
      self_->send(caf::actor_cast<replica_actor>(to->second), std::move(what));
  }

  void tick() {
    self_->delayed_send(self_, tick_after_, tick_atom_v);
    if (seat_.consensus() != nullptr) check(service_.tick());
    if (!changes_.empty()) answer_changes();
  }

  void flush() {
    if (seat_.consensus() != nullptr) check(service_.flush());
  }

  caf::result<bool> confirm(std::uint64_t epoch) {
    if (seat_.consensus() == nullptr) return false;
    auto promise = self_->make_response_promise<bool>();
    waiting_.emplace(service_.confirm(epoch), promise);
    return promise;
  }

  caf::result<v1::ShardNodesReply> change_nodes(v1::ShardNodesRequest& what) {
    auto promise = self_->make_response_promise<v1::ShardNodesReply>();
    changes_.push_back({std::move(what), promise, setup_.time->steady() + change_limit, false});
    answer_changes();
    return promise;
  }

  // ---- other replicas ----

  caf::result<v1::ReplicaWelcome, caf::strong_actor_ptr> meet(const v1::ReplicaHello& you, const caf::strong_actor_ptr& who) {
    v1::ReplicaWelcome out;
    const auto known = who ? seat_.meet(you) : status(invalid("a replica introduced itself without an actor", ""));
    follow_log();
    if (known.ok()) {
      link(you, who);
    } else {
      *out.mutable_error() = known.failure().to_proto();
      complain(known.failure().sentence);
    }
    *out.mutable_me() = seat_.others().me();
    return {std::move(out), known.ok() ? caf::actor_cast<caf::strong_actor_ptr>(self_) : caf::strong_actor_ptr{}};
  }

  void look() {
    self_->delayed_send(self_, look_every, link_atom_v);
    follow_log();
    tell_changes();
    const auto missing = std::any_of(peers_.begin(), peers_.end(), [&](const auto& one) { return wants_greeting(one.first, one.second); });
    const auto now = setup_.time->steady();
    if ((!missing && now < ask_links_at_) || !setup_.links || std::exchange(asks_links_, true)) return;
    ask_links_at_ = now + ask_links_every;
    self_->request(setup_.links, answer_limit, report_atom_v)
        .then(
            [this](const link_report& report) {
              asks_links_ = false;
              if (const auto latest = report.lineages.find(seat_.settings().shard); latest != report.lineages.end())
                if (seat_.heard_of(latest->second) && setup_.on_outlived) setup_.on_outlived(latest->second);
              for (const auto& [node, gateway] : report.gateways) greet(node, gateway);
            },
            [this](const caf::error&) { asks_links_ = false; });
  }

  // ---- what comes of it ----

  void send(std::vector<raft::message> what) override {
    const std::lock_guard lock(guard_);
    std::map<raft::replica_id, v1::ReplicaBatch> batches;
    for (const auto& one : what) *batches[one.to].add_messages() = encode(one, static_cast<std::uint16_t>(seat_.settings().shard));
    for (auto& [id, batch] : batches) {
      const auto to = handles_.find(id);
      if (to != handles_.end()) caf::anon_send(caf::actor_cast<replica_actor>(to->second), std::move(batch));
    }
  }
  void wake() override { self_->send(self_, flush_atom_v); }
  void committed(std::uint64_t sequence) override {
    if (scheduler_) self_->send(caf::actor_cast<scheduler_actor>(scheduler_), fairlead::committed{sequence});
  }
  void measured(std::size_t batches, std::size_t bytes, std::chrono::microseconds took) override {
    if (setup_.on_committed) setup_.on_committed(batches, bytes, took);
  }
  void leads(bool now) override {
    scheduler_ = nullptr;
    setup_.on_leads(now);
  }
  void confirmed(std::uint64_t ticket, bool led) override {
    if (auto asked = waiting_.extract(ticket)) asked.mapped().deliver(led);
  }

 private:
  struct peer {
    caf::strong_actor_ptr handle;
    raft::replica_id id = 0;  // of the handle
    bool asked = false;
  };

  bool check(const status& done) {
    if (done.ok()) return true;
    setup_.on_fatal(done.failure());
    self_->quit(caf::sec::runtime_error);
    return false;
  }

  /// The nodes that hold the shard by now.
  void know_peers() {
    for (const auto& node : seat_.others().others()) {
      const auto& one = peers_[node];
      if (one.handle) seat_.met(node, one.id);
    }
  }

  /// They connect to the nodes that hold the shard, also those that the node file does not name.
  void tell_links() {
    told_links_ = seat_.others().nodes().version();
    if (setup_.links) self_->send(setup_.links, seat_.others().me());
    if (setup_.on_others) setup_.on_others(seat_.others().me());
  }

  void follow_log() {
    if (seat_.follow_log()) know_peers();
    // It may have risen while this node was away, or was started with its former release.
    if (!check(seat_.check_format())) return;
    const auto format = core::format_of(seat_.others().nodes());
    if (std::exchange(told_format_, format) != format && format > 1)
      setup_.log->on_note(note_level::info, "replica",
                          "shard " + std::to_string(seat_.settings().shard) + " is written in format " + std::to_string(format));
    if (seat_.others().nodes().version() != told_links_) tell_links();
    if (seat_.consensus() != nullptr && seat_.consensus()->wants_settle()) wake();
  }

  std::string words_of(const v1::ShardNodesRequest& what, const v1::ShardNodes& now) const {
    const auto shard = "shard " + std::to_string(seat_.settings().shard);
    if (what.verb() == v1::ShardNodesRequest::UPGRADE) return shard + " is written in format " + std::to_string(core::format_of(now));
    if (what.verb() == v1::ShardNodesRequest::COMPARE) return "the states of the replicas of " + shard + " are compared";
    return "node " + what.node().name() + (what.verb() == v1::ShardNodesRequest::JOIN ? " is to hold " : " leaves ") + shard;
  }

  /// Those that count by now, and those that cannot be made.
  void answer_changes() {
    const auto now = setup_.time->steady();
    for (auto& one : std::exchange(changes_, {})) {
      auto done = seat_.change_nodes(one.what);
      // One that held nothing yet has left at once.
      const bool has_left =
          one.proposed && one.what.verb() == v1::ShardNodesRequest::LEAVE && !done.ok() && done.failure().code == v1::ERROR_CODE_NOT_FOUND;
      if (has_left) done = std::optional{seat_.others().nodes()};
      v1::ShardNodesReply out;
      if (done.ok() && *done) {
        *out.mutable_nodes() = **done;
        if (one.proposed) {
          setup_.log->on_note(note_level::info, "replica",
                              core::clean_text(one.what.who(), 64) + ": " + words_of(one.what, **done) +
                                  (one.what.reason().empty() ? "" : ": " + core::clean_text(one.what.reason(), 256)));
        }
      } else if (done.ok() && now < one.until) {
        one.proposed = !one.what.only_ask();
        changes_.push_back(std::move(one));
        continue;
      } else {
        const auto shard = "shard " + std::to_string(seat_.settings().shard);
        const auto late = one.what.verb() == v1::ShardNodesRequest::COMPARE
                              ? error{v1::ERROR_CODE_TIMED_OUT, "The comparison of the states of " + shard + " has not begun in time.",
                                      "The node that leads may be busy with a copy of the state; run the command again."}
                              : error{v1::ERROR_CODE_TIMED_OUT, "The majority of the nodes of " + shard + " has not answered in time.",
                                      "`fairlead cluster status` shows whether the change was made; the command can be repeated."};
        *out.mutable_error() = (done.ok() ? late : done.failure()).to_proto();
      }
      one.promise.deliver(std::move(out));
    }
    follow_log();
  }

  bool wants_greeting(const std::string& node, const peer& one) const {
    if (core::find_node(seat_.others().nodes(), node) == nullptr) return false;
    if (!one.handle) return true;
    // The shard may have begun on one side alone.
    const auto* const known = seat_.others().known(node);
    return known == nullptr || known->members().voters().empty() != seat_.others().me().members().voters().empty();
  }

  void greet(const std::string& node, const caf::strong_actor_ptr& gateway) {
    const auto found = peers_.find(node);
    // A new replica would take its lineage.
    if (seat_.is_outlived()) return;
    if (found == peers_.end() || !wants_greeting(node, found->second) || std::exchange(found->second.asked, true)) return;
    auto& to = found->second;
    self_->request(caf::actor_cast<replica_door>(gateway), answer_limit, seat_.others().me(), caf::actor_cast<caf::strong_actor_ptr>(self_))
        .then(
            [this, &to](const v1::ReplicaWelcome& said, const caf::strong_actor_ptr& who) {
              to.asked = false;
              if (said.error().code() != v1::ERROR_CODE_OK || !who) {
                complain(said.error().sentence());
                // It may have begun the shard meanwhile; a new replica takes that even if the other side does not know it yet.
                if (said.error().code() == v1::ERROR_CODE_UNAVAILABLE) return;
              }
              const auto known = seat_.meet(said.me());
              follow_log();
              if (!known.ok()) return complain(known.failure().sentence);
              if (who) link(said.me(), who);
            },
            [&to](const caf::error&) { to.asked = false; });
  }

  void link(const v1::ReplicaHello& you, const caf::strong_actor_ptr& who) {
    auto& to = peers_[you.node()];
    seat_.met(you.node(), you.replica());
    if (to.handle != who) {
      if (to.handle) self_->demonitor(to.handle->address());
      self_->monitor(who->address());
      const std::lock_guard lock(guard_);
      handles_.erase(to.id);
      handles_[you.replica()] = who;
      to.handle = who;
      to.id = you.replica();
    }
    auto& others = seat_.others();
    // All are new, and this one is the first of them.
    others.begin(first_lineage(to_unix_ms(setup_.time->now()), random_bits()), make_uuid_v7(to_unix_ms(setup_.time->now())));
    if (!others.began()) return;
    if (!check(seat_.begin())) return;
    const bool anew = !others.members()->has(seat_.settings().how.self);
    const auto how = anew ? "without this store: it is new, and gets what the others have"
                          : "with " + std::to_string(others.nodes().nodes_size()) + " replicas";
    setup_.log->on_note(note_level::info, "replica", "shard " + std::to_string(seat_.settings().shard) + " has begun " + how);
    tell_links();
    service_.serve(*seat_.consensus());
    self_->send(self_, link_atom_v);
  }

  void lost(const caf::actor_addr& who) {
    for (auto& [node, one] : peers_) {
      if (!one.handle || one.handle->address() != who) continue;
      one.handle = nullptr;
      seat_.lost(node);
      {
        const std::lock_guard lock(guard_);
        handles_.erase(one.id);
      }
      if (seat_.consensus() != nullptr) check(service_.unreachable(one.id));
    }
  }

  /// As far as this replica knows: whoever has left hears nothing more.
  bool is_taken_away() const {
    const auto& nodes = seat_.others().nodes();
    const auto* const own = core::find_node(nodes, seat_.settings().node);
    return nodes.version() != 0 && (own == nullptr || own->leaves());
  }

  /// What operators want to know of elections.
  void tell_changes() {
    auto* const it = seat_.consensus();
    if (it == nullptr) return;
    const auto now = it->view();
    auto words = "shard " + std::to_string(seat_.settings().shard) + ", term " + std::to_string(now.term) + ": ";
    if (!now.quarantined.empty())
      words += "this replica takes part no more, because " + now.quarantined;
    else if (now.role == raft::role::leader)
      words += "this replica leads";
    else if (now.leader != 0 && seat_.boot_ms() - now.contact_ms < silent_elections * seat_.settings().how.election_ms)
      words += "follows " + seat_.others().node_of(now.leader);
    else if (is_taken_away())
      words +=
          "no leader is known here; the shard is taken away from this node, whose store can be removed once fairlead cluster status does "
          "not show the node any more";
    else
      words += "no leader is known";
    if (words == told_) return;
    setup_.log->on_note(now.quarantined.empty() ? note_level::info : note_level::error, "replica", words);
    told_ = std::move(words);
    if (now.went_back && setup_.on_older_copy)
      setup_.on_older_copy(error{v1::ERROR_CODE_CORRUPT,
                                 "The store of shard " + std::to_string(seat_.settings().shard) +
                                     " is an older copy: it lacks entries that this node had confirmed to the one that leads.",
                                 "Put the latest store back, or give the node an empty one."});
  }

  void complain(const std::string& sentence) {
    if (sentence.empty()) return;
    const auto now = setup_.time->steady();
    std::erase_if(complaints_, [&](const auto& one) { return one.second + complain_again <= now; });
    if (complaints_.size() >= most_complaints || !complaints_.emplace(sentence, now).second) return;
    setup_.log->on_note(note_level::warning, "replica", sentence);
  }

  self_pointer self_;
  replica_setup setup_;
  replica_seat& seat_;
  std::uint32_t told_format_ = 1;
  struct change {
    v1::ShardNodesRequest what;
    caf::typed_response_promise<v1::ShardNodesReply> promise;
    moment until{};         // steady
    bool proposed = false;  // it is a change
  };

  std::map<std::string, peer> peers_;  // by node; one that was there once stays
  std::vector<change> changes_;        // that do not count yet
  milliseconds tick_after_{50};
  bool asks_links_ = false;
  moment ask_links_at_{};                     // steady
  std::map<std::string, moment> complaints_;  // logged lately, and when
  std::string told_;                          // the last words about elections
  std::uint64_t told_links_ = 0;              // the version of the list of nodes
  caf::strong_actor_ptr scheduler_;
  std::map<std::uint64_t, caf::typed_response_promise<bool>> waiting_;  // by ticket

  std::mutex guard_;  // of the next: send() comes from other threads, too
  std::map<raft::replica_id, caf::strong_actor_ptr> handles_;

  replica_service service_{*this};  // ends first
};

replica_actor::behavior_type run_replica(supervised_stateful_pointer<replica_actor, replica_state> self, replica_setup setup) {
  end_on_bug(self, "replica");
  auto* shell = (self->state.shell = std::make_shared<replica_shell>(self, std::move(setup))).get();
  shell->begin();
  return {
      [shell](commit_request& what) { shell->commit(what); },
      [shell](const v1::ReplicaBatch& what) { shell->receive(what); },
      [shell](const v1::ReplicaHello& you, const caf::strong_actor_ptr& who) { return shell->meet(you, who); },
      [shell](confirm_atom, std::uint64_t epoch) { return shell->confirm(epoch); },
      [shell](v1::ShardNodesRequest& what) { return shell->change_nodes(what); },
      [shell](v1::ReplicaCopy& what) { shell->pass_on(what); },
      [shell](flush_atom) { shell->flush(); },
      [shell](tick_atom) { shell->tick(); },
      [shell](link_atom) { shell->look(); },
  };
}

}  // namespace fairlead
