#pragma once
// One process of an agent: the production host, its timers, and a backend with every habit that a service behind a network can have.
// agent_process.cpp joins the host as agent_actor does, agent_sessions.cpp registers it with its shards, agent_work.cpp is the backend.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/agent_host/links.hpp"
#include "actors/protocol/reminders.hpp"
#include "tests/simulation/agents/agents.hpp"

namespace fairlead::simulation {

class agents::process final : public fairlead::agents::backend, public agent_outbox {
 public:
  struct surroundings {
    std::function<void(const std::function<void(process&)>&)> self;  // runs it here, unless the process is gone by then
    std::function<void(v1::RegisterAgent)> to_gateway;
    std::function<void(std::uint32_t shard, std::uint64_t core, std::function<void(agents::shard&)>)> to_scheduler;
    const host_clock* time = nullptr;
    const core::planted_faults* planted = nullptr;
    std::vector<checker*> judges;  // by shard
  };

  process(world& in, services& behind, const agent_site& site, std::uint64_t incarnation, surroundings around);

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

  // As a backend.
  void start(const v1::Perform& what, fairlead::agents::completion done) override;
  void stop(const fairlead::agents::attempt_key& which) override;
  std::vector<std::string> calls() const override { return {"do", "back"}; }
  std::vector<std::string> lookups() const override;
  std::uint32_t capacity() const override { return site_.capacity; }
  std::vector<v1::CallPolicy> policies() const override;
  void report_progress_to(fairlead::agents::progress_sink sink) override { progress_ = std::move(sink); }
  bool beats_itself() const override { return site_.beats_itself; }
  void shut_down() override {}

  // As the host's way out.
  void outcomes(v1::OutcomeBatch what) override;
  void heartbeats(v1::HeartbeatBatch what) override;
  void refused(v1::OutcomeBatch what) override;
  void finish_later(fairlead::agents::attempt_key key, fairlead::agents::attempt_result result) override;
  void progress_later(fairlead::agents::attempt_key key) override;

 private:
  using answer_after = std::optional<std::int64_t>;  // microseconds; nullopt: never
  /// A try under way.
  struct job {
    v1::Perform what;
    fairlead::agents::completion done;
    std::uint64_t number = 0;  // of this process; what comes late must not be taken for a later try's
  };
  void ask_service(const job& of, std::int64_t effect_us, answer_after answer_us,
                   std::optional<fairlead::agents::attempt_result> instead = std::nullopt);
  void answer_later(const job& of, std::int64_t delay_us, fairlead::agents::attempt_result result);
  void answer(const job& of, const fairlead::agents::attempt_result& result);
  bool service_is_bad(const job& of);
  bool fails_at_once(const job& of);
  std::int64_t at_most_ms(const job& of, std::int64_t most_ms) const;
  bool takes_long(const job& of);
  void work_on(const job& of, int part, int parts, std::int64_t pause_us, bool hangs);
  void end_try_in_time(const job& of);
  void after_message();
  void check_silence(const fairlead::agents::attempt_key& key, const v1::Outcome& said);
  void check_try(const v1::Perform& what);
  void begin_lease(const fairlead::agents::attempt_key& key, const v1::Perform& what);
  void check_told();
  void check_told_again(const std::string& name, std::int64_t told_us, std::uint32_t shard);
  void meets(std::uint32_t shard, const v1::Lineage& which);
  std::uint32_t count_of(std::uint32_t shard, const v1::Lineage& which);
  void check_lineage(const v1::Perform& what, const v1::Lineage& handed_over_by);
  void heard(std::uint32_t shard, const stamp& when);
  void go_round();
  moment steady() const { return around_.time->steady(); }
  checker& judge(std::uint32_t shard) { return *around_.judges[shard]; }

  world& world_;
  services& services_;
  agent_site site_;
  asker me_;
  surroundings around_;
  fairlead::agents::progress_sink progress_;
  agent_host host_;
  std::unordered_map<fairlead::agents::attempt_key, std::uint64_t, fairlead::agents::attempt_key_hash>
      at_work_;  // the job that is under way
  std::uint64_t next_job_ = 1;
  /// What a process may believe of a lease, in true time: it counts from when the message left, and learns of a clock that was set by what
  /// comes later.
  struct lease_end {
    std::int64_t at_us = 0;
    std::int64_t ahead_us = 0;       // the shard's clock then,
    std::int64_t most_ahead_us = 0;  // and at most, as far as has been heard
    std::int64_t now_us() const;
  };
  struct lease {
    lease_end complete_by;
    std::optional<lease_end> by_heartbeat;
    std::optional<std::int64_t> finished_us;
    std::int64_t then_until_us = 0;  // what it could believe when it had finished
    v1::Perform as_handed_over;
    v1::Lineage of;
    std::uint32_t tries = 0;
    std::map<std::uint64_t, std::int64_t> beats;  // by sequence: when it was sent
    std::int64_t until_us() const;
    void finish(std::int64_t at_us);
  };
  std::unordered_map<fairlead::agents::attempt_key, lease, fairlead::agents::attempt_key_hash> begun_;
  const v1::PerformBatch* arriving_ = nullptr;
  bool arriving_old_ = false;                              // it is of a Scheduler before the newest that was heard of
  std::map<std::uint32_t, std::uint64_t> epochs_;          // the newest heard of, by shard
  std::map<std::uint32_t, std::vector<v1::Lineage>> met_;  // by shard, in the order in which it has met them
  stamp arriving_when_;
  agent_links links_;
  /// How it stands with one shard.
  struct session {
    std::uint64_t core = 0;  // the Scheduler whose address it has; 0: none
    std::int64_t since_us = 0;
  };
  std::vector<session> sessions_;  // by shard
  bool draining_ = false;
  reminders rounds_;
  std::map<std::string, std::pair<fairlead::agents::attempt_key, std::int64_t>> owed_;  // outcomes it has spoken of, and since when
  std::map<std::string, std::int64_t> told_;                                            // that have been acknowledged, and when
  bool flush_armed_ = false;
  reminders reminders_;
};

}  // namespace fairlead::simulation
