#pragma once
// Typed reading of a YAML tree. Every getter that finds something wrong adds a problem with its place and goes on, so that one run
// names everything that is wrong in a file.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/yaml/document.hpp"
#include "app/yaml/path.hpp"

namespace fairlead::app {

/// Line and column of a value in a map, for problems with it.
std::pair<int, int> place_of_entry(const yaml_entry& entry);

/// One value, with its path and the list that problems go to. Cheap to copy; the document must outlive it.
class yaml_node {
 public:
  yaml_node(yaml_document& document, yaml_pointer value, yaml_path where, int line, int column);

  /// The root of a document that has one.
  static yaml_node root(yaml_document& document);

  const yaml_value& value() const { return *value_; }
  const yaml_pointer& tree() const { return value_; }
  /// The dotted key, made anew each time.
  std::string where() const { return where_.text(); }
  int line() const { return line_; }
  int column() const { return column_; }
  void move_to(int line, int column) {
    line_ = line;
    column_ = column;
  }
  bool is_map() const { return value_->kind == yaml_value::kind_type::map; }
  bool is_list() const { return value_->kind == yaml_value::kind_type::list; }
  /// True for a scalar that is exactly this text, quoted or not.
  bool is_word(const char* text) const { return value_->kind == yaml_value::kind_type::scalar && value_->text == text; }

  /// This value's place under a key that it does not have, for saying so.
  yaml_node child(const std::string& key) const;

  /// Adds a problem at this value's place.
  void complain(std::string sentence, std::string remedy = {}) const;
  /// "expected WHAT, found …", where what was found is described.
  void expected(const std::string& what) const;

  /// Each reads this value as one type, or complains and gives nullopt. Ranges include both ends.
  std::optional<std::string> text() const;         // a string of at least one character; 5 and true are none unless quoted
  std::optional<std::string> scalar_text() const;  // any scalar as it is written
  std::optional<bool> boolean() const;
  std::optional<std::int64_t> integer(std::int64_t least, std::int64_t most) const;
  std::optional<double> number(double least, double most) const;
  std::optional<std::int64_t> duration_ms(std::int64_t least, std::int64_t most) const;
  std::optional<std::uint64_t> size_bytes(std::uint64_t least, std::uint64_t most) const;  // 4096, 256KiB, 64MiB, 16GiB, 1TiB
  std::optional<std::size_t> word(const std::vector<std::string>& choices) const;          // index of the choice
  std::optional<std::string> json() const;                                                 // the value as JSON text

  std::vector<yaml_node> items() const;                            // of a list; else complains
  std::vector<std::pair<std::string, yaml_node>> entries() const;  // of a map; else complains
  yaml_node entry(std::size_t index) const;                        // of a map that has it

 private:
  struct level;  // of a value inside this one

  bool append_json(const yaml_value& from, const level* inside, std::string& out) const;
  yaml_path path_of(const level* inside) const;
  std::string found() const;

  yaml_document* document_;
  yaml_pointer value_;
  yaml_path where_;
  int line_;  // where problems are shown
  int column_;
};

/// A map whose keys are all known. Ask for each key, then call finish(), which names the keys nobody asked for. The getters leave `out` as
/// it is when the key is absent or its value is wrong, and return true when they have set it.
class yaml_section {
 public:
  explicit yaml_section(const yaml_node& node);

  const yaml_node& node() const { return node_; }
  std::optional<yaml_node> find(const std::string& key);
  /// As find; a problem at the section's place when the key is absent. `what` completes "expected …".
  std::optional<yaml_node> require(const std::string& key, const std::string& what);

  bool text(const std::string& key, std::string& out);
  bool boolean(const std::string& key, bool& out);
  template <class Integer>
  bool integer(const std::string& key, Integer& out, std::int64_t least, std::int64_t most) {
    return set(find(key), out, [&](const yaml_node& n) { return n.integer(least, most); });
  }
  bool duration_ms(const std::string& key, std::int64_t& out, std::int64_t least, std::int64_t most);
  bool size_bytes(const std::string& key, std::uint64_t& out, std::uint64_t least, std::uint64_t most);
  bool json(const std::string& key, std::string& out);
  template <class Value>
  bool word(const std::string& key, Value& out, const std::vector<std::pair<std::string, Value>>& choices) {
    std::vector<std::string> names;
    for (const auto& choice : choices) names.push_back(choice.first);
    std::size_t index = 0;
    if (!set(find(key), index, [&](const yaml_node& n) { return n.word(names); })) return false;
    out = choices[index].second;
    return true;
  }

  /// Keys that are known to come later: named as such rather than as unknown.
  void not_yet(const std::vector<std::string>& keys);

  /// A key that is known and cannot stand here, whether or not it was asked for.
  void refuse(std::string key, std::string sentence, std::string remedy);

  void finish();

 private:
  struct refused {
    std::string key;
    std::string sentence;
    std::string remedy;
  };

  template <class Out, class Read>
  static bool set(const std::optional<yaml_node>& node, Out& out, Read read) {
    if (!node) return false;
    const auto value = read(*node);
    if (!value) return false;
    out = static_cast<Out>(*value);
    return true;
  }

  yaml_node node_;
  std::vector<std::string> asked_;
  std::vector<std::string> later_;
  std::vector<refused> refused_;
};

}  // namespace fairlead::app
