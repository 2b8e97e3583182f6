#include "app/yaml/labels.hpp"

#include "actors/core/text/labels.hpp"

namespace fairlead::app {

std::vector<v1::Label> read_labels(const yaml_node& node) {
  std::vector<v1::Label> out;
  const auto entries = node.entries();
  if (entries.size() > core::max_labels) node.complain("more than " + std::to_string(core::max_labels) + " labels");
  for (const auto& [key, value] : entries) {
    // Numbers and truth values are text here: a label is compared as it is written.
    auto text = value.scalar_text();
    if (!text) continue;
    v1::Label label;
    label.set_key(key);
    label.set_value(std::move(*text));
    if (core::valid_label(label)) {
      out.push_back(std::move(label));
    } else {
      value.complain(std::string{"expected "} + core::label_rule);
    }
  }
  return out;
}

}  // namespace fairlead::app
