#pragma once
// The host of an agent's instance and its shards, joined as agent_actor joins them: the production host with its timers, its registrations
// (agent_sessions.cpp), and the judges of what it is told and says. Its backend is an agent's process, or the session of a worker over HTTP.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/agent_host/links.hpp"
#include "actors/agents/carried.hpp"
#include "actors/protocol/reminders.hpp"
#include "tests/simulation/agents/leases.hpp"

namespace fairlead::simulation {

class agents::post final : public agent_outbox {
 public:
  struct surroundings {
    std::function<void(const std::function<void(post&)>&)> self;  // runs it here, unless the process is gone by then
    std::function<void(v1::RegisterAgent)> to_gateway;
    std::function<void(std::uint32_t shard, std::uint64_t core, std::function<void(agents::shard&)>)> to_scheduler;
    // Of a worker over HTTP.
    std::function<void()> ended{};                                                    // it has ended by itself
    std::function<void(bool draining)> announces{};                                   // a registration leaves
    std::function<void(const fairlead::agents::attempt_key&, bool accepted)> told{};  // of an outcome
    const host_clock* time = nullptr;
    const core::planted_faults* planted = nullptr;
    std::vector<checker*> judges;  // by shard
  };
  /// Of a worker over HTTP.
  struct carrying {
    fairlead::agents::carried_backend* session = nullptr;
    std::string name;  // of the session, for the shards
    std::uint64_t first_revision = 0;
    std::uint64_t carrier = 0;  // as shards know its host from others of the worker
  };

  post(world& in, const agent_site& site, std::uint64_t incarnation, fairlead::agents::backend& by, lease_book& book, surroundings around,
       carrying of);

  void perform(const v1::PerformBatch& what, const stamp& when);
  void acknowledged(const v1::OutcomeAckBatch& what);
  void acknowledged(const v1::HeartbeatAckBatch& what);
  void acknowledged(const v1::BeaconAck& what, const stamp& when);

  // Where its shards are.
  void routed(std::uint32_t shard);
  void unrouted(std::uint32_t shard);
  void scheduler_down(std::uint32_t shard, std::uint64_t core);
  void welcomed(std::uint64_t revision, const welcome& what);
  void drain();

  /// It has spoken of nothing that a shard, with which it is registered, has not taken.
  bool all_told() const { return owed_.empty(); }
  void after_message();
  void judge_begin(const fairlead::agents::attempt_key& key, const v1::Perform& what);
  void judge_lineage(const v1::Perform& what);
  std::size_t unsettled() const { return host_.held() + owed_.size(); }
  /// Of a worker over HTTP: its host may end the lease of the attempt then, and not before. 0: it has never had the attempt.
  std::int64_t keeps_until_us(const fairlead::agents::attempt_key& key) const;

  // As the host's way out.
  void outcomes(v1::OutcomeBatch what) override;
  void heartbeats(v1::HeartbeatBatch what) override;
  void refused(v1::OutcomeBatch what) override;
  void finish_later(fairlead::agents::attempt_key key, fairlead::agents::attempt_result result) override;
  void progress_later(fairlead::agents::attempt_key key) override;

 private:
  /// How it stands with one shard.
  struct session {
    std::uint64_t core = 0;  // the Scheduler whose address it has; 0: none
    std::int64_t since_us = 0;
  };
  struct kept_attempt {
    std::int64_t until_us = 0;  // the end of its lease when it was first handed over, in true time
    std::int64_t early_us = 0;  // by so much at most the host has been led to end it earlier since
  };
  void keep_book(const v1::PerformBatch& what, const stamp& when);
  std::int64_t early_us(const stamp& when) const;
  bool keep_wishes();
  bool end_if_left();
  void end();
  void check_silence(const fairlead::agents::attempt_key& key, const v1::Outcome& said);
  void check_told();
  void check_told_again(const std::string& name, std::int64_t told_us, std::uint32_t shard);
  void meets(std::uint32_t shard, const v1::Lineage& which);
  std::uint32_t count_of(std::uint32_t shard, const v1::Lineage& which);
  void heard(std::uint32_t shard, const stamp& when);
  void go_round();
  moment steady() const { return around_.time->steady(); }
  checker& judge(std::uint32_t shard) { return *around_.judges[shard]; }

  world& world_;
  const agent_site site_;
  const std::uint64_t incarnation_;
  lease_book& book_;
  surroundings around_;
  carrying worker_;
  agent_host host_;
  const v1::PerformBatch* arriving_ = nullptr;
  bool arriving_old_ = false;                              // it is of a Scheduler before the newest that was heard of
  std::map<std::uint32_t, std::uint64_t> epochs_;          // the newest heard of, by shard
  std::map<std::uint32_t, std::vector<v1::Lineage>> met_;  // by shard, in the order in which it has met them
  stamp arriving_when_;
  std::unordered_map<fairlead::agents::attempt_key, kept_attempt, fairlead::agents::attempt_key_hash> kept_;  // of a worker over HTTP
  agent_links links_;
  std::vector<session> sessions_;  // by shard
  reminders rounds_;
  std::map<std::string, std::pair<fairlead::agents::attempt_key, std::int64_t>> owed_;  // outcomes it has spoken of, and since when
  std::map<std::string, std::int64_t> told_;                                            // that have been acknowledged, and when
  bool flush_armed_ = false;
  reminders reminders_;
  bool leaves_ = false;
  bool ends_ = false;
  bool ended_ = false;
};

}  // namespace fairlead::simulation
