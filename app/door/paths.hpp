#pragma once
// Which of a table of paths a request means. Pure.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/door/problem.hpp"

namespace fairlead::app::door {

/// `/v1/tasks/{id}`: a segment in braces stands for any one segment that is not empty. Others are compared as they are.
struct path_pattern {
  std::string_view method;
  std::string_view path;
};

struct path_match {
  std::size_t index = 0;           // in the table
  std::vector<std::string> parts;  // what the segments in braces stand for, decoded
};

/// HEAD is taken for GET, and OPTIONS answered with the methods that the path has.
std::variant<path_match, problem, answer> find_path(const std::vector<path_pattern>& table, std::string_view method, std::string_view path);

}  // namespace fairlead::app::door
