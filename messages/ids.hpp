#pragma once
// Strong types for integers and strings that could otherwise be mixed up. C++17.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace fairlead {

/// A value of `T` that can only be compared with, and assigned from, its own kind.
template <class Tag, class T>
class strong_id {
 public:
  using value_type = T;

  strong_id() = default;
  explicit strong_id(T value) : value_(std::move(value)) {}

  const T& get() const noexcept { return value_; }

  friend bool operator==(const strong_id& a, const strong_id& b) { return a.value_ == b.value_; }
  friend bool operator!=(const strong_id& a, const strong_id& b) { return !(a == b); }
  friend bool operator<(const strong_id& a, const strong_id& b) { return a.value_ < b.value_; }

 private:
  T value_{};
};

/// A client's name for a task: its own id or a UUIDv7, 1 to 256 bytes of [A-Za-z0-9._:@/-]; or the id of a child.
using task_id = strong_id<struct task_id_tag, std::string>;
/// The store's number for a task; grows with time, never used again.
using task_number = strong_id<struct task_number_tag, std::uint64_t>;
/// Rises durably with every leader and every start of a shard.
using epoch = strong_id<struct epoch_tag, std::uint64_t>;
/// Position of a batch in the shard's history; rises by one.
using batch_sequence = strong_id<struct batch_sequence_tag, std::uint64_t>;

/// True for an id that a task may have: one that a client may choose, or that of a child, the task of a step with a sub-workflow. Such an id
/// is `PARENT/STEP~N`, of at most 480 bytes.
bool possible_task_id(const std::string& id);

/// True for an id a client may choose.
bool valid_task_id(const std::string& id);

/// The ids of children grow with each level.
inline constexpr std::size_t max_known_id_bytes = 480;

/// A UUIDv7 (RFC 9562, section 5.7): ids made later sort later, to the millisecond, and within one process strictly.
/// Thread-safe. `unix_ms` is the current time.
std::string make_uuid_v7(std::int64_t unix_ms);

/// From the system's source of randomness. Thread-safe.
std::uint64_t random_bits();

}  // namespace fairlead

template <class Tag, class T>
struct std::hash<fairlead::strong_id<Tag, T>> {
  std::size_t operator()(const fairlead::strong_id<Tag, T>& id) const noexcept { return std::hash<T>{}(id.get()); }
};
