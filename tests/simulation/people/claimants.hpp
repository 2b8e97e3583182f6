#pragma once
// Clients that claim their status events under a name: they wait for them, acknowledge what has come, forget that they have, ask twice at a time,
// and race with others of their name.

#include <cstdint>
#include <string>

#include "tests/simulation/shard/home.hpp"

namespace fairlead::simulation {

class claimants {
 public:
  claimants(world& in, network& net, home& shard, checker& judge, std::string name);

  void begin();

 private:
  /// One process that claims.
  struct claimant {
    std::uint64_t has = 0;  // position of the last event that came
  };
  void claim(std::size_t which);
  void came(std::size_t which, const v1::RepliesReply& reply);

  world& world_;
  network& network_;
  home& home_;
  checker& checker_;
  const std::string name_;
  std::vector<claimant> all_;
};

}  // namespace fairlead::simulation
