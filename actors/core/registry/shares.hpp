#pragma once
// How one agent instance divides its capacity among the shards that it serves. Pure.
//
// A shard hands over up to its part without asking, so the parts in force must never add up to more than there is. A part that was lowered
// stays in force until the shard has acknowledged the lower one, and what it holds beyond that counts until it says that it holds less.
// Nothing is raised but into what is free by this account.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "messages/time.hpp"

namespace fairlead::core {

class shares {
 public:
  explicit shares(std::uint32_t capacity) : capacity_(capacity) {}

  /// A shard can be reached: it takes part from now on.
  void join(std::uint32_t shard);
  /// It cannot: it hands over nothing more, whatever it was told. `held` attempts of it go on. May be repeated as they end.
  void leave(std::uint32_t shard, std::uint32_t held);

  /// How much of the capacity it could use: attempts that are out or wait there.
  void wants(std::uint32_t shard, std::uint64_t wanted);

  /// What it is to be told.
  std::uint32_t part(std::uint32_t shard) const;
  /// `part` has left for it under this number, which is higher than any before.
  void told(std::uint32_t shard, std::uint64_t revision, moment now);
  /// It goes by what it was told under `revision`, and holds that many attempts.
  void acknowledged(std::uint32_t shard, std::uint64_t revision, std::uint32_t held, moment now);

  /// Divides anew: at once when a shard has come or gone, else at most once a second. The shards that have to be told something.
  std::vector<std::uint32_t> divide(moment now);

  /// At most so many attempts can be under way by what was told and acknowledged.
  std::uint64_t bound() const;

 private:
  struct statement {
    std::uint64_t revision = 0;
    std::uint32_t part = 0;
  };
  struct member {
    bool here = false;
    std::uint64_t wanted = 0;
    std::uint32_t target = 0;  // what it is to have once there is room
    std::uint32_t part = 0;
    std::uint32_t in_force = 0;     // as acknowledged last,
    std::uint32_t held = 0;         // and what was held then
    std::vector<statement> open{};  // told later; any of them may be in force
    std::uint32_t told_last = 0;    // while `ever_told`
    bool ever_told = false;
    moment told_at{};
    std::optional<moment> offered{};  // since when it is told that it has a part
    std::optional<moment> served{};   // since when it is known to have one

    std::uint32_t used() const;
  };
  using members = std::map<std::uint32_t, member>;

  bool content() const;
  void aim(moment now);
  void aim_by_demand(const std::vector<member*>& all);
  void aim_in_turn(const std::vector<std::uint32_t>& wanting, moment now);
  void fill(std::vector<member*> all, std::uint64_t rest);
  void raise();
  std::optional<std::uint32_t> next_in_turn(const std::vector<std::uint32_t>& wanting) const;

  std::uint32_t capacity_;
  members members_;
  bool changed_ = false;  // who is there
  std::optional<moment> aimed_;
  // Where not even one for each that wants any is there, they take turns.
  std::vector<std::uint32_t> turn_;
  std::optional<std::uint32_t> turn_last_;
  moment turn_began_{};
};

}  // namespace fairlead::core
