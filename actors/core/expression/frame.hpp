#pragma once
// What the check of an expression keeps for each bracket that is open. Only for check.cpp.

#include <cstddef>

namespace fairlead::core {

/// What `.` is at some place of the expression.
enum class dot {
  document,  // the whole document, for certain
  unknown,   // perhaps the document: inside arguments and definitions
  other      // a value behind a pipe, which is the document only if something before read everything
};

/// Paths belong to stretches of the expression between commas, pipes and brackets; a `//`, `?`, `try` or assignment excuses its whole
/// stretch, and all stretches inside brackets inside it, from being there.
struct stretch {
  std::size_t parent;
  bool excused = false;
};

struct frame {
  enum class kind { top, group, index, object, interpolation, call, fold, condition, definition };
  kind what;
  dot base;  // of `.` where it begins
  dot now;
  std::size_t group;      // the stretch all its stretches stand in
  std::size_t current;    // the stretch being read
  bool binding = false;   // after `as` or `label`: the next pipe leaves `.` alone
  bool folding = false;   // after `reduce` or `foreach`: the next `(` behind `as` is its body
  bool key = false;       // in an object, where a key is expected
  bool assigned = false;  // right of an assignment operator
  dot before_assignment = dot::document;
  std::size_t last_path = npos;  // index into paths_
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);
};

}  // namespace fairlead::core
