#pragma once
// Divides the capacity of one agent instance among the shards that it serves. Pure.
//
// A shard hands over up to its part without asking, so the parts in force together must never exceed the capacity. A lowered part stays in
// force until the shard has acknowledged the lower one, and attempts beyond it count until the shard reports that it holds fewer. A part is
// raised only into capacity that is free by this account.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "messages/time.hpp"

namespace fairlead::core {

class shares {
 public:
  explicit shares(std::uint32_t capacity) : capacity_(capacity) {}

  /// The shard can be reached: it takes part from now on.
  void join(std::uint32_t shard);
  /// The shard cannot be reached: it hands over nothing more, whatever part it was told. Its `held` attempts go on. Call again as they end.
  void leave(std::uint32_t shard, std::uint32_t held);

  /// The instance has another capacity. Until the shards have acknowledged lower parts, more than a lower one may be in progress.
  void resize(std::uint32_t capacity);

  /// How much capacity the shard could use: its attempts in progress and its waiting steps.
  void wants(std::uint32_t shard, std::uint64_t wanted);

  /// The part to tell the shard.
  std::uint32_t part(std::uint32_t shard) const;
  /// `part` was sent to the shard under this revision, which is higher than any before.
  void told(std::uint32_t shard, std::uint64_t revision, moment now);
  /// The shard uses the part of `revision`, and holds that many attempts.
  void acknowledged(std::uint32_t shard, std::uint64_t revision, std::uint32_t held, moment now);

  /// Divides anew: at once when a shard has come or gone, else at most once a second. Returns the shards that must be told.
  std::vector<std::uint32_t> divide(moment now);

  /// At most so many attempts can be in progress, by the parts that were sent and acknowledged.
  std::uint64_t bound() const;

 private:
  struct statement {
    std::uint64_t revision = 0;
    std::uint32_t part = 0;
  };
  struct member {
    bool here = false;
    std::uint64_t wanted = 0;
    std::uint32_t target = 0;  // the part it is to have once there is room
    std::uint32_t part = 0;
    std::uint32_t in_force = 0;     // part as last acknowledged
    std::uint32_t held = 0;         // attempts as last acknowledged
    std::vector<statement> open{};  // sent later; any of them may be in force
    std::uint32_t told_last = 0;    // valid while `ever_told`
    bool ever_told = false;
    moment told_at{};
    std::optional<moment> offered{};  // since when it has been told a part
    std::optional<moment> served{};   // since when it is known to have a part

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
  bool changed_ = false;  // a shard has come or gone
  std::optional<moment> aimed_;
  // If there is less than one for each shard that wants any, the shards take turns.
  std::vector<std::uint32_t> turn_;
  std::optional<std::uint32_t> turn_last_;
  moment turn_began_{};
};

}  // namespace fairlead::core
