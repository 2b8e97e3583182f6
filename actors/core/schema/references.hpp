#pragma once
// The definitions of a schema and the `$ref`s that name them: each leads to one, none to itself, and with all of them followed a schema is
// not too deep.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/core/schema/keywords.hpp"

namespace fairlead::core {

/// A definition that a `$ref` names: the keyword that holds it, and its name. Both are empty if the text names none.
struct definition_name {
  std::string keyword;
  std::string name;
};
definition_name read_reference(std::string_view reference);

/// Filled while a schema is read, and checked at the end.
class schema_references {
 public:
  schema_references();
  schema_references(const schema_references&) = delete;
  schema_references& operator=(const schema_references&) = delete;

  /// A definition that the schema has. All of them are told before the first reference.
  void define(const std::string& keyword, const std::string& name, std::string place);

  /// What is told from now on is in this definition.
  void enter(const std::string& keyword, const std::string& name);
  /// From now on it is outside of definitions, as at the beginning.
  void leave();
  bool is_in_definition() const { return at_ != &scopes_.at({}); }

  /// There is a subschema of this depth, counted from the definition, or from the schema.
  void reach(std::size_t depth);
  /// A subschema of this depth is a reference.
  void refer(definition_name to, std::size_t depth, std::string place);

  /// References to definitions that are not there, at most `most`.
  std::vector<schema_problem> missing(std::size_t most) const;
  /// What is wrong with references that all lead somewhere; `at` is the place of the schema. At most one problem.
  std::vector<schema_problem> follow(const std::string& at);

 private:
  using definition = std::pair<std::string, std::string>;  // keyword and name; both empty: the schema itself

  struct reference {
    definition to;
    std::size_t depth = 0;  // of the subschema that holds it
    std::string place;
  };

  /// What stands in one definition, or in the schema outside of definitions.
  struct scope {
    std::size_t depth = 0;  // of its deepest subschema
    std::vector<reference> references;
    std::string place;
    std::size_t resolved = 0;  // depth with references followed; 0: not known yet
    bool under_way = false;
  };

  bool resolve(scope& of, const definition& name, std::vector<schema_problem>& out);

  std::map<definition, scope> scopes_;
  scope* at_;
  std::vector<std::string> path_;  // of definitions that resolve() is in
};

}  // namespace fairlead::core
