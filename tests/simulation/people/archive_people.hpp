#pragma once
// Those who come back to tasks that have ended: operators who have them undone or deleted while they are on their way to the archive or there, and
// clients who submit them once more.

#include <cstdint>

#include "tests/simulation/people/clients.hpp"
#include "tests/simulation/people/operators.hpp"
#include "tests/simulation/shard/home.hpp"

namespace fairlead::simulation {

/// How long ended tasks stay in this run. Where that is short, midnight comes within it.
retention_plan make_retention(world& in);

class archive_people {
 public:
  archive_people(world& in, home& shard, checker& judge, clients& submitters, operators& people)
      : world_(in), home_(shard), checker_(judge), clients_(submitters), operators_(people) {}

  void begin(const retention_plan& plan);

 private:
  void come_back();
  void undo(const std::string& id);
  void remove();

  world& world_;
  home& home_;
  checker& checker_;
  clients& clients_;
  operators& operators_;
};

}  // namespace fairlead::simulation
