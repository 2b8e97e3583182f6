#pragma once
// What a parent is told of the task of a child, and what a step with `for_each` gives for one of its items.

#include <optional>
#include <string>

#include "actors/core/task/task.hpp"
#include "messages/task.pb.h"

namespace fairlead::core {

/// All but the output.
child_changed news_of(const v1::TaskRecord& child);

struct item_failure {
  std::string code;
  std::string message;
};

/// nullopt: the item's task is completed. null: there is no task of the item.
std::optional<item_failure> failure_of_item(const v1::TaskRecord* task);

/// JSON text. `output` is that of a completed item, and `null` otherwise; `collects` is as ForEachDefinition.collect.
std::string item_output(const std::string& output, const std::optional<item_failure>& failure, bool collects);

}  // namespace fairlead::core
