#include "app/workflow_test/matching.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/workflow_test/test_file.hpp"

namespace fairlead::app {

namespace {

bool is_part(const nlohmann::json& expected, const nlohmann::json& found) {
  if (expected.is_object() && found.is_object()) {
    for (const auto& [name, value] : expected.items()) {
      const auto there = found.find(name);
      if (there == found.end() || !is_part(value, *there)) return false;
    }
    return true;
  }
  if (expected.is_array() && found.is_array())
    return expected.size() == found.size() && std::equal(expected.begin(), expected.end(), found.begin(), is_part);
  return expected == found;
}

nlohmann::json parsed(const std::string& text) { return nlohmann::json::parse(text, nullptr, false); }

}  // namespace

bool names_match(const std::vector<std::string>& expected, const std::vector<std::string>& names) {
  // may_end[i]: the names so far can be what the first i expected ones stand for.
  std::vector<bool> may_end(expected.size() + 1, false);
  const auto pass_over_others = [&] {
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (may_end[i] && expected[i] == others_word) may_end[i + 1] = true;
  };
  may_end[0] = true;
  pass_over_others();
  for (const auto& name : names) {
    std::vector<bool> next(expected.size() + 1, false);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (!may_end[i]) continue;
      if (expected[i] == others_word) next[i] = true;
      if (expected[i] == name) next[i + 1] = true;
    }
    may_end = std::move(next);
    pass_over_others();
  }
  return may_end.back();
}

bool same_names(std::vector<std::string> expected, std::vector<std::string> names) {
  for (auto* one : {&expected, &names}) {
    std::sort(one->begin(), one->end());
    one->erase(std::unique(one->begin(), one->end()), one->end());
  }
  return expected == names;
}

bool json_is(const std::string& expected, const std::string& text) { return parsed(expected) == parsed(text); }

bool json_has(const std::string& expected, const std::string& text) { return is_part(parsed(expected), parsed(text)); }

std::string list_words(const std::vector<std::string>& names) {
  std::string out = "[";
  for (const auto& name : names) out += (out.size() > 1 ? ", " : "") + name;
  return out + "]";
}

}  // namespace fairlead::app
