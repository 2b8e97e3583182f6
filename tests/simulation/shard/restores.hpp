#pragma once
// A backup is made, the disk is lost, and an earlier moment of the store is put back while agents and services live on. Once in some
// runs, twice in some of these, from the same backup. Production's own restore makes the store fit to go on.

#include <cstdint>
#include <memory>

#include "tests/simulation/shard/home.hpp"

namespace fairlead::simulation {

/// Whether this run has one. It then goes without what belongs to one history that only goes on: archives, jobs, alerts and events that
/// somebody counts.
bool draw_restores(world& in);

class restores {
 public:
  restores(world& in, home& shard) : world_(in), home_(shard) {}

  /// Over the first part of the run.
  void begin(std::int64_t until_us);

 private:
  void lose_majority(int tries);
  world& world_;
  home& home_;
  std::shared_ptr<const simulated_store::moment> backup_;
};

}  // namespace fairlead::simulation
