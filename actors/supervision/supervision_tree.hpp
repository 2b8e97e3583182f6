#pragma once
// What a node's supervision tree looks like just now, for people and drills: guardians write it, any thread reads it.

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

  /// `path` has been started, for the first time or again; a new gauge for it. `strategy` is empty unless it is a guardian.
  std::shared_ptr<actor_gauge> started(const std::string& path, core::restart_kind restart, const std::string& strategy);
  /// What CAF calls the actor that stands there now. `poke` sends it some message: for one that may wait for ever for its next.
  void named(const std::string& path, std::uint64_t actor_id, std::function<void()> poke = {});
  /// It has ended, and why; `state` says what becomes of it: restarting, stopped, given_up.
  void ended(const std::string& path, const std::string& state, const std::string& reason);
  /// It is no part of the tree any more, nor is what hangs below it.
  void removed(const std::string& path);

  /// All, parents before their children, children in the order in which they were first started.
  std::vector<v1::SupervisedActor> describe() const;
  /// Restarts of all together, since the tree began.
  std::uint64_t restarts() const;

  /// Has the actor at `path` meet an exception with its next message. False: there is none running there.
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
