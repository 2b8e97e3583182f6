#include "app/yaml/path.hpp"

#include <string_view>
#include <utility>
#include <vector>

#include "actors/core/text/text.hpp"

namespace fairlead::app {

yaml_path::yaml_path(const std::string& above) {
  if (!above.empty()) *this = add("." + above);
}

yaml_path yaml_path::add(std::string part) const {
  yaml_path out;
  out.last_ = std::make_shared<const link>(link{last_, std::move(part)});
  return out;
}

yaml_path yaml_path::below(const std::string& key) const { return add("." + core::shown_key(key)); }

yaml_path yaml_path::item(std::size_t index) const { return add("[" + std::to_string(index) + "]"); }

std::string yaml_path::text() const {
  std::vector<const link*> links;
  for (const auto* one = last_.get(); one != nullptr; one = one->above.get()) links.push_back(one);
  std::string out;
  for (auto one = links.rbegin(); one != links.rend(); ++one) {
    std::string_view part{(*one)->part};
    if (out.empty() && part.front() == '.') part.remove_prefix(1);
    out += part;
  }
  return out;
}

}  // namespace fairlead::app
