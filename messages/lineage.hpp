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
  conflict,  // made at the same moment, yet different: neither is known to hold
};

/// `one` in relation to `other`. A lineage that is not set counts as the same: it comes from a release without lineages.
lineage_order compare(const v1::Lineage& one, const v1::Lineage& other);

/// A new lineage, made at `now_unix_ms` or right after `former`, whichever is later.
v1::Lineage next_lineage(const v1::Lineage& former, std::int64_t now_unix_ms, std::uint64_t bits);

bool is_set(const v1::Lineage& which);

/// `of 2026-11-22T10:00:00Z (5f0c…)`, for sentences.
std::string to_text(const v1::Lineage& which);

}  // namespace fairlead
