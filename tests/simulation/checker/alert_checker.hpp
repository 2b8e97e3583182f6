#pragma once
// The judge of alerts on their way to people: each one reaches each target, and a cursor says nothing that has not happened.
//
// Rules: alert_undelivered, alert_cursor, alert_erased, alert_end; durable_before_effect.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "messages/api.pb.h"
#include "store/store.hpp"
#include "tests/simulation/world/world.hpp"

namespace fairlead::simulation {

class alert_checker {
 public:
  explicit alert_checker(world& in) : world_(in) {}

  void watch(std::uint32_t shard, std::uint32_t shards, std::vector<std::string> targets) {
    shard_ = shard;
    shards_ = shards;
    targets_ = std::move(targets);
  }

  void committed(const std::vector<store::batch>& group);
  /// A message has come to a target.
  void arrived(const std::string& target, const std::string& body);
  /// All targets have all that they are to get, as their cursors say.
  bool all_told(const store::snapshot& durable) const;

 private:
  struct target {
    bool known = false;
    std::uint64_t cursor = 0;      // as durable
    std::uint64_t seen_first = 0;  // what there was when it was first looked at
    std::set<std::uint64_t> has;
    std::set<std::uint64_t> in_digests;
    std::set<std::uint64_t> alone;  // has them by themselves
    std::set<std::uint64_t> ends;   // and knows that they are resolved
  };
  void judge_cursor(const std::string& name, std::uint64_t to);

  world& world_;
  std::uint32_t shard_ = 0;
  std::uint32_t shards_ = 1;
  std::vector<std::string> targets_;
  std::map<std::uint64_t, v1::AlertRecord> alerts_;  // as durable; erased ones are not among them
  std::uint64_t newest_ = 0;
  std::map<std::string, target> by_name_;
};

}  // namespace fairlead::simulation
