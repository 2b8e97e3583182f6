#pragma once
// Lines and columns of what other checks of a file name by its dotted key.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "app/yaml/reader.hpp"

namespace fairlead::app {

/// Keeps the values of the keys that it is told. What is below one of them is looked for when it is asked for.
class yaml_places {
 public:
  void add(const std::string& where, const yaml_node& node);

  /// Line and column of a key, or of the nearest one around it.
  std::pair<int, int> of(std::string_view where) const;

 private:
  struct known {
    std::pair<int, int> at;
    yaml_pointer value;
  };

  static std::pair<int, int> below(const known& of, std::string_view rest);

  std::map<std::string, known, std::less<>> all_;
};

}  // namespace fairlead::app
