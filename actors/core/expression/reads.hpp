#pragma once
// The parts of a document that a template's jq expressions read, as one tree, and the document cut down to them.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/core/expression/check.hpp"
#include "actors/core/expression/expression.hpp"

namespace fairlead::core {

class read_tree {
 public:
  void add(const std::string& expression, const checked_expression& checked);

  /// The JSON object for the worker. An error names a number that jq would change and the expression that reads the number.
  result<std::string> cut(const document& doc) const;

 private:
  struct node {
    bool whole = false;
    std::map<std::string, node, std::less<>> below;
  };
  struct reader {
    std::string expression;
    checked_expression checked;
  };

  status append_root(std::string& out, const document& doc, const std::string& name, const node& what) const;
  status append(std::string& out, std::string_view value, const std::string& path, const node& what) const;
  status append_whole(std::string& out, std::string_view value, const std::string& path) const;
  std::string reader_of(const std::string& path) const;

  node top_;
  std::vector<reader> readers_;
};

}  // namespace fairlead::core
