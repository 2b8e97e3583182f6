#pragma once
// One replica of a shard at work: what consensus decides is written to the shard's journal, sent to the other replicas, and shown in its store.
// A shard that lives on one node is a group of one, on the same path. Written against ports, without CAF.
//
// What comes in is decided at once, and messages leave at once. Records gather until settle(), which writes them in one append and goes on
// until nothing is left to write: so one sync of the disk serves all that has come in meanwhile.
//
// Thread-safe: one caller at a time gets in. The disk is written meanwhile, so a caller may wait for it.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/core/planted_faults.hpp"
#include "actors/core/raft/consensus.hpp"
#include "actors/core/raft/member_plan.hpp"
#include "actors/replication/lead_clock.hpp"
#include "actors/replication/lead_place.hpp"
#include "store/journaled/store.hpp"

namespace fairlead {

/// What a replica tells its world. Called while the replica is at work, so none of these may call it back.
class replica_port {
 public:
  virtual ~replica_port() = default;
  /// To other replicas of the shard. What cannot be sent is lost; consensus does without it.
  virtual void send(std::vector<raft::message> what) = 0;
  /// All batches up to this one count, and readers see them.
  virtual void committed(std::uint64_t sequence) = 0;
  /// This replica leads under this epoch from now on, and has shown all that counts before it.
  virtual void leads(std::uint64_t epoch) = 0;
  /// It leads no longer: what it has proposed and not told committed may count or not.
  virtual void leads_no_longer() = 0;
  /// The answer to confirm(). `led`: nobody else can have led when it was asked, and readers see all that counted then.
  virtual void confirmed(std::uint64_t ticket, bool led) = 0;
};

struct replica_settings {
  raft::replica_id self = 1;
  raft::members born_with{{1}, {}};  // the replicas with which the shard began
  std::int64_t election_ms = 1000;
  std::int64_t heartbeat_ms = 100;
  std::uint64_t seed = 0;
  /// Entries kept in memory and in the journal for replicas that lack them.
  std::size_t keep_bytes = std::size_t{32} << 20;
  /// With so much proposed and not committed nothing more is taken.
  std::size_t most_uncommitted_bytes = std::size_t{64} << 20;
  const core::planted_faults* planted = nullptr;  // tests only
};

/// A copy of the state that a leader sends to a replica.
struct copy_on_way {
  raft::replica_id to = 0;        // 0: there is none
  raft::log_index behind = 0;     // its last entry
  std::uint64_t bytes_asked = 0;  // of it
  std::uint64_t of_bytes = 0;     // 0: it is being made
};

/// What others may know of a replica.
struct replica_view {
  raft::role role = raft::role::follower;
  raft::log_term term = 0;
  raft::replica_id leader = 0;  // 0: not known
  std::uint64_t epoch = 0;      // as the leader; 0: it does not lead
  raft::log_index last_index = 0, commit_index = 0, shown_index = 0;
  std::int64_t contact_ms = 0;  // boot time: a leader's with a majority, another's with its leader; 0: none since the start
  raft::members members;
  struct other {
    raft::replica_id id = 0;
    raft::log_index match = 0;
    std::uint64_t behind_bytes = 0;
    std::int64_t lacks_since_ms = 0;   // shard time of the oldest entry that it lacks, as far as they are kept; 0: it lacks none
    std::int64_t last_contact_ms = 0;  // boot time; at first when this one began to lead
    bool lacks_base = false;           // what it lacks is not kept any more: it gets a copy of the state
    bool went_back = false;
    bool declines = false;  // its node is drained
  };
  std::vector<other> others;  // of a leader
  std::string quarantined;    // why it takes part no more; empty: it does
  bool went_back = false;     // because its store is an older copy
  copy_on_way copy;           // of a leader
  std::string no_copy;        // of a leader: why it can make none; empty: it can
};

/// It could lead at once: it is in contact, and lacks next to nothing.
bool keeps_up(const replica_view::other& one, std::int64_t boot_ms, std::int64_t shard_ms, std::int64_t election_ms);

class replica final : public store::store {
 public:
  /// Takes over the log of `own`, which outlives the replica and is attached to its journal. `boot_ms`: a clock that nobody sets. `time`: that of
  /// the shard, which follows its leaders and outlives the replica; null: the shard's own time (store/journaled/shard_time.hpp).
  replica(fairlead::store::journaled_store& own, replica_settings how, std::function<std::int64_t()> boot_ms, lead_clock* time = nullptr);

  /// Whom to tell, from now on; null: nobody, as in a group of one whose caller waits for each commit. If it leads, that is told once more.
  void serve(replica_port* port);

  // What comes in. An error is one of the disk or a bug: the process has to end.
  status tick();
  status receive(const raft::message& what);
  enum class proposal {
    taken,
    later,       // too much is on the way; nothing was taken
    not_leader,  // nothing was taken
  };
  /// Batches that follow what was proposed before.
  result<proposal> propose(const std::vector<fairlead::store::batch>& group);
  /// Rows of the meta table that are not the Scheduler's, as the leader. False: nothing was taken.
  bool propose_rows(const fairlead::store::batch& what);
  /// Asks for a confirmed round (raft::confirm); the ticket of the answer. `epoch`: of the Scheduler that asks, which may outlive its lead, and
  /// leads no longer once another has begun; 0: it asks for whoever leads; confirm_begun (actors/protocol/confirm.hpp).
  std::uint64_t confirm(std::uint64_t epoch = 0);
  status unreachable(raft::replica_id who);
  status transfer(raft::replica_id to);
  /// The state and the log here are replaced by a copy of another replica's state, which was checked (journaled_store::check_copy). Blocks for some
  /// writes. wrong_state: it is not needed any more, and nothing has changed.
  status install(fairlead::store::incoming_copy& from, const raft::base& behind);
  /// Where the log goes on behind the copy, and it is kept from there on for a while. As the leader. nullopt: it is kept no more.
  std::optional<raft::base> keep_for_copy(const copy_on_way& what);
  /// The other replica has it, or gets none; `why`: none can be made.
  void end_copy(const std::string& why = {});
  /// Its node is drained, or no longer: while another replica can lead, this one does not.
  status decline(bool on);
  /// The shard goes on without this replica, in a later lineage: it takes part no more.
  void outlived(std::string why);
  /// In which order replicas are to lead (lead_place::prefer).
  void prefer(std::vector<raft::replica_id> order);
  /// Which replica each node of the shard has now. As the leader it makes these the members (raft::next_members). Empty, as at first: the members
  /// stay.
  void know_nodes(std::vector<raft::node_replica> all);
  /// Writes what has gathered, and acts on it.
  status settle();
  /// False: settle() has nothing to do.
  bool wants_settle() const;

  replica_view view() const;
  const replica_settings& settings() const noexcept { return how_; }

  // For one who waits: the Scheduler's store, of a group of one.

  /// On return the batches count. Errors: those of the store, and unavailable: this replica does not lead.
  status commit(const std::vector<fairlead::store::batch>& group) override;
  /// The epoch of a Scheduler that begins: the leader's own for the first one, and another for each that follows. A group of one leads at once.
  /// Others wait up to ten election timeouts for the majority. Errors: timed_out, it has not come; unavailable, this replica does not lead.
  result<std::uint64_t> raise_epoch() override;
  /// The same without waiting; 0: the majority has not come yet, or this leader takes no entry at the moment. Who asks again gets the answer.
  result<std::uint64_t> ask_epoch();
  std::unique_ptr<fairlead::store::snapshot> read() const override { return own_.read(); }
  std::unique_ptr<fairlead::store::snapshot> read_settled() const override { return own_.read_settled(); }
  fairlead::store::usage get_usage() const override { return own_.get_usage(); }

 private:
  static lead_clock* resumed(lead_clock* time, const fairlead::store::journaled_store& own);
  static raft::recovered recovered_of(fairlead::store::recovered_log log, const replica_settings& how);
  raft::moment now();
  raft::log_index step(const raft::input& in) { return step(in, now()); }
  raft::log_index step(const raft::input& in, raft::moment at);
  void take(raft::output out);
  status show(const raft::entry& what);
  void note_clock();
  void look_at_leadership();
  void look_at_place();
  void look_at_members();
  replica_view view_locked() const;
  bool is_scarce() const;
  void trim();
  status carry_over();
  raft::log_index confirmed_by_all_in_contact(raft::log_index up_to) const;
  status settle_locked();
  bool alone() const;
  result<std::uint64_t> ask_epoch_locked();

  fairlead::store::journaled_store& own_;
  const replica_settings how_;
  const std::function<std::int64_t()> boot_ms_;
  lead_clock* const time_;
  replica_port* port_ = nullptr;

  mutable std::mutex guard_;
  std::condition_variable shown_;  // more was shown
  raft::consensus consensus_;
  lead_place place_;
  std::vector<raft::node_replica> of_nodes_;
  std::int64_t next_look_at_members_ms_ = 0;          // by the boot clock
  std::vector<fairlead::store::log_record> records_;  // not written yet
  fairlead::store::meta::clock_note noted_clock_;     // what a start would go on from
  std::uint64_t position_ = 0;                        // of the last of them
  std::uint64_t durable_position_ = 0;
  std::vector<raft::entry> committed_;         // not shown yet
  std::vector<raft::confirmation> confirmed_;  // not answered yet: what they speak of is not shown
  std::uint64_t last_ticket_ = 0;
  raft::log_index elected_ = 0;       // of its own first entry as the leader; 0: it does not lead
  std::uint64_t epoch_ = 0;           // told to lead under it
  bool begun_ = false;                // a Scheduler has begun under it
  raft::log_index asked_epoch_ = 0;   // by a Scheduler that begins anew; 0: none waits
  std::uint64_t proposed_epoch_ = 0;  // as of the last proposal
  copy_on_way copy_;                  // entries behind it are kept
  std::int64_t copy_until_ms_ = 0;    // by the boot clock
  std::string no_copy_;
  std::uint64_t proposed_sequence_ = 0;
  std::size_t uncommitted_bytes_ = 0;
};

}  // namespace fairlead
