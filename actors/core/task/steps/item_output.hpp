#pragma once
// What a step with `for_each` gives for one of its items, as the item's task says.

#include <optional>
#include <string>

#include "messages/task.pb.h"

namespace fairlead::core {

struct item_failure {
  std::string code;
  std::string message;
};

/// nullopt: the item's task is completed. null: there is no task of the item.
std::optional<item_failure> failure_of_item(const v1::TaskRecord* task);

/// JSON text. `output` is that of a completed item, and `null` otherwise; `collects` is as ForEachDefinition.collect.
std::string item_output(const std::string& output, const std::optional<item_failure>& failure, bool collects);

}  // namespace fairlead::core
