#pragma once
// The overlay: what a shard's journal has and its tables do not have yet.
//
// Commits gather in a generation. The applier seals the generation, brings it to the tables in one transaction, and drops it. A generation
// has a greatest size, because a transaction needs room for each page that it changes before any page becomes free. A
// generation is applied whole, and runs of different generations are never merged: so a reader that takes the overlay first and the
// tables afterwards can drop each generation that the tables have, and sees one committed state.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "store/journaled/run.hpp"
#include "store/meta_rows.hpp"

namespace fairlead::store {

/// Immutable.
struct generation {
  std::vector<std::shared_ptr<const run>> runs;  // oldest first
  entry_position last;
  std::size_t bytes = 0;
  std::size_t operations = 0;
  bool is_closed = false;  // nothing comes behind `last`
};

/// What a reader holds: generations, oldest first.
using overlay_view = std::vector<std::shared_ptr<const generation>>;

/// Thread-safe; a reader takes a pointer and is never waited for.
class overlay {
 public:
  /// A generation with so many operations grows no more.
  explicit overlay(std::size_t most_operations) : most_operations_(most_operations) {}

  /// Adds a run that ends at `last` to the newest generation. `closes`: what comes next is in another one.
  void add(std::shared_ptr<const run> what, const entry_position& last, bool closes = false);
  /// Seals what has gathered and gives it, or what was sealed before and is not dropped yet; null: there is nothing.
  std::shared_ptr<const generation> seal();
  /// The sealed generation is in the tables.
  void drop_sealed();
  /// The tables have others' instead.
  void clear();

  std::shared_ptr<const overlay_view> view() const;
  /// Of all generations: bytes in memory.
  std::size_t bytes() const;
  std::size_t operations() const;

 private:
  void show(std::shared_ptr<const overlay_view> next);

  const std::size_t most_operations_;
  std::mutex changing_;       // of those who add, seal and drop; before guard_
  bool sealed_ = false;       // the first generation of the view is sealed
  mutable std::mutex guard_;  // covers the pointer alone
  std::shared_ptr<const overlay_view> view_ = std::make_shared<overlay_view>();
};

}  // namespace fairlead::store
