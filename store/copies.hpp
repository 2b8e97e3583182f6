#pragma once
// Copies of a shard's tables, which go to another node that lacks too many entries to catch up by them.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "messages/error.hpp"
#include "store/store.hpp"

namespace fairlead::store {

class tables;

/// The tables as of one transaction, as a string of bytes. It stays the same while it is read. One thread at a time.
class tables_copy {
 public:
  virtual ~tables_copy() = default;
  virtual std::uint64_t bytes() const = 0;
  /// At most `most` bytes from `offset` on; fewer only at the end.
  virtual result<std::string> read(std::uint64_t offset, std::size_t most) const = 0;
  /// What it says of itself.
  virtual std::unique_ptr<snapshot> read_tables() const = 0;
};

/// A copy that comes in, beside the tables in whose place it is to be put. Without take_over() nothing of it stays. One thread at a time.
class incoming_copy {
 public:
  virtual ~incoming_copy() = default;
  /// Bytes of tables_copy, in order.
  virtual status write(std::string_view bytes) = 0;
  /// So many have come.
  virtual std::uint64_t bytes() const = 0;
  /// All have come: opens them, for whoever looks at them and writes to them. Error: corrupt.
  virtual result<tables*> open() = 0;
  /// Puts them in the place of the tables, durably: after a crash in the middle either those or these are there, whole. Whoever reads the former
  /// ones goes on with them. Nothing may be written meanwhile; afterwards this is empty.
  virtual status take_over() = 0;
};

}  // namespace fairlead::store
