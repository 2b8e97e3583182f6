#pragma once
// Lineages: the histories of a shard. A shard begins a new lineage when it is restored from a backup or made anew.

#include <cstdint>
#include <string>

#include "messages/common.pb.h"

namespace fairlead {

enum class lineage_order {
  same,
  earlier,
  later,
  conflict,  // made at the same moment, yet different, or begun apart from each other: neither is known to hold
};

/// `one` in relation to `other`: the later one counts. But what began on an empty store does not count beside an earlier one that several nodes
/// hold: of one node alone, it was to join them, and was started without that; of several, they conflict. A lineage that is not set counts as
/// the same: it comes from a release without lineages.
lineage_order compare(const v1::Lineage& one, const v1::Lineage& other);

/// The lineage of a restore or a recovery, made at `now_unix_ms` or right after `former`, whichever is later.
v1::Lineage next_lineage(const v1::Lineage& former, std::int64_t now_unix_ms, std::uint64_t bits);

/// The lineage of a shard that begins on an empty store.
v1::Lineage first_lineage(std::int64_t now_unix_ms, std::uint64_t bits);

bool is_set(const v1::Lineage& which);
/// A restore or a recovery has begun it, and not an empty store.
bool is_restored(const v1::Lineage& which);

/// `of 2026-11-22T10:00:00Z (5f0c…)`, for sentences.
std::string to_text(const v1::Lineage& which);

}  // namespace fairlead
