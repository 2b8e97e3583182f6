#pragma once
// What an agent does with its attempts: it asks the services behind it, with every habit that a service behind a network can have. An agent's
// process does so for its host, and a worker over HTTP for itself.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/simulation/agents/leases.hpp"

namespace fairlead::simulation {

class agents::labour {
 public:
  struct surroundings {
    std::function<void(const std::function<void(labour&)>&)> self;  // runs it here, unless the process is gone by then
    const host_clock* time = nullptr;
    std::vector<checker*> judges;  // by shard
  };
  labour(world& in, services& behind, const agent_site& site, std::uint64_t incarnation, lease_book& book, surroundings around);
  labour(const labour&) = delete;
  labour& operator=(const labour&) = delete;
  virtual ~labour() = default;

 protected:
  void start(const v1::Perform& what, fairlead::agents::completion done);
  void stop(const fairlead::agents::attempt_key& which) { at_work_.erase(which); }

  /// A try begins, or has gone on: whoever has handed it over is to be judged.
  virtual void begins(const fairlead::agents::attempt_key& key, const v1::Perform& what) = 0;
  virtual void tells(const fairlead::agents::attempt_key& key, fairlead::agents::attempt_progress what) = 0;
  virtual void after_message() = 0;

  world& world_;
  services& services_;
  agent_site site_;
  asker me_;
  lease_book& book_;

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
  void check_try(const v1::Perform& what);

  surroundings around_;
  std::unordered_map<fairlead::agents::attempt_key, std::uint64_t, fairlead::agents::attempt_key_hash>
      at_work_;  // the job that is under way
  std::uint64_t next_job_ = 1;
};

}  // namespace fairlead::simulation
