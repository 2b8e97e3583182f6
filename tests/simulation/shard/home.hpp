#pragma once
// A shard as agents, clients and operators see it: the node that holds it, or several of which one leads. Whoever asks speaks with the node that
// it takes for the leader, which may be a former one; agents are connected with the one that has said last that it leads.
//
// What the replicas of a shard commit reaches the checker here, once and in order, whichever of them shows it first.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "actors/protocol/confirm.hpp"
#include "actors/replication/wire.hpp"
#include "tests/simulation/node/node.hpp"
#include "tests/simulation/shard/comparisons.hpp"
#include "tests/simulation/shard/damages.hpp"
#include "tests/simulation/shard/upgrades.hpp"
#include "tests/simulation/world/link.hpp"

namespace fairlead::simulation {

/// Whether several nodes hold each shard of this run, and how many; then what is about other things is switched off.
std::size_t draw_replicas(world& in);

class home final : public agents::shard {
 public:
  /// `time`: the clock by which the shard is led, for whoever judges. A node alone goes by it; several have clocks of their own, and it follows.
  home(world& in, network& net, agents& staff, checker& judge, host_clock& time, std::uint32_t shard, std::size_t replicas);
  ~home() override;

  void start();
  /// Kills, stops and cuts of the nodes of a shard that several hold.
  void begin(std::int64_t until_us);
  /// All its nodes are away while their wall clocks go on for so long.
  void fall_out(std::int64_t for_ms);
  /// The faults are over.
  void heal();
  /// From then on no process stands still.
  std::int64_t awake_from_us() const;

  // ---- for people ----

  template <class Reply>
  void request(const std::string& who, std::function<void(scheduler&, std::uint64_t ticket)> ask,
               std::function<void(const Reply&)> on_reply);
  template <class Reply>
  void request_now(const std::string& who, const std::function<void(scheduler&, std::uint64_t ticket)>& ask,
                   const std::function<void(const Reply&)>& on_reply) {
    if (auto* const to = leader()) to->request_now<Reply>(who, ask, on_reply);
  }
  void claim(const v1::RepliesRequest& what, std::function<void(const v1::RepliesReply&)> on_reply);
  std::function<void(const std::string& url, const std::string& body)> on_post;
  std::function<void(std::uint64_t ticket)> on_watch_reply;
  /// Of the leader, or of whoever has shown most.
  const store::store& reads() const { return reads_; }
  const std::string& name() const { return me_; }
  void plan(const retention_plan& retention);
  bool may_be_full() const { return alone().may_be_full(); }
  bool full() const { return alone().full(); }
  void enlarge() { alone().enlarge(); }
  std::shared_ptr<const simulated_store::moment> back_up() { return alone().back_up(); }
  void lose_store(const simulated_store::moment& backup) { alone().lose_store(backup); }
  bool put_back() const { return recovered_ || alone().put_back(); }
  /// Of a shard that several nodes hold: the majority of those that vote is lost, and it goes on from another one as a later lineage. False: there is
  /// no majority to be lost at the moment.
  bool lose_majority();

  /// A Scheduler runs.
  bool serves() const { return leader() != nullptr; }
  /// Whoever reads sees all that counts; else a leader does not know yet that it leads no longer, or another has not begun.
  bool shows_all() const { return !replicated() || shows_most().store().sequence() == committed_; }
  /// Its process has stood still.
  bool stopped_since(std::int64_t us) const { return leader()->stopped_since(us); }
  std::uint64_t epoch() const { return leader()->epoch(); }
  bool at_rest() const { return serves() && leader()->at_rest() && !stopped_since(world_.now_us() - 5 * second); }
  bool settled() const;
  /// All replicas have the same, now that nothing happens any more.
  void judge_end();

  // ---- as the agents' shard ----

  std::uint32_t number() const override { return shard_; }
  bool up() const override { return replicated() ? connected_ != nullptr && connected_->up() : alone().up(); }
  std::uint64_t core() const override { return serves() ? leader()->core() : 0; }
  agents::shard* with(std::uint64_t core) override;
  void to(agents::shard& which, std::function<void(agents::shard&)> what) override;
  void registers(const v1::RegisterAgent& what, std::uint64_t carrier, std::function<void(welcome)> answer) override;
  void begins_session(const v1::WorkerSessionRequest& what, std::function<bool()> is_wanted,
                      std::function<void(const v1::WorkerSessionReply&)> answer) override;
  void beacon(const v1::Beacon&, std::uint64_t) override {}
  void outcomes(v1::OutcomeBatch, std::uint64_t) override {}
  void heartbeats(v1::HeartbeatBatch) override {}
  void unreachable(const std::string& instance, std::uint64_t incarnation, std::uint64_t carrier) override;
  void die() override { alone().die(); }

  // ---- for its nodes ----

  /// Of its first node.
  host_clock& wall_of_first() { return replicated() ? *clocks_.front() : time_; }
  /// As far as is known outside.
  bool is_led_by(const node& which) const { return !replicated() || connected_ == &which; }
  /// Whoever judges goes by the clock by which the shard is led now.
  void follow_clock();
  /// None has led under a later one.
  bool is_latest(std::uint64_t epoch) const { return epochs_.empty() || epoch >= *epochs_.rbegin(); }
  /// A node leads in this term.
  void led_in(raft::log_term term) { newest_term_ = std::max(newest_term_, term); }
  bool is_over(raft::log_term term) const { return term < newest_term_; }
  std::int64_t ahead_us() const { return time_.ahead_us(); }
  bool replicated() const { return replicas_ > 1; }
  std::size_t replicas() const { return replicas_; }
  std::vector<std::size_t> first_places() const;
  const std::string& name_of(std::size_t place) const { return nodes_[place]->name(); }
  const v1::Lineage& lineage() const { return lineage_; }
  upgrades& of_upgrades() { return upgrades_; }
  bool can_lose(const node& which) const;
  /// An operator's change is not answered yet.
  bool changes_nodes() const { return !changes_.empty(); }
  /// Of the nodes that are to hold the shard.
  std::vector<std::size_t> wanted_places() const;
  /// The process ends because its store is damaged. It begins again with a new one once the leader has agreed to that (app/node/rebuild.hpp).
  void damage(node& which);
  /// `asks`: nothing is to be changed.
  v1::ShardNodesRequest request_to_rebuild(const node& which, bool asks) const;
  /// What a node says whose state is not that of the others.
  void said_different(node& which, const error& why);
  node* leader() const;
  /// Whoever somebody takes for the leader that does not know better; null: nobody is.
  node* asked() const;
  const node& shows_most() const;
  /// It is to hold the shard, as far as that is committed.
  bool is_wanted(const node& which) const;
  raft::replica_id id_of(std::size_t place) const { return ids_[place]; }
  replica_settings settings_of(std::size_t place) const;
  std::optional<replica_settings> born_as(std::size_t place) const {
    return replicated() ? std::optional(settings_of(place)) : std::nullopt;
  }
  void node_started(node& which);
  void node_died(node& which);
  void core_died(node& which, std::uint64_t core);
  /// It leads under this epoch, and whoever is connected hears so.
  void claims(node& which, std::uint64_t epoch);
  void claims_no_longer(node& which);
  void decided(const store::batch& what);
  void shown(node& which);
  void send(const node& from, const raft::message& what) { send_to(from, what.to, encode(what, 0)); }
  void send(const node& from, const v1::ReplicaCopy& what) { send_to(from, what.to(), what); }
  void send(const node& from, std::size_t to, const v1::ReplicaHello& what) { introduce(from, to, what); }
  void send(const node& from, std::size_t to, const v1::ReplicaWelcome& what) { introduce(from, to, what); }

 private:
  /// Reads as home says.
  class newest final : public store::store {
   public:
    explicit newest(const home& of) : home_(of) {}
    status commit(const std::vector<fairlead::store::batch>&) override { return nothing_written(); }
    result<std::uint64_t> raise_epoch() override { return nothing_written(); }
    std::unique_ptr<fairlead::store::snapshot> read() const override { return home_.shows_most().reads().read(); }
    std::unique_ptr<fairlead::store::snapshot> read_settled() const override { return home_.shows_most().reads().read_settled(); }
    fairlead::store::usage get_usage() const override { return home_.shows_most().reads().get_usage(); }

   private:
    static error nothing_written() { return {v1::ERROR_CODE_INTERNAL, "readers write nothing", ""}; }
    const home& home_;
  };

  node& alone() const { return *nodes_.front(); }
  void keep_following();
  void link_nodes();
  void strike();
  template <class Message>
  void send_to(const node& from, raft::replica_id to, Message what);
  template <class Message>
  void introduce(const node& from, std::size_t to, Message what);
  bool all_follow() const;
  bool all_vote() const;
  bool lose_disk(node& which);
  void ask_to_rebuild(node& which);
  bool has_leaving() const;
  void change_nodes(bool joins_only);
  void ask_for_change();
  void judge_nodes() const;
  void drain_one();
  void look_at_drained(node& which, std::uint64_t life, raft::log_term led_in);
  link& between(std::size_t one, std::size_t other);

  world& world_;
  network& network_;
  agents& agents_;
  checker& checker_;
  host_clock& time_;
  const std::uint32_t shard_;
  const std::string me_;
  const std::size_t replicas_;
  const std::size_t begins_with_;                    // so many of the nodes hold the shard at first
  const std::size_t keep_bytes_;                     // of entries, for others; 0: as always
  std::vector<std::unique_ptr<host_clock>> clocks_;  // of the nodes, if there are several
  std::vector<std::unique_ptr<node>> nodes_;
  std::vector<raft::replica_id> ids_;         // by place: its replica, which is another one after its disk was lost
  std::vector<std::unique_ptr<link>> links_;  // between them
  upgrades upgrades_;
  comparisons comparisons_;
  damages damages_;
  newest reads_{*this};
  v1::Lineage lineage_ = first_of_simulated();
  bool recovered_ = false;
  node* connected_ = nullptr;
  raft::log_term newest_term_ = 0;
  std::set<std::uint64_t> epochs_;                                          // under which one has led
  std::map<std::uint64_t, std::map<std::uint64_t, store::batch>> decided_;  // by sequence and epoch; what is not committed yet
  std::uint64_t committed_ = 0;                                             // sequence
  std::vector<std::int64_t> committed_us_;                                  // by sequence, from 1: when it was seen to count
  std::uint64_t committed_epoch_ = 0;
  std::uint64_t clock_of_ = 0;  // the epoch by whose leader time_ goes
  struct change {
    std::size_t place = 0;
    v1::ShardNodesRequest what;
  };
  std::vector<change> changes_;           // of the nodes: that is asked for; one at a time
  std::map<std::size_t, bool> promised_;  // by place: that it holds the shard, or no longer
};

template <class Reply>
void home::request(const std::string& who, std::function<void(scheduler&, std::uint64_t ticket)> ask,
                   std::function<void(const Reply&)> on_reply) {
  network_.send(who + ">" + me_, true, [this, who, ask = std::move(ask), on_reply = std::move(on_reply)] {
    auto* const to = asked();
    if (to == nullptr) return;
    const auto now = [to, who, ask, on_reply] { to->request_now<Reply>(who, ask, on_reply); };
    // A gateway asks before it has a read answered (actors/gateway/fan_out.hpp).
    if constexpr (std::is_same_v<Reply, v1::WatchReply>)
      to->when_awake([to, now] {
        to->ask_who_leads(
            [now](bool here) {
              if (here) now();
            },
            confirm_begun);
      });
    else
      to->when_awake(now);
  });
}

}  // namespace fairlead::simulation
