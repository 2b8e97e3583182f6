#pragma once
// Plain paths: `.input.items[0].sku`, `.steps["ship-it"].id?`. They are looked up in the raw JSON of a document's roots, and the value is
// copied verbatim.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/expression/expression.hpp"

namespace fairlead::core {

/// One part of a path: into an object by key or into an array by index (negative: from the end).
struct path_part {
  bool is_key = true;
  std::string key;
  std::int64_t index = 0;
};

struct plain_path {
  std::vector<path_part> parts;  // the first is the root's name
  bool optional = false;         // ends in `?`
};

/// `item` and `index`: what only a step with `for_each` can read. Whether an expression stands in one is checked with its step.
bool is_root_of_item(std::string_view name);

/// The number of parts that name the root itself: `.input` 1, `.steps.reserve` 2; 0: no root has that name.
std::size_t root_size(std::string_view name);

/// The sentence for an unknown root; empty if `parts` begin well. Also refuses fields that `.task` and `.launch` never have.
std::string refuse_root(const std::vector<path_part>& parts);

/// nullopt: `text` (without outer white space) is no plain path that names a whole root; it may still be jq.
std::optional<plain_path> parse_plain_path(std::string_view text);

/// The value verbatim; nullopt: there is none.
std::optional<std::string_view> find_path(const plain_path& path, const document& doc);

/// Why `find_path` found nothing: names the part that is missing or has another type than the path expects.
std::string explain_missing(const plain_path& path, const document& doc);

/// The first `count` parts as jq spells them.
std::string spell_path(const std::vector<path_part>& parts, std::size_t count);

}  // namespace fairlead::core
