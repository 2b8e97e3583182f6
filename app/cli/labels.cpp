#include "app/cli/labels.hpp"

#include <set>

namespace fairlead::app {

result<std::vector<v1::Label>> parse_labels(const std::vector<std::string>& texts) {
  std::vector<v1::Label> out;
  std::set<std::string> keys;
  for (const auto& text : texts) {
    auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return error{v1::ERROR_CODE_INVALID_ARGUMENT, "'" + text + "' is not a label", "Write it as key=value"};
    v1::Label label;
    label.set_key(text.substr(0, equals));
    label.set_value(text.substr(equals + 1));
    if (!keys.insert(label.key()).second)
      return error{v1::ERROR_CODE_INVALID_ARGUMENT, "The label '" + label.key() + "' is given twice", "Give each key once"};
    out.push_back(std::move(label));
  }
  return out;
}

}  // namespace fairlead::app
