#pragma once
// What happens between hosts, and to their clocks: links that are cut or frozen, one or all of a node's; wall clocks that are set and that drift.

#include <cstdint>
#include <vector>

#include "tests/simulation/agents/agents.hpp"

namespace fairlead::simulation {

class weather {
 public:
  /// `of_shards`: the clocks of the nodes that hold them.
  weather(world& in, agents& staff, std::vector<host_clock*> of_shards) : world_(in), agents_(staff), of_shards_(std::move(of_shards)) {}

  /// Until `until_us`; what is cut or frozen then is whole again.
  void begin(std::int64_t until_us);

 private:
  struct outbreak {
    bool cuts = false;  // else it freezes
    bool whole_node = false;
    bool to_agent = false;
    bool to_shard = false;
    std::int64_t for_us = 0;
    std::size_t place = 0;
    std::uint32_t shard = 0;
  };
  void disturb_links(std::int64_t until_us);
  void strike(const outbreak& what);
  void set_clocks(std::int64_t until_us);
  void drift(host_clock& which, bool of_shard, std::int64_t rest_us, std::int64_t until_us);
  void jump(host_clock& which, bool of_shard, concern why, std::int64_t by_ms);

  world& world_;
  agents& agents_;
  std::vector<host_clock*> of_shards_;
};

}  // namespace fairlead::simulation
