#pragma once
// Whether the replicas of a shard have the same state: when that is to be looked at, and what is to be taken from their answers. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "messages/replica.pb.h"

namespace fairlead::core {

/// States are compared so often, and sooner if they were not the same.
inline constexpr std::int64_t compare_every_ms = 24 * 3'600'000;
inline constexpr std::int64_t compare_again_ms = 3'600'000;
/// The first time, once a leader has led for so long.
inline constexpr std::int64_t compare_first_ms = 600'000;

/// It was asked for, and has not ended.
inline bool in_progress(const v1::StateComparison& what) { return what.number() != 0 && what.ended_at_unix_ms() == 0; }
/// Whether another is to begin by itself. `last`: none, or one that has ended. `led_ms`: for how long the leader has led.
bool is_due(const std::optional<v1::StateComparison>& last, std::int64_t now_unix_ms, std::int64_t led_ms);

struct replica_answer {
  std::uint64_t replica = 0;
  std::string node;
  bool votes = false;
  /// Of its state as of the entry; nullopt: it is not known.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> hash;
  /// The last entry of the copy that it has got last of another replica's state; 0: it never got one.
  std::uint64_t copied_index = 0;
};

/// `asked`, as it has ended. `leader`: the replica with which the others are compared where no majority of the votes has the same state. A copy says
/// nothing of which state is right: it has that of the replica that gave it. So it counts from when its state was known to be right.
v1::StateComparison ended(v1::StateComparison asked, std::uint64_t index, const std::vector<replica_answer>& all, std::uint64_t leader,
                          std::int64_t now_unix_ms);

/// Whether all that have answered have the same state.
bool is_same(const v1::StateComparison& what);
/// What the comparison says against a replica, for `node n3: …`; empty: nothing.
std::string difference_of(const v1::StateComparison& what, std::uint64_t replica);

}  // namespace fairlead::core
