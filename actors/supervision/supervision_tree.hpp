#pragma once
// The current state of a node's supervision tree, for operators and drills: guardians write it, any thread reads it.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "actors/core/restart.hpp"
#include "actors/supervision/supervised.hpp"
#include "messages/node.pb.h"
#include "messages/time.hpp"

namespace fairlead {

class supervision_tree {
 public:
  explicit supervision_tree(const clock& time) : time_(time) {}

  /// `path` has been started, for the first time or again; returns a new gauge. `strategy` is empty unless the child is a guardian.
  std::shared_ptr<actor_gauge> started(const std::string& path, core::restart_kind restart, const std::string& strategy);
  /// CAF's id of the actor at `path`. `poke` sends the actor some message, in case it waits for ever for its next one.
  void named(const std::string& path, std::uint64_t actor_id, std::function<void()> poke = {});
  /// The actor has ended for `reason`; `state` is what follows: restarting, stopped, given_up.
  void ended(const std::string& path, const std::string& state, const std::string& reason);
  /// `path` and everything below it leave the tree.
  void removed(const std::string& path);

  /// All actors, parents before their children, children in the order of their first start.
  std::vector<v1::SupervisedActor> describe() const;
  /// Restarts of all actors since the tree began.
  std::uint64_t restarts() const;

  /// The next message of the actor at `path` throws. False: no actor runs there.
  bool plant_crash(const std::string& path);

 private:
  struct entry {
    v1::SupervisedActor shown;
    std::shared_ptr<actor_gauge> gauge;
    std::function<void()> poke;
    std::uint64_t order = 0;
  };

  const clock& time_;
  mutable std::mutex guard_;
  std::map<std::string, entry> entries_;
  std::uint64_t next_order_ = 0;
  std::uint64_t restarts_ = 0;
};

}  // namespace fairlead
