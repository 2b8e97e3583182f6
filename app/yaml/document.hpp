#pragma once
// A YAML file as a tree of values that know where they stand. yaml-cpp parses; what it lets pass in silence (duplicate keys, a quote that
// is never closed, bytes that are not text) is found here. Its headers appear in document.cpp and nowhere else.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fairlead::app {

/// Something wrong in a file a person wrote.
struct problem {
  std::string file;
  int line = 0;          // from 1; 0: the file as a whole
  int column = 0;        // from 1, in characters
  std::string where;     // dotted key: `steps.ship.timeout`; may be empty
  std::string sentence;  // without a full stop
  std::string remedy;    // may be empty
};

/// `file:line:column: where: sentence`, followed by `; remedy` when there is one.
std::string to_text(const problem& what);

struct yaml_value;
using yaml_pointer = std::shared_ptr<const yaml_value>;

struct yaml_entry {
  std::string key;
  int line = 0;
  int column = 0;
  yaml_pointer value;
};

struct yaml_value {
  enum class kind_type { null, scalar, list, map };
  kind_type kind = kind_type::null;
  int line = 0;
  int column = 0;
  bool written = true;  // false: a null that comes from nothing being there (`timeout:`)
  bool quoted = false;  // a scalar in quotes, a block scalar or one tagged !!str: text whatever it looks like
  std::string text;     // of a scalar
  std::vector<yaml_pointer> items;
  std::vector<yaml_entry> entries;  // in the order of the file, keys unique
  std::size_t nodes = 1;            // in the tree below, aliases counted as often as they are used
  int height = 1;
};

/// Bounds on what is read. An alias counts with everything it stands for, so nested aliases cannot blow up.
inline constexpr std::size_t max_yaml_bytes = 1'048'576;
inline constexpr std::size_t max_yaml_nodes = 100'000;
inline constexpr int max_yaml_depth = 64;

/// How many problems of a file are kept. Each has its path, and there may be one for each value.
inline constexpr std::size_t max_yaml_problems = 1'000;

struct yaml_document {
  std::string file;   // as given, for problems
  yaml_pointer root;  // null when `problems` says why nothing could be read
  std::vector<problem> problems;
  std::size_t more_problems = 0;  // that are not in `problems`

  /// True when one more problem can be kept. In place of the first that cannot, one is added that only says so; the others are counted.
  bool has_room(int line, int column);
};

/// Reads exactly one document. `root` may be there beside problems (duplicate keys), so that more of them can be found.
/// `lines_before`: lines of the file that stand above `text`.
yaml_document parse_yaml(const std::string& file, const std::string& text, int lines_before = 0);

/// The bytes of a file of at most max_yaml_bytes, or nullopt and one problem.
std::optional<std::string> read_text_file(const std::string& path, std::vector<problem>& problems);

/// `a.b`, or `b` when `parent` is empty.
std::string dotted(const std::string& parent, const std::string& key);

}  // namespace fairlead::app
