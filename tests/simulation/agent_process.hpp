#pragma once
// One process of an agent: the production host, its timers, and a backend with every habit that a service behind a network can have.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/simulation/agents.hpp"

namespace fairlead::simulation {

class agents::process final : public fairlead::agents::backend, public agent_outbox {
 public:
  struct surroundings {
    std::function<void(const std::function<void(process&)>&)> self;  // runs it here, unless the process is gone by then
    std::function<void(v1::OutcomeBatch)> outcomes;
    const core::planted_faults* planted = nullptr;
  };

  process(world& in, services& behind, const agent_site& site, std::uint64_t incarnation, surroundings around);

  v1::RegisterAgent registration() const { return host_.registration(); }
  void perform(const v1::PerformBatch& what);
  void acknowledged(const v1::OutcomeAckBatch& what);

  // As a backend.
  void start(const v1::Perform& what, fairlead::agents::completion done) override;
  void stop(const fairlead::agents::attempt_key& which) override;
  std::vector<std::string> calls() const override { return {"do", "back"}; }
  std::vector<std::string> lookups() const override;
  std::uint32_t capacity() const override { return site_.capacity; }
  void shut_down() override {}

  // As the host's way out.
  void outcomes(v1::OutcomeBatch what) override;
  void finish_later(fairlead::agents::attempt_key key, fairlead::agents::attempt_result result) override;

 private:
  using answer_after = std::optional<std::int64_t>;  // microseconds; nullopt: never
  void ask_service(const v1::Perform& what, std::int64_t effect_us, answer_after answer_us, const fairlead::agents::completion& done,
                   std::optional<fairlead::agents::attempt_result> instead = std::nullopt);
  void answer(const fairlead::agents::attempt_key& key, const fairlead::agents::completion& done,
              const fairlead::agents::attempt_result& result);
  bool fails_at_once(const v1::Perform& what, const fairlead::agents::completion& done);
  void after_message();
  void check_silence(const v1::Outcome& said);

  world& world_;
  services& services_;
  agent_site site_;
  asker me_;
  surroundings around_;
  agent_host host_;
  std::unordered_map<fairlead::agents::attempt_key, bool, attempt_key_hash> at_work_;
  struct lease {
    moment until;
    std::optional<moment> finished;
  };
  std::unordered_map<fairlead::agents::attempt_key, lease, attempt_key_hash> begun_;  // for the check that it keeps silent afterwards
  bool flush_armed_ = false;
  std::optional<moment> armed_until_;
};

}  // namespace fairlead::simulation
