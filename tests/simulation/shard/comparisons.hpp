#pragma once
// Replicas of a shard compare their states, by themselves and when an operator asks. In some runs the state of one becomes another than the log says, as
// by a bug or a disk that forgets: its node says that its store is damaged, and gets a new one.
//
// Rule states_compared: a store is said to differ although no state has become another.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "messages/error.hpp"
#include "store/store.hpp"
#include "tests/simulation/world/world.hpp"

namespace fairlead::simulation {

class home;
class node;

class comparisons {
 public:
  /// `nodes` are those of `of`, and come later.
  comparisons(world& in, home& of, const std::vector<std::unique_ptr<node>>& nodes);

  void begin(std::int64_t until_us);
  /// From now on a state that is another is to be found.
  void heal();
  bool settled() const;
  /// A state stays another: of two nodes nobody can tell which one is right, or nothing came of all comparisons.
  bool is_given_up() const { return drifts_ && (asked_since_healed_ == asked_at_most || is_undecided()); }
  /// The node says that its state is another one. True: it acts on that.
  bool found(const node& which, const error& why) const;
  /// The row by which states differ, while nobody can tell which one is right.
  bool leaves_out(std::string_view meta_key) const;
  /// The state that has become another, where it has.
  static std::string drift_in(const store::snapshot& view);

 private:
  void ask(int tries);
  void ask_on();
  void drift();
  bool differs() const;
  bool is_undecided() const;

  // Enough for a replica that was away while the first ones went on.
  static constexpr int asked_at_most = 8;
  world& world_;
  home& home_;
  const std::vector<std::unique_ptr<node>>& nodes_;
  const bool drifts_;
  bool has_drifted_ = false;
  int asked_since_healed_ = 0;
};

}  // namespace fairlead::simulation
