#pragma once
// A document made of literals.

#include <map>
#include <string>

#include "actors/core/expression/expression.hpp"

namespace fairlead::core {

class literal_document final : public document {
 public:
  literal_document& with(const std::string& path, std::string json) {
    roots_[path] = std::move(json);
    return *this;
  }

  std::optional<std::string_view> root(std::string_view name, std::string_view member) const override {
    const auto found = roots_.find(std::string(name) + (member.empty() ? "" : "." + std::string(member)));
    if (found == roots_.end()) return std::nullopt;
    return found->second;
  }

  std::vector<std::string> members(std::string_view name) const override {
    std::vector<std::string> out;
    for (const auto& [path, json] : roots_) {
      if (path.rfind(std::string(name) + ".", 0) == 0) out.push_back(path.substr(name.size() + 1));
    }
    return out;
  }

 private:
  std::map<std::string, std::string> roots_;
};

/// A template that is one expression.
inline std::string quoted(const std::string& expression) {
  std::string out = "\"${ ";
  for (const char c : expression) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + " }\"";
}

/// What a plain expression gives, or `error: SENTENCE`.
inline std::string rendered(const std::string& with_json, const document& doc) {
  const auto compiled = input_template::compile(with_json);
  if (!compiled.ok()) return "refused: " + compiled.failure().sentence;
  if (!compiled->plain()) return "not plain";
  const auto out = compiled->render(doc, {});
  return out.ok() ? *out : "error: " + out.failure().sentence;
}

}  // namespace fairlead::core
