#pragma once
// The log of a shard as whoever decides it, consensus (actors/core/raft), has it written and gets it back after a start.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "store/journal/format.hpp"

namespace fairlead::store {

/// An entry, or a record of type hard, cut or clock; index, term and payload as store/journal/format.hpp says.
struct log_record {
  record_type type = record_type::batch;
  std::uint64_t index = 0;
  std::uint64_t term = 0;
  std::int64_t stamp_ms = 0;
  std::shared_ptr<const std::string> payload;  // null: empty
};

/// Where a log begins: behind this entry.
struct log_base {
  std::uint64_t index = 0;
  std::uint64_t term = 0;
  std::int64_t stamp_ms = 0;
  std::string members;  // v1::ShardMembers as of there
};

/// What a journal says of a shard's log.
struct recovered_log {
  std::uint64_t term = 0;
  std::uint64_t vote = 0;
  // The last entry before `entries`.
  std::uint64_t base_index = 0;
  std::uint64_t base_term = 0;
  std::int64_t base_stamp_ms = 0;
  std::string base_members;  // v1::ShardMembers as of there; empty: those with which the replica was made
  std::vector<log_record> entries;
  std::uint64_t applied_index = 0;  // durable in the tables
};

}  // namespace fairlead::store
