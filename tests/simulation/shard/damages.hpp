#pragma once
// What nodes do whose readers meet damage, or whose state is another one: production's own damage_watch decides it. Such a node may be any of those that
// hold the shard, and two at once: nothing of what it has confirmed is lost, so the others may not have to do without its vote.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "actors/core/raft/types.hpp"
#include "actors/replication/damage_watch.hpp"
#include "tests/simulation/world/world.hpp"

namespace fairlead::simulation {

class home;
class node;

class damages {
 public:
  /// `nodes` are those of `of`, and come later.
  damages(world& in, home& of, const std::vector<std::unique_ptr<node>>& nodes) : world_(in), home_(of), nodes_(nodes) {}

  /// A value in the store of the node, and of another one, is not what was written, and readers have met it.
  void meet(node& which, node* another);
  /// The node says that its state is another one.
  void differs(node& which, const error& why);
  /// A reader of the next process meets it again.
  void node_started(node& which);
  /// It may end soon, as if it were lost.
  bool has(const node& which) const;
  /// No store has a damaged value, and no node declines to lead for its sake.
  bool settled() const;

 private:
  struct one {
    std::unique_ptr<damage_watch> watch;  // of this process
    std::uint64_t life = 0;
    raft::replica_id damaged = 0;  // whose store has a damaged value; 0: none
    bool declines = false;
  };

  one& of(node& which);
  void meet(node& which);
  damage_watch::world watch_of(node& which, one& it);
  void look_soon(node& which, std::uint64_t life);
  void ask(node& which, std::function<void(const status& may)> answer);
  void tell(node& which);

  world& world_;
  home& home_;
  const std::vector<std::unique_ptr<node>>& nodes_;
  std::vector<one> all_;  // by place
};

}  // namespace fairlead::simulation
