#pragma once
// The connection between an agent's process and the node of a shard. As TCP it keeps the order and loses nothing while it stands; what was under
// way when it breaks is lost, and each side learns of that for itself. Underneath, packets may get through one way only or not at all. Where
// they do soon again, what was held up comes all at once and late; where they do not, the side that hears nothing gives the connection up within
// 2.5 s. Inside one process there is nothing to break: messages only take a moment.

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "tests/simulation/world/world.hpp"

namespace fairlead::simulation {

class link {
 public:
  enum side : int { agent_side = 0, shard_side = 1 };
  struct end {
    std::function<bool()> alive;   // its process
    std::function<void()> joined;  // a connection stands
    std::function<void()> lost;    // it stands no more, and this side has noticed
  };

  link(world& in, std::string name, bool in_one_process, end agent, end shard);
  link(const link&) = delete;
  link& operator=(const link&) = delete;

  bool in_one_process() const noexcept { return inside_; }
  bool stands() const noexcept { return stands_; }

  /// A process has begun: there may be a connection now.
  void look(std::int64_t within_us);
  /// Delivers over the connection that stands now. Nobody is told where it is lost.
  void send(side from, std::function<void()> deliver);
  /// The process of that side has died.
  void ended(side which);

  // ---- faults ----

  /// Nothing gets through in that direction for a while, and nobody hears of it: the connection breaks unless it is over soon.
  void cut(side towards, std::int64_t for_us) { hold(towards, for_us, true); }
  /// Nothing gets through in that direction for a while, and the connection outlasts it.
  void freeze(side towards, std::int64_t for_us) { hold(towards, for_us, false); }
  /// Whatever held things up is over.
  void heal();

 private:
  struct message {
    std::uint64_t connection = 0;
    std::function<void()> deliver;  // null: its sender has gone, nothing follows
  };
  struct direction {
    std::int64_t last_us = 0;      // when the newest message arrives
    std::int64_t held_until = -1;  // nothing gets through before
    std::uint64_t cuts = 0;
    std::deque<message> held;
  };
  static side other(side of) { return of == agent_side ? shard_side : agent_side; }
  end& at(side which) { return ends_[which]; }
  bool blocked(side towards) const { return towards_[towards].held_until > world_.now_us(); }
  void hold(side towards, std::int64_t for_us, bool gives_up);
  void put(side towards, message what);
  void arrive(side towards, message what);
  void take(side towards, const message& what);
  void flush(side towards);
  void break_off(side first);
  void notice(side which);
  void try_to_join();

  world& world_;
  const std::string name_;
  const bool inside_;
  end ends_[2];
  direction towards_[2];  // by the side that receives
  std::uint64_t connection_ = 0;
  bool stands_ = false;
  bool knows_[2] = {true, true};  // that none stands
  bool looking_ = false;
};

}  // namespace fairlead::simulation
