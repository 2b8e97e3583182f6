#pragma once
// The wall clock of a shard with jobs that is wrong by minutes or hours for a while, as people meet it in life: it has fallen back and is put right soon, or
// it has leapt ahead, so that jobs are launched for times to come, and is put right later; at times the shard starts anew in between, and at times
// somebody lets the marks go back.
//
// Whatever was promised by a clock that was ahead (leases, backoffs, breakers) is over only once the clock has got there again. As in a long outage
// only the wall clock goes on by that: agents and services live through seconds of it, so that a run costs what others do.

#include <cstdint>

#include "tests/simulation/people/job_people.hpp"

namespace fairlead::simulation {

class far_clock {
 public:
  far_clock(world& in, home& shard, job_people& people, host_clock& time, const job_era& era)
      : world_(in), home_(shard), people_(people), clock_(time), era_(era) {}

  /// Makes it wrong before `until_us`, if it ever is.
  void begin(std::int64_t until_us);
  /// From when on it is right, in true time; 0: it never was wrong.
  std::int64_t right_from_us() const noexcept { return right_from_us_; }

 private:
  /// A stretch of time in which it is wrong, and what happens in it.
  struct spell {
    std::int64_t for_us = 0;
    bool restarts = false;
    std::int64_t restart_us = 0;  // after its beginning
    int rewinds = 0;
    std::int64_t first_rewind_us = 0;
    std::int64_t second_rewind_us = 0;
  };
  std::int64_t how_far_ms();
  spell make_spell(std::int64_t for_us, std::uint64_t rewinds_per_mille);
  void live_through(const spell& what);
  void set(std::int64_t by_ms, bool away, const char* why);
  void restart();

  world& world_;
  home& home_;
  job_people& people_;
  host_clock& clock_;
  const job_era& era_;
  std::int64_t right_from_us_ = 0;
};

}  // namespace fairlead::simulation
