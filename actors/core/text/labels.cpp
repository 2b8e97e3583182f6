#include "actors/core/text/labels.hpp"

#include <algorithm>

#include "actors/core/text/text.hpp"

namespace fairlead::core {

namespace {

bool plain(const std::string& text) {
  return clean_text(text, text.size()) == text &&
         std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

}  // namespace

bool valid_label(const v1::Label& label) {
  return !label.key().empty() && label.key().size() <= max_label_key_bytes && label.value().size() <= max_label_value_bytes &&
         label.key().find('=') == std::string::npos && plain(label.key()) && plain(label.value());
}

}  // namespace fairlead::core
