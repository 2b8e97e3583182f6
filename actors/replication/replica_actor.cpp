#include "actors/replication/replica_actor.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "actors/replication/wire.hpp"
#include "actors/supervision/guardian.hpp"
#include "messages/ids.hpp"
#include "messages/lineage.hpp"

namespace fairlead {

namespace {

using std::chrono::milliseconds;

/// While another replica is not linked it is looked for so often.
constexpr milliseconds look_every{200};
constexpr milliseconds answer_limit{2'000};

}  // namespace

class replica_shell final : public replica_port {
 public:
  using self_pointer = supervised_stateful_pointer<replica_actor, replica_state>;

  replica_shell(self_pointer self, replica_setup setup) : self_(self), setup_(std::move(setup)), seat_(*setup_.seat) {
    for (const auto& node : seat_.others().others()) peers_.emplace(node, peer{});
  }
  ~replica_shell() override {
    if (auto* const it = seat_.consensus()) it->serve(nullptr);
  }

  void begin() {
    self_->set_down_handler([this](const caf::down_msg& gone) { lost(gone.source); });
    if (auto* const it = seat_.consensus()) it->serve(this);
    tick_after_ = milliseconds{std::max<std::int64_t>(seat_.settings().how.heartbeat_ms / 2, 1)};
    self_->delayed_send(self_, tick_after_, tick_atom_v);
    self_->send(self_, link_atom_v);
    settle();
  }

  // ---- what comes in ----

  void commit(commit_request& request) {
    // One that is being stopped commits nothing any more.
    if (!leads_) return;
    // What a Scheduler before it has left is of an earlier epoch.
    if (self_->current_sender() != scheduler_) gathered_.clear();
    scheduler_ = self_->current_sender();
    gathered_.push_back(std::move(request.what));
    arm();
  }

  void receive(const v1::ReplicaBatch& batch) {
    auto* const it = seat_.consensus();
    if (it == nullptr) return;
    for (const auto& one : batch.messages()) {
      if (one.shard() != seat_.settings().shard) continue;
      const auto what = decode(one);
      if (!what.ok()) {
        complain(what.failure().sentence);
        continue;
      }
      // Who speaks for a replica has introduced itself as that one.
      if (seat_.others().node_of(what->from).empty()) continue;
      if (!check(it->receive(*what))) return;
    }
    arm();
  }

  void tick() {
    self_->delayed_send(self_, tick_after_, tick_atom_v);
    auto* const it = seat_.consensus();
    if (it == nullptr || !check(it->tick())) return;
    if (it->wants_settle()) settle();
  }

  void flush() {
    armed_ = false;
    settle();
  }

  caf::result<bool> confirm() {
    auto promise = self_->make_response_promise<bool>();
    auto* const it = seat_.consensus();
    if (it == nullptr) {
      promise.deliver(false);
      return promise;
    }
    waiting_.emplace(++last_ticket_, promise);
    if (check(it->confirm(last_ticket_))) arm();
    return promise;
  }

  // ---- other replicas ----

  caf::result<v1::ReplicaWelcome, caf::strong_actor_ptr> meet(const v1::ReplicaHello& you, const caf::strong_actor_ptr& who) {
    v1::ReplicaWelcome out;
    const auto known = who ? seat_.others().meet(you) : status(invalid("a replica introduced itself without an actor", ""));
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
    tell_changes();
    const auto missing = std::any_of(peers_.begin(), peers_.end(), [&](const auto& one) { return wants_greeting(one.first, one.second); });
    if (!missing || !setup_.links || std::exchange(asks_links_, true)) return;
    self_->request(setup_.links, answer_limit, report_atom_v)
        .then(
            [this](const link_report& report) {
              asks_links_ = false;
              for (const auto& [node, gateway] : report.gateways) greet(node, gateway);
            },
            [this](const caf::error&) { asks_links_ = false; });
  }

  // ---- what consensus says; from the thread that is inside it ----

  void send(std::vector<raft::message> what) override {
    const std::lock_guard lock(guard_);
    std::map<raft::replica_id, v1::ReplicaBatch> batches;
    for (const auto& one : what) *batches[one.to].add_messages() = encode(one, static_cast<std::uint16_t>(seat_.settings().shard));
    for (auto& [id, batch] : batches) {
      const auto to = handles_.find(id);
      if (to != handles_.end()) caf::anon_send(caf::actor_cast<replica_actor>(to->second), std::move(batch));
    }
  }
  void committed(std::uint64_t sequence) override {
    const std::lock_guard lock(guard_);
    committed_ = sequence;
  }
  void leads(std::uint64_t) override {
    const std::lock_guard lock(guard_);
    led_.push_back(true);
  }
  void leads_no_longer() override {
    const std::lock_guard lock(guard_);
    led_.push_back(false);
  }
  void confirmed(std::uint64_t ticket, bool led) override {
    const std::lock_guard lock(guard_);
    answers_.emplace_back(ticket, led);
  }

 private:
  struct peer {
    caf::strong_actor_ptr handle;
    bool asked = false;
  };
  struct proposed {
    std::uint64_t last_sequence = 0;
    std::size_t batches = 0;
    std::size_t bytes = 0;
    std::chrono::steady_clock::time_point since;
  };

  void arm() {
    // Queued behind all messages now in the mailbox.
    if (!std::exchange(armed_, true)) self_->send(self_, flush_atom_v);
  }

  bool check(const status& done) {
    if (done.ok()) return true;
    setup_.on_fatal(done.failure());
    self_->quit(caf::sec::runtime_error);
    return false;
  }

  void settle() {
    auto* const it = seat_.consensus();
    if (it == nullptr) return;
    if (!gathered_.empty()) {
      auto taken = it->propose(gathered_);
      // What a Scheduler that was replaced meanwhile commits counts no more than what one does whose replica led.
      if (!taken.ok() && taken.failure().code == v1::ERROR_CODE_STALE_EPOCH) taken = replica::proposal::not_leader;
      if (!check(taken.ok() ? status(nothing{}) : taken.failure())) return;
      if (*taken == replica::proposal::taken) {
        proposed next{gathered_.back().sequence, gathered_.size(), 0, std::chrono::steady_clock::now()};
        for (const auto& one : gathered_) next.bytes += one.bytes().size();
        proposed_.push_back(next);
      }
      if (*taken != replica::proposal::later) gathered_.clear();
    }
    if (!check(it->settle())) return;
    act();
    if (it->wants_settle()) arm();
  }

  /// Does what consensus has said meanwhile.
  void act() {
    std::unique_lock lock(guard_);
    const auto sequence = std::exchange(committed_, 0);
    const auto led = std::exchange(led_, {});
    const auto answers = std::exchange(answers_, {});
    lock.unlock();
    if (sequence != 0) {
      for (; !proposed_.empty() && proposed_.front().last_sequence <= sequence; proposed_.pop_front()) {
        const auto took = std::chrono::steady_clock::now() - proposed_.front().since;
        if (setup_.on_committed)
          setup_.on_committed(proposed_.front().batches, proposed_.front().bytes,
                              std::chrono::duration_cast<std::chrono::microseconds>(took));
      }
      if (scheduler_) self_->send(caf::actor_cast<scheduler_actor>(scheduler_), fairlead::committed{sequence});
    }
    for (const bool leads : led) {
      gathered_.clear();
      proposed_.clear();
      scheduler_ = nullptr;
      leads_ = leads;
      setup_.on_leads(leads);
    }
    for (const auto& [ticket, led_then] : answers) {
      if (auto asked = waiting_.extract(ticket)) asked.mapped().deliver(led_then);
    }
  }

  bool wants_greeting(const std::string& node, const peer& one) const {
    if (!one.handle) return true;
    // The shard may have begun on one side alone.
    const auto* const known = seat_.others().known(node);
    return known == nullptr || known->members().voters_size() != seat_.others().me().members().voters_size();
  }

  void greet(const std::string& node, const caf::strong_actor_ptr& gateway) {
    const auto found = peers_.find(node);
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
              const auto known = seat_.others().meet(said.me());
              if (!known.ok()) return complain(known.failure().sentence);
              if (who) link(said.me(), who);
            },
            [&to](const caf::error&) { to.asked = false; });
  }

  void link(const v1::ReplicaHello& you, const caf::strong_actor_ptr& who) {
    auto& to = peers_.at(you.node());
    seat_.met(you.node(), you.replica());
    if (to.handle != who) {
      if (to.handle) self_->demonitor(to.handle->address());
      self_->monitor(who->address());
      to.handle = who;
      const std::lock_guard lock(guard_);
      handles_[you.replica()] = who;
    }
    auto& others = seat_.others();
    // All are new, and this one is the first of them.
    others.begin(next_lineage({}, to_unix_ms(setup_.time->now()), random_bits()), make_uuid_v7(to_unix_ms(setup_.time->now())));
    if (!others.began()) return;
    if (!check(seat_.begin())) return;
    setup_.log->on_note(
        note_level::info, "replica",
        "shard " + std::to_string(seat_.settings().shard) + " begins, with " + std::to_string(peers_.size() + 1) + " replicas");
    seat_.consensus()->serve(this);
    self_->send(self_, link_atom_v);
  }

  void lost(const caf::actor_addr& who) {
    for (auto& [node, one] : peers_) {
      if (!one.handle || one.handle->address() != who) continue;
      one.handle = nullptr;
      const auto* const known = seat_.others().known(node);
      if (known == nullptr) continue;
      {
        const std::lock_guard lock(guard_);
        handles_.erase(known->replica());
      }
      if (auto* const it = seat_.consensus()) check(it->unreachable(known->replica()));
    }
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
    else if (now.leader != 0)
      words += "follows " + seat_.others().node_of(now.leader);
    else
      words += "no leader is known";
    if (words == told_) return;
    setup_.log->on_note(now.quarantined.empty() ? note_level::info : note_level::error, "replica", words);
    told_ = std::move(words);
  }

  void complain(const std::string& sentence) {
    if (sentence.empty() || sentence == complaint_) return;
    complaint_ = sentence;
    setup_.log->on_note(note_level::warning, "replica", sentence);
  }

  self_pointer self_;
  replica_setup setup_;
  replica_seat& seat_;
  std::map<std::string, peer> peers_;  // by node; never changes but in its values
  milliseconds tick_after_{50};
  bool armed_ = false;
  bool leads_ = false;  // as told on
  bool asks_links_ = false;
  std::string complaint_;  // the last one that was logged
  std::string told_;       // the last words about elections
  std::vector<fairlead::store::batch> gathered_;
  caf::strong_actor_ptr scheduler_;
  std::deque<proposed> proposed_;
  std::uint64_t last_ticket_ = 0;
  std::map<std::uint64_t, caf::typed_response_promise<bool>> waiting_;

  std::mutex guard_;  // of what follows: a Scheduler that begins anew is inside consensus on another thread
  std::map<raft::replica_id, caf::strong_actor_ptr> handles_;
  std::uint64_t committed_ = 0;
  std::vector<bool> led_;
  std::vector<std::pair<std::uint64_t, bool>> answers_;
};

replica_actor::behavior_type run_replica(supervised_stateful_pointer<replica_actor, replica_state> self, replica_setup setup) {
  end_on_bug(self, "replica");
  auto* shell = (self->state.shell = std::make_shared<replica_shell>(self, std::move(setup))).get();
  shell->begin();
  return {
      [shell](commit_request& what) { shell->commit(what); },
      [shell](const v1::ReplicaBatch& what) { shell->receive(what); },
      [shell](const v1::ReplicaHello& you, const caf::strong_actor_ptr& who) { return shell->meet(you, who); },
      [shell](confirm_atom) { return shell->confirm(); },
      [shell](flush_atom) { shell->flush(); },
      [shell](tick_atom) { shell->tick(); },
      [shell](link_atom) { shell->look(); },
  };
}

}  // namespace fairlead
