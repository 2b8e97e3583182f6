#pragma once
// Questions about the items of a step with `for_each` (messages/items.hpp), and slices of its list.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "messages/items.hpp"
#include "messages/workflow.pb.h"

namespace fairlead::core {

inline constexpr std::uint32_t most_item_rounds = 100;

/// How many items are in each state.
struct item_counts {
  std::uint32_t in_progress = 0;  // running, parked
  std::uint32_t undoing = 0;      // likewise with an undo
  std::uint32_t parked = 0;       // of both
  std::uint32_t completed = 0;
  std::uint32_t failed = 0;  // failed, left_behind, not_begun
  std::uint32_t left_behind = 0;
  std::uint32_t undone = 0;
  std::uint32_t not_undone = 0;
  std::uint32_t to_begin = 0;  // those that have not begun included

  /// Their tasks say when they end.
  std::uint32_t out() const { return in_progress + undoing; }
};

item_counts count_items(const v1::Items& items);
/// The first that has begun and is in the state.
std::optional<std::uint32_t> first_item(const v1::Items& items, item_state state);
/// `9,980 completed, 3 failed, 17 in progress`; what is 0 is left out.
std::string item_words(const v1::Items& items);

/// Undoing the step undoes this item: it is completed, or has left something behind. Or, where the undo says so, a task of it has failed,
/// also if the item was to begin again and has not.
bool is_item_to_be_undone(const v1::StepDefinition& definition, const v1::Items& items, std::uint32_t item);

/// The element of a JSON array that begins at or behind byte `at` of its text, 0 being its bracket, and the byte behind the element;
/// nullopt: there is none. `array` must be valid.
struct list_element {
  std::string_view text;
  std::size_t end = 0;
};
std::optional<list_element> list_element_at(std::string_view array, std::size_t at);

/// nullopt: `value`, which is valid JSON, is no array.
std::optional<std::size_t> list_size(std::string_view value);

}  // namespace fairlead::core
