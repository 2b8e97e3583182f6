#pragma once
// Lineages: which history of a shard somebody speaks of. A shard begins another one when it is restored from a backup or made anew.

#include <cstdint>
#include <string>

#include "messages/common.pb.h"

namespace fairlead {

enum class lineage_order {
  same,
  earlier,
  later,
  conflict,  // made at the same moment, and still another: nobody can say which one holds
};

/// What `one` is beside `other`. A lineage that is not set says nothing, so nothing speaks against it: it comes from a release that knows none.
lineage_order compare(const v1::Lineage& one, const v1::Lineage& other);

/// A new one, made at `now_unix_ms` or right after `former`, whichever is later.
v1::Lineage next_lineage(const v1::Lineage& former, std::int64_t now_unix_ms, std::uint64_t bits);

bool is_set(const v1::Lineage& which);

/// `of 2026-11-22T10:00:00Z (5f0c…)`, for sentences.
std::string to_text(const v1::Lineage& which);

/// Random bits of the system for a new lineage.
std::uint64_t lineage_bits();

}  // namespace fairlead
