#pragma once
// The process of a shard: Scheduler, one or two Supervisors, the cron, the courier of status events and the store, as the actors of production join them,
// message by message. It dies at failpoints and comes back as the next epoch on what was synced. Its core (store, Scheduler, Supervisors) may
// also die alone: a guardian starts it again, and all else lives on.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "actors/core/agent_clock.hpp"
#include "actors/protocol/reminders.hpp"
#include "actors/replication/seat.hpp"
#include "actors/replies/courier.hpp"
#include "actors/replies/outbox.hpp"
#include "actors/scheduler/scheduler.hpp"
#include "actors/supervisor/supervisor.hpp"
#include "messages/replica.pb.h"
#include "store/memory/memory_archive.hpp"
#include "tests/simulation/agents/agents.hpp"
#include "tests/simulation/checker/checker.hpp"
#include "tests/simulation/node/simulated_store.hpp"
#include "tests/simulation/plans/process_plans.hpp"
#include "tests/simulation/world/bugs.hpp"
#include "tests/simulation/world/clocks.hpp"
#include "tests/simulation/world/network.hpp"

namespace fairlead::simulation {

class home;

class node final : public commit_port, public scheduler_outbox, public observer, public agents::shard, public webhook_port {
 public:
  /// `home` has it, with the others that hold the shard; `place`: its number among them. Outlived by all of these.
  node(world& in, network& net, agents& staff, checker& judge, host_clock& time, home& of, std::uint32_t shard, std::size_t place);
  ~node() override;

  void start();
  bool up() const override { return alive_; }
  /// Its core is up as well.
  bool serves() const { return shell_ != nullptr; }
  std::uint64_t epoch() const { return shell_->epoch(); }
  /// Nothing that has been decided waits for the disk, and whatever a start has to look at has been looked at.
  bool at_rest() const { return serves() && !sweeping_ && settled(); }

  // ---- clients ----

  /// Sends a request to the Scheduler; the reply, if both messages arrive and the node lives so long, is given to `on_reply`.
  template <class Reply>
  void request(const std::string& who, std::function<void(scheduler&, std::uint64_t ticket)> ask,
               std::function<void(const Reply&)> on_reply);
  /// The same without a way to go.
  template <class Reply>
  void request_now(const std::string& who, const std::function<void(scheduler&, std::uint64_t ticket)>& ask,
                   const std::function<void(const Reply&)>& on_reply);
  const store::store& reads() const { return store_; }
  reply_outbox* outbox() { return outbox_.get(); }
  /// A message from within this core to its Scheduler.
  void tell_scheduler(const char* what, std::function<void(scheduler&)> how, std::int64_t delay_us = -1);
  /// A message from elsewhere in this process to whichever Scheduler there is: one that is away at the moment gets it when it is back.
  void tell_shard(const char* what, std::function<void(scheduler&)> how);

  const std::string& name() const { return me_; }
  std::size_t place() const { return place_; }
  const simulated_store& store() const { return store_; }
  simulated_store& store() { return store_; }
  const fairlead::store::memory_archive& archives() const { return *archives_; }

  // ---- if others hold the shard, too: node_replica.cpp ----

  /// Its process stands still for a while, and all that comes waits.
  void stop_for(std::int64_t us);
  bool stopped_since(std::int64_t us) const { return stopped_until_us_ >= us; }
  std::int64_t awake_from_us() const noexcept { return stopped_until_us_; }
  /// Does it once the process goes on, if that is the same by then.
  void when_awake(std::function<void()> what);
  /// It counts, and the Scheduler has not been told.
  void note_untold(const std::vector<store::batch>& group);
  /// Calls it when it is sure that this node leads, or does not.
  /// `for_whom`: as confirm_atom.
  void ask_who_leads(std::function<void(bool here)> then, std::uint64_t for_whom = 0);
  void receive(const v1::ReplicaMessage& what);
  void receive(const v1::ReplicaCopy& what);
  void receive(std::size_t from, const v1::ReplicaHello& what);
  void receive(std::size_t from, const v1::ReplicaWelcome& what);
  /// A connection to the node there stands, or no longer.
  void linked(std::size_t place);
  void lost(std::size_t place);
  /// The latest format of a shard that its release knows.
  std::uint32_t known_format() const { return known_format_; }
  /// Another release, from the next process on.
  void run_release(std::uint32_t format);
  void change_state(const std::string& row) { store_.change_state(row); }
  /// As the leader it writes what only a release with that format knows.
  void write_news(const store::batch& what);
  /// The leader's lead goes to another.
  void hand_over(std::size_t place);
  result<std::optional<v1::ShardNodes>> change_nodes(const v1::ShardNodesRequest& what);
  void decline(bool on, why_not_lead why = why_not_lead::drained);
  /// Of the wall clock here.
  std::int64_t wall_ms() const { return clock_.now_ms(); }
  std::uint64_t life() const { return life_; }
  /// It does not start by itself, or does so again.
  void wait_with_start(bool on);
  bool waits() const { return waits_; }
  /// As far as its replica knows.
  bool is_leader() const;
  raft::members members() const;
  raft::log_term term() const;
  /// All that it has in its log counts.
  bool has_settled() const;
  /// By which it leads the shard.
  const clock& time() const;
  std::int64_t ahead_us() const;

  /// Its Scheduler has no reason to take the worker for dead.
  bool hears_worker(const std::string& instance);

  /// As a gateway passes it on: nothing comes of it while the process is down.
  void claim(const v1::RepliesRequest& what, std::function<void(const v1::RepliesReply&)> on_reply);
  /// Before it starts.
  void plan(const retention_plan& retention);
  void plan_like(const node& first);
  /// Whether its store is so small that it may be full, and whether it is by now.
  bool may_be_full() const { return small_store_; }
  bool full() const;
  /// Somebody gives the store more room, which takes a start.
  void enlarge();

  /// The store as it is now.
  std::shared_ptr<const simulated_store::moment> back_up();
  /// Its disk is lost with the process, and this is put in its place; the next start is behind a restore.
  void lose_store(const simulated_store::moment& backup);
  /// Its disk is lost with the process. The store that is made on an empty one is this replica.
  void lose_disk(const replica_settings& born);
  /// Its process has ended, and its shard goes on from its store alone, as replica `id` of a new lineage. `lost`: what had been committed; `since_us`: the
  /// moment when the batch after that one was.
  v1::Lineage recover(raft::replica_id id, const store::snapshot& lost,
                      const std::function<std::int64_t(std::uint64_t sequence)>& since_us);
  /// It goes on from an earlier moment, or will.
  bool put_back() const { return put_back_; }

  /// Everything decided is durable and told, and nothing is on its way to the Scheduler.
  bool settled() const {
    return serves() && waiting_.empty() && shell_->settled() && on_their_way_ == 0 && to_shard_ == 0 && held_.empty();
  }

  // As the agents' shard.
  std::uint32_t number() const override { return shard_; }
  std::uint64_t core() const override { return serves() ? core_ : 0; }
  agents::shard* with(std::uint64_t core) override { return serves() && core == core_ ? this : nullptr; }
  void registers(const v1::RegisterAgent& what, std::uint64_t carrier, std::function<void(welcome)> answer) override;
  void begins_session(const v1::WorkerSessionRequest&, std::function<bool()>, std::function<void(const v1::WorkerSessionReply&)>) override {
  }
  void beacon(const v1::Beacon& what, std::uint64_t carrier) override;
  void outcomes(v1::OutcomeBatch what, std::uint64_t carrier) override;
  void heartbeats(v1::HeartbeatBatch what) override;
  void unreachable(const std::string& instance, std::uint64_t incarnation, std::uint64_t carrier) override;
  void die() override;

 private:
  // As the Scheduler's world.
  void commit(store::batch what) override;
  void confirm(std::uint64_t ticket) override;
  void perform(const std::string& instance, v1::PerformBatch what) override;
  void acknowledge(const std::string& instance, v1::OutcomeAckBatch what) override;
  void acknowledge(const std::string& instance, v1::HeartbeatAckBatch what) override;
  void hint(v1::RecoveryHintBatch what) override;
  void wake_cron(moment due) override;
  std::weak_ptr<const void> evaluate(v1::EvaluateRequest what) override;
  void reply(std::uint64_t ticket, request_reply what) override;
  void notify(std::uint64_t subscriber, v1::FinishedNotice what) override;
  void on_transition(const transition& what) override;
  bool wants_transitions() const override { return world_.tells(); }
  void on_note(note_level level, std::string_view component, std::string_view sentence) override;
  void post(webhook_post what, std::function<void(status)> done) override;

  /// One Supervisor of this process, with its timers.
  class overseer;
  /// Its cron.
  class crier;
  /// Its archiver, the courier of its alerts, and where status events are fetched.
  class clerk;
  class herald;
  class claim_desk;
  class member;

  /// An instance as the Scheduler's actor knows it (actors/registry/seats.hpp).
  struct seat {
    std::uint64_t incarnation = 0;
    std::uint64_t carrier = 0;
    bool silent = false;  // of a worker over HTTP
    bool down = false;    // its handle is: what is sent there arrives nowhere
    bool away = false;
    core::agent_clock clock;
  };

  void start_core();
  std::optional<std::uint64_t> begin_epoch();
  /// As in_process, for what runs on a thread of the process that no guardian restarts.
  void in_replica(const std::function<void()>& what);
  void lead(bool now);
  void begin_to_lead();
  void stop_leading();
  void tell_committed(std::uint64_t sequence);
  void write_late();
  void drop_core();
  void start_errands();
  void leave_old_state();
  void start_soon();
  void restore();
  void begin_lineage(store::restorable& in, bool recovered);
  void judge_counts();
  void note_due();
  void judge_sweep();
  void apply();
  void arm_applier();
  void drop_errands();
  void crash_core();
  stamp stamp_for(const std::string& instance);
  template <class Message>
  static void put(const stamp& when, Message& into) {
    into.set_sent_unix_ms(when.sent_unix_ms);
    into.set_anchor_ms(when.anchor_ms);
  }
  void in_process(const std::function<void()>& what);
  void after_message();
  void arm_look();
  void arm_flush();
  void arm_offer();
  void offer();
  void pass(failpoint_id where);
  void take(const char* what, const std::function<void(scheduler&)>& how);
  void take_held();
  bool is_old(const v1::PerformBatch& what) const;
  seat* seat_of(const std::string& instance);
  void away(const std::string& instance, const char* why);
  void look_at_agents();
  void judge_former_clock();
  void limit_launches(scheduler_limits& limits, std::uint64_t epoch);
  void commit_some();
  void look_at_outbox();
  void arm_outbox(std::int64_t delay_us);
  void sweep();
  void wake_later();
  /// While this core lives.
  std::function<void()> of_this_life(std::function<void()> what);
  /// While this process lives.
  std::function<void()> of_this_process(std::function<void()> what);
  /// While what runs beside the core does, where the shard is led.
  std::function<void()> of_this_lead(std::function<void()> what);

  world& world_;
  network& network_;
  agents& agents_;
  checker& checker_;
  host_clock& clock_;  // the wall clock of its host
  home& home_;
  const std::uint32_t shard_;
  const std::size_t place_;
  const std::string me_;  // in transcripts
  buggy_engine engine_;
  buggy_zones zones_;
  std::shared_ptr<store::memory_archive> archives_ = std::make_shared<store::memory_archive>();
  simulated_store store_;
  bool applying_ = false;  // the applier's next turn is on its way
  std::uint64_t life_ = 0;
  bool alive_ = false;
  std::unique_ptr<member> member_;  // of its process, if others hold the shard, too
  bool untold_service_ = false;
  bool untold_launch_ = false;
  std::int64_t stopped_until_us_ = 0;
  std::vector<std::function<void()>> asleep_;  // what has come meanwhile
  bool is_to_lead_ = false;
  bool leads_ = false;
  bool is_outdated_ = false;  // what runs here runs for an earlier lead
  std::uint64_t lead_ = 0;
  raft::log_term term_ = 0;  // in which it has led last
  std::uint64_t core_;
  bool sweeping_ = false;
  v1::Lineage lineage_;
  bool put_back_ = false;
  bool to_be_restored_ = false;
  bool waits_ = false;
  std::uint32_t known_format_ = store::shard_format;
  std::unique_ptr<scheduler> shell_;
  std::vector<std::unique_ptr<overseer>> overseers_;
  std::unique_ptr<crier> crier_;
  std::unique_ptr<reply_outbox> outbox_;
  std::unique_ptr<reply_courier> courier_;
  std::vector<target_plan> targets_;
  retention_plan retention_;
  std::unique_ptr<clerk> clerk_;
  std::unique_ptr<herald> herald_;
  std::unique_ptr<claim_desk> claim_desk_;
  bool small_store_ = false;
  bool old_store_ = false;                         // an earlier release writes to it between two starts
  std::optional<v1::ShardState> expected_counts_;  // of a store that is to be counted anew
  std::uint64_t due_at_start_ = 0;                 // tasks that the sweep after this start has to take up, at least
  int deaths_of_full_ = 0;
  bool look_armed_ = false;
  std::int64_t to_shard_us_ = 0;  // when the newest message to whichever Scheduler arrives: they keep their order

  std::map<std::string, seat> seats_;        // by instance
  std::vector<std::function<void()>> held_;  // for a core that is not there at the moment
  std::vector<store::batch> waiting_;        // for the disk
  std::optional<store::batch> ghost_;        // of a Scheduler that is no more
  struct stray {
    v1::PerformBatch what;
    stamp when;  // it left
    std::uint64_t carrier = 0;
  };
  std::map<std::string, stray> strays_;  // what a core has handed over that is no more, still on its way, by instance
  bool writing_ = false;
  std::int64_t told_at_us_ = 0;  // when the Scheduler hears of the latest commit
  bool flush_armed_ = false;
  reminders offers_;
  std::uint64_t next_ticket_;
  int on_their_way_ = 0;
  int to_shard_ = 0;
  std::uint64_t outbox_look_ = 0;  // the newest look at the outbox that is armed; older ones have been overtaken
  std::map<std::uint64_t, std::pair<std::string, std::function<void(const request_reply&)>>> asked_;  // by ticket
};

template <class Reply>
void node::request_now(const std::string& who, const std::function<void(scheduler&, std::uint64_t ticket)>& ask,
                       const std::function<void(const Reply&)>& on_reply) {
  if (!serves()) return;
  in_process([&] {
    const auto ticket = next_ticket_++;
    asked_[ticket] = {who, [on_reply](const request_reply& what) { on_reply(std::get<Reply>(what)); }};
    ask(*shell_, ticket);
    after_message();
  });
}

template <class Reply>
void node::request(const std::string& who, std::function<void(scheduler&, std::uint64_t ticket)> ask,
                   std::function<void(const Reply&)> on_reply) {
  network_.send(who + ">" + me_, true,
                [this, who, ask = std::move(ask), on_reply = std::move(on_reply)] { request_now<Reply>(who, ask, on_reply); });
}

}  // namespace fairlead::simulation
