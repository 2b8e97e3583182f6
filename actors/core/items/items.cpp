#include "actors/core/items/items.hpp"

#include <algorithm>
#include <array>

#include "actors/core/text/json.hpp"

namespace fairlead::core {

namespace {

/// 12345 as `12,345`.
std::string grouped(std::uint32_t number) {
  auto out = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(out.size()) - 3; at > 0; at -= 3) out.insert(static_cast<std::size_t>(at), ",");
  return out;
}

/// Behind the value that begins at `at`.
std::size_t skip_value(std::string_view text, std::size_t at) {
  const auto* p = text.data() + at;
  const auto* const end = text.data() + text.size();
  std::size_t depth = 0;
  while (p < end) {
    if (*p == '"') {
      p = skip_json_string(p, end);
    } else if (*p == '[' || *p == '{') {
      ++depth;
      ++p;
    } else if (*p == ']' || *p == '}') {
      if (depth == 0) break;
      --depth;
      ++p;
    } else if (*p == ',' && depth == 0) {
      break;
    } else {
      ++p;
      continue;
    }
    if (depth == 0) break;
  }
  return static_cast<std::size_t>(p - text.data());
}

}  // namespace

item_counts count_items(const v1::Items& items) {
  // By runs: this is asked of 10,000 items with each that ends, and neighbours are mostly in the same state.
  std::array<std::uint32_t, 256> in{};
  const auto& states = items.states();
  for (std::size_t at = 0, end = 0; at < states.size(); at = end) {
    end = std::min(states.find_first_not_of(states[at], at), states.size());
    in[static_cast<unsigned char>(states[at])] += static_cast<std::uint32_t>(end - at);
  }
  const auto number = [&in](item_state state) { return in[static_cast<std::size_t>(state)]; };
  item_counts out;
  out.in_progress = number(item_state::running) + number(item_state::parked);
  out.undoing = number(item_state::undoing) + number(item_state::undoing_parked);
  out.parked = number(item_state::parked) + number(item_state::undoing_parked);
  out.completed = number(item_state::completed);
  out.left_behind = number(item_state::left_behind);
  out.failed = number(item_state::failed) + out.left_behind + number(item_state::not_begun);
  out.undone = number(item_state::undone);
  out.not_undone = number(item_state::not_undone);
  out.to_begin = number(item_state::to_begin) + items.count() - std::min(items.count(), begun_items(items));
  return out;
}

std::optional<std::uint32_t> first_item(const v1::Items& items, item_state state) {
  const auto found = items.states().find(static_cast<char>(state));
  if (found == std::string::npos) return std::nullopt;
  return static_cast<std::uint32_t>(found);
}

std::string item_words(const v1::Items& items) {
  const auto counts = count_items(items);
  std::string out;
  const auto add = [&](std::uint32_t number, const char* word) {
    if (number != 0) out += (out.empty() ? "" : ", ") + grouped(number) + " " + word;
  };
  add(counts.completed, "completed");
  add(counts.failed, "failed");
  add(counts.in_progress, "in progress");
  add(counts.undoing, "being undone");
  add(counts.undone, "undone");
  add(counts.not_undone, "not undone");
  add(counts.to_begin, "to begin");
  return out;
}

bool is_item_to_be_undone(const v1::StepDefinition& definition, const v1::Items& items, std::uint32_t item) {
  if (definition.undo().none()) return false;
  const auto state = item_state_of(items, item);
  const auto round = item_round(items, item);
  const auto again = (state == item_state::to_begin && round > 0) || (state == item_state::not_begun && round > 1);
  const auto failed = definition.undo().also_if_failed() && (state == item_state::failed || again);
  return state == item_state::completed || state == item_state::left_behind || failed;
}

std::optional<list_element> list_element_at(std::string_view array, std::size_t at) {
  if (at == 0) at = array.find('[') + 1;
  at = array.find_first_not_of(" \t\r\n,", at);
  if (at == std::string_view::npos || array[at] == ']') return std::nullopt;
  const auto end = skip_value(array, at);
  return list_element{trim_json(array.substr(at, end - at)), end};
}

std::optional<std::size_t> list_size(std::string_view value) {
  value = trim_json(value);
  if (value.empty() || value.front() != '[') return std::nullopt;
  std::size_t out = 0;
  for (auto one = list_element_at(value, 0); one; one = list_element_at(value, one->end)) ++out;
  return out;
}

}  // namespace fairlead::core
