#pragma once
// An input as the library that compares it sees it: objects and arrays of texts. The first character of a text says what it stands for, so
// that texts keep U+0000 and numbers of any size keep their value.

#include <nlohmann/json.hpp>
#include <string_view>

namespace fairlead::core {

enum tree_tag : char { tag_null = '0', tag_true = 't', tag_false = 'f', tag_number = 'n', tag_text = 's' };

/// `json` has passed check_json. Of doubled names the last counts. A number is in its canonical spelling.
nlohmann::json read_tree(std::string_view json);

}  // namespace fairlead::core
