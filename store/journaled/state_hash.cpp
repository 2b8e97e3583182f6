#include "store/journaled/state_hash.hpp"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "store/integers.hpp"
#include "store/keys.hpp"
#include "store/meta_rows.hpp"

namespace fairlead::store {

bool is_of_one_copy(std::string_view meta_key) {
  constexpr std::array rows{meta::schema_row,  meta::boot_row,      meta::restoring_row,  meta::counted_row,
                            meta::journal_row, meta::applied_row,   meta::settled_row,    meta::shard_time_row,
                            meta::replica_row, meta::installed_row, meta::clock_ahead_row};
  return std::any_of(rows.begin(), rows.end(), [&](std::string_view row) { return meta_key == keys::meta(row); });
}

struct state_reader::hasher {
  hasher() : state(XXH3_createState()) {
    if (state == nullptr) throw std::bad_alloc();
    XXH3_128bits_reset(state);
  }
  ~hasher() { XXH3_freeState(state); }
  hasher(const hasher&) = delete;
  hasher& operator=(const hasher&) = delete;

  void add(std::string_view bytes) { XXH3_128bits_update(state, bytes.data(), bytes.size()); }

  XXH3_state_t* state;
};

state_reader::state_reader(std::unique_ptr<snapshot> of) : of_(std::move(of)), hasher_(std::make_unique<hasher>()) {}
state_reader::~state_reader() = default;
state_reader::state_reader(state_reader&&) noexcept = default;
state_reader& state_reader::operator=(state_reader&&) noexcept = default;

result<bool> state_reader::step(std::size_t bytes) {
  const auto until = bytes_ + bytes;
  std::string head;
  while (table_ < table_count) {
    const auto where = static_cast<table>(table_);
    bool is_enough = false;
    const auto begin = std::exchange(from_, {});
    const auto read = of_->scan(where, begin, {}, [&](std::string_view key, std::string_view payload) {
      if (bytes_ >= until) {
        from_ = key;
        is_enough = true;
        return false;
      }
      bytes_ += key.size() + payload.size();
      if (where == table::meta && is_of_one_copy(key)) return true;
      head.clear();
      append_big_endian(head, static_cast<std::uint32_t>(table_));
      append_big_endian(head, static_cast<std::uint32_t>(key.size()));
      head += key;
      append_big_endian(head, static_cast<std::uint64_t>(payload.size()));
      hasher_->add(head);
      hasher_->add(payload);
      return true;
    });
    if (!read) return read.failure();
    if (is_enough) return false;
    ++table_;
  }
  return true;
}

state_hash state_reader::hash() const {
  const auto value = XXH3_128bits_digest(hasher_->state);
  return {value.low64, value.high64};
}

}  // namespace fairlead::store
