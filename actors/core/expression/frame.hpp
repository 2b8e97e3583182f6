#pragma once
// The state for each open bracket while an expression is checked. Only for check.cpp.

#include <cstddef>

namespace fairlead::core {

/// The value of `.` at a place of the expression.
enum class dot {
  document,  // the whole document, for certain
  unknown,   // perhaps the document: inside arguments and definitions
  other      // a value after a pipe, which is the document only if something before it read everything
};

/// A stretch is the part of an expression between commas, pipes and brackets. A `//`, `?`, `try` or assignment excuses all paths of its
/// stretch, and of all stretches inside its brackets, from being required.
struct stretch {
  std::size_t parent;
  bool excused = false;
};

struct frame {
  enum class kind { top, group, index, object, interpolation, call, fold, condition, definition };
  kind what;
  dot base;  // value of `.` where the bracket begins
  dot now;
  std::size_t group;      // the stretch that contains all stretches of the frame
  std::size_t current;    // the stretch being read
  bool binding = false;   // after `as` or `label`: the next pipe leaves `.` alone
  bool folding = false;   // after `reduce` or `foreach`: the next `(` after `as` is its body
  bool key = false;       // in an object, where a key is expected
  bool assigned = false;  // right of an assignment operator
  dot before_assignment = dot::document;
  std::size_t last_path = npos;  // index into paths_
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);
};

}  // namespace fairlead::core
