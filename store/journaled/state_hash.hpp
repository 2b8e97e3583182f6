#pragma once
// By what replicas of a shard compare their states: a hash of all rows that are the shard's and not of one copy alone. Whoever computes it reads
// everything, so it finds damage, too.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "messages/error.hpp"
#include "store/store.hpp"

namespace fairlead::store {

/// XXH3_128 over each row in the order of tables and keys: table u32, length of the key u32, key, length of the payload u64, payload; integers
/// are big-endian.
struct state_hash {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const state_hash&, const state_hash&) = default;
};

/// Of a row of the meta table that each copy of a shard has for itself.
bool is_of_one_copy(std::string_view meta_key);

/// Reads in steps, so that whoever does that has time for other work, and the disk for other readers. One thread at a time.
class state_reader {
 public:
  explicit state_reader(std::unique_ptr<snapshot> of);
  ~state_reader();
  state_reader(state_reader&&) noexcept;
  state_reader& operator=(state_reader&&) noexcept;

  /// Reads on, some `bytes`. True: all is read. Error: corrupt, a value is not what was written.
  result<bool> step(std::size_t bytes);
  /// Of what was read.
  state_hash hash() const;
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  struct hasher;

  std::unique_ptr<snapshot> of_;
  std::unique_ptr<hasher> hasher_;
  int table_ = 0;
  std::string from_;  // key of the next row in it
  std::uint64_t bytes_ = 0;
};

}  // namespace fairlead::store
