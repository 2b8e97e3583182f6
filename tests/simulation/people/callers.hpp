#pragma once
// Those who call back: what services say of work that they had accepted goes to the shard, and again until it is answered.

#include <cstdint>
#include <vector>

#include "tests/simulation/shard/home.hpp"
#include "tests/simulation/world/services.hpp"

namespace fairlead::simulation {

class callers {
 public:
  callers(world& in, home& shard, checker& judge) : world_(in), home_(shard), checker_(judge) {}

  void tell(const late_answer& what);

 private:
  struct call {
    v1::OperateRequest what;
    int tries_left = 0;
    bool answered = false;
  };
  void send(std::size_t which);
  void answered(std::size_t which, const v1::OperateReply& reply);

  world& world_;
  home& home_;
  checker& checker_;
  std::vector<call> calls_;
};

}  // namespace fairlead::simulation
