#pragma once
// What the tests of files compare: every problem as a person sees it, without the file's name.

#include <string>
#include <vector>

#include "app/yaml/document.hpp"

namespace fairlead::app {

inline std::vector<std::string> shown(const std::vector<problem>& problems) {
  std::vector<std::string> out;
  for (const auto& p : problems) {
    auto text = to_text(p);
    text.erase(0, p.file.size() + 1);
    out.push_back(text.front() == ' ' ? text.substr(1) : text);
  }
  return out;
}

using lines = std::vector<std::string>;

}  // namespace fairlead::app
