#include "app/yaml/places.hpp"

#include <charconv>

#include "actors/core/text/text.hpp"

namespace fairlead::app {

namespace {

/// The entry that `rest` begins with. Keys may have dots, so the longest one counts.
const yaml_entry* entry_at(const yaml_value& map, std::string_view rest, std::size_t& size) {
  const yaml_entry* out = nullptr;
  for (const auto& entry : map.entries) {
    const auto key = core::shown_key(entry.key);
    const bool whole = rest.starts_with(key) && (rest.size() == key.size() || rest[key.size()] == '.' || rest[key.size()] == '[');
    if (!whole || (out != nullptr && key.size() <= size)) continue;
    out = &entry;
    size = key.size();
  }
  return out;
}

}  // namespace

void yaml_places::add(const std::string& where, const yaml_node& node) { all_[where] = {{node.line(), node.column()}, node.tree()}; }

std::pair<int, int> yaml_places::of(std::string_view where) const {
  for (auto around = where;;) {
    if (const auto found = all_.find(around); found != all_.end()) return below(found->second, where.substr(around.size()));
    if (around.empty()) return {1, 1};
    const auto cut = around.find_last_of(".[");
    around = around.substr(0, cut == std::string_view::npos ? 0 : cut);
  }
}

std::pair<int, int> yaml_places::below(const known& of, std::string_view rest) {
  auto at = of.at;
  const auto* value = of.value.get();
  while (!rest.empty()) {
    if (value->kind == yaml_value::kind_type::map && rest.front() == '.') {
      std::size_t size = 0;
      const auto* entry = entry_at(*value, rest.substr(1), size);
      if (entry == nullptr) return at;
      at = place_of_entry(*entry);
      value = entry->value.get();
      rest.remove_prefix(1 + size);
    } else if (value->kind == yaml_value::kind_type::list && rest.front() == '[') {
      std::size_t index = 0;
      const auto [end, failure] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), index);
      if (failure != std::errc{} || end == rest.data() + rest.size() || *end != ']' || index >= value->items.size()) return at;
      value = value->items[index].get();
      at = {value->line, value->column};
      rest.remove_prefix(static_cast<std::size_t>(end - rest.data()) + 1);
    } else {
      return at;
    }
  }
  return at;
}

}  // namespace fairlead::app
