#pragma once
// People who follow a task: long polls for its next events, with time limits. What they are told must follow on what they have, stay true, and
// come in time.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/people/clients.hpp"
#include "tests/simulation/shard/home.hpp"

namespace fairlead::simulation {

class watchers {
 public:
  watchers(world& in, home& shard, host_clock& time, const clients& submitters)
      : world_(in), home_(shard), clock_(time), clients_(submitters) {}

  void begin(std::int64_t until_us);

 private:
  struct follower {
    std::string id;
    std::uint64_t has = 0;  // events
    bool over = false;
  };
  /// What waits at a Scheduler.
  struct open_poll {
    std::string id;
    std::uint64_t after = 0;
    std::int64_t wait_us = 0;
    std::int64_t asked_us = 0;
    std::uint64_t epoch = 0;
    int late_looks = 0;  // that have found news for it
  };
  void poll(std::size_t which);
  void came(std::size_t which, const v1::WatchRequest& asked, std::uint64_t least, const v1::WatchReply& reply);
  std::uint64_t events_of(const std::string& id, const store::snapshot& durable) const;
  void look();
  bool has_news(const open_poll& one, const store::snapshot& durable) const;

  world& world_;
  home& home_;
  host_clock& clock_;
  const clients& clients_;
  std::vector<follower> all_;
  std::map<std::uint64_t, open_poll> open_;                                // by ticket
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> events_;  // told of a task: its hash
};

}  // namespace fairlead::simulation
