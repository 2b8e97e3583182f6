#pragma once
// The archiver of a node, driven as its actor drives it (actors/shard/archiver_actor.cpp), with shorter pauses. It is no part of the core: it dies with the
// process, or alone.

#include <cstdint>
#include <memory>

#include "actors/shard/archiver.hpp"
#include "tests/simulation/node/node.hpp"

namespace fairlead::simulation {

class node::clerk {
 public:
  clerk(node& in, const retention_plan& plan);
  void begin();

 private:
  void again();
  void pass();

  node& node_;
  const retention_plan plan_;
  std::unique_ptr<archiver> shell_;
};

}  // namespace fairlead::simulation
