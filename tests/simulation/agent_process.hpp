#pragma once
// One process of an agent: the production host, its timers, and a backend with every habit that a service behind a network can have.
// agent_process.cpp joins the host as agent_actor does, agent_work.cpp is the backend.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/reminders.hpp"
#include "tests/simulation/agents.hpp"

namespace fairlead::simulation {

class agents::process final : public fairlead::agents::backend, public agent_outbox {
 public:
  struct surroundings {
    std::function<void(const std::function<void(process&)>&)> self;  // runs it here, unless the process is gone by then
    std::function<void(v1::OutcomeBatch)> outcomes;
    std::function<void(v1::HeartbeatBatch)> heartbeats;
    const core::planted_faults* planted = nullptr;
    checker* judge = nullptr;
  };

  process(world& in, services& behind, const agent_site& site, std::uint64_t incarnation, surroundings around);

  v1::RegisterAgent registration() const { return host_.registration(); }
  void perform(const v1::PerformBatch& what);
  void acknowledged(const v1::OutcomeAckBatch& what);
  void acknowledged(const v1::HeartbeatAckBatch& what);

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
  bool takes_long(const job& of);
  void work_on(const job& of, int part, int parts, std::int64_t pause_us, bool hangs);
  void end_try_in_time(const job& of);
  void after_message();
  void check_silence(const v1::Outcome& said);
  void check_try(const v1::Perform& what);

  world& world_;
  services& services_;
  agent_site site_;
  asker me_;
  surroundings around_;
  fairlead::agents::progress_sink progress_;
  agent_host host_;
  std::unordered_map<fairlead::agents::attempt_key, std::uint64_t, attempt_key_hash> at_work_;  // the job that is under way
  std::uint64_t next_job_ = 1;
  struct lease {
    moment until;  // as far as this process can know
    moment complete_by;
    std::optional<moment> finished;
    v1::Perform as_handed_over;
    std::uint32_t tries = 0;
    std::map<std::uint64_t, moment> beats;  // by sequence: when it was sent
  };
  std::unordered_map<fairlead::agents::attempt_key, lease, attempt_key_hash> begun_;
  bool flush_armed_ = false;
  reminders reminders_;
};

}  // namespace fairlead::simulation
